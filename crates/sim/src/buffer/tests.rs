//! The optional columns of pages in the buffer.

use super::*;
use floatgate_base::{Content, Hints, Op, RequestBatch, Rng};
use floatgate_host::{Beyond, Devices, Placement, QueueSetup, Queues, Request, Splitter};
use floatgate_snapshot::{Kind as File, Reader, Writer};
use serde::de::DeserializeOwned;

const CONFIG: BufferConfig = BufferConfig {
    pages: 7,
    page_bytes: 4096,
    logical_pages: 30,
    read_cache: true,
    watermarks: Some((5, 3)),
    aware: None,
};

/// Serializes and deserializes a value.
fn restored<T: DeserializeOwned>(saved: &impl Serialize) -> T {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, File::Run, 1).unwrap();
    writer.state("state", saved).unwrap();
    writer.finish().unwrap();
    Reader::new("f.snapshot", &bytes[..], File::Run, 1).unwrap().state("state").unwrap()
}

fn draw(rng: &mut Rng) -> RequestBatch {
    let mut batch = RequestBatch::default();
    let op = [Op::Read, Op::Write, Op::Write, Op::Write, Op::Trim][rng.below(5) as usize];
    let grain = [512, 4096][rng.below(2) as usize];
    let start = grain * rng.below(30 * 4096 / grain);
    let bytes = (grain * (1 + rng.below(4 * 4096 / grain))).min(30 * 4096 - start);
    batch.push(0, 0, op, start, bytes);
    batch.context.push(1 + rng.below(100) as u32);
    batch.stream.push(rng.below(100) as u32);
    (0..bytes.div_ceil(4096)).for_each(|_| batch.content.push(rng.below(50), rng.below(4097) as u16));
    batch.content.close();
    batch
}

#[test]
fn a_page_leaves_with_the_columns_of_its_last_write() {
    for bits in 0..1 << Wanted::COLUMNS {
        let wanted = Wanted { edges: true, ..Wanted::from_bits(bits) };
        let placement = Placement::new(4096, 30, Beyond::Refuse, Devices::Apart, &[]);
        let mut splitter = Splitter::new(placement, 4096).with_columns(wanted);
        let mut buffered = Buffered::new(CONFIG, 0, wanted);
        let mut queues = Queues::new(QueueSetup::default());
        let mut last = vec![(Hints::default(), Content::default()); 30];
        let (mut rng, mut flushed, mut known) = (Rng::new(bits.into(), "buffered columns"), 0, 0);
        for number in 1..=2000 {
            let batch = draw(&mut rng);
            let (mut split, mut extents) = (Extents::default(), Extents::default());
            splitter.split(&batch, 0..1, &mut split, &mut Vec::new()).unwrap();
            // The request waits while the run is interrupted.
            let request = Request {
                number,
                index: number - 1,
                stamp_ns: 0,
                arrival_ns: 0,
                entry_ns: 0,
                op: batch.op[0],
                flags: 0,
                device: 0,
                offset: batch.offset[0],
                bytes: batch.bytes[0],
                queue: 0,
            };
            queues.join(request, &split, 0..split.len());
            if rng.below(20) == 0 {
                queues = restored(&queues);
                let fresh = Buffered::new(CONFIG, 0, wanted);
                let old = std::mem::replace(&mut buffered, fresh);
                assert!(buffered.restore(restored(&old.saved())));
            }
            queues.fetch(&mut extents).unwrap();
            for i in 0..extents.len() {
                if matches!(extents.kind[i], Kind::Write | Kind::WritePartial) {
                    for k in 0..extents.pages[i] {
                        let content = extents.columns.content.of(i).get(k as usize).copied();
                        last[(extents.lpn[i] + k).index()] =
                            (extents.hints_of(i), content.unwrap_or_default());
                    }
                }
            }
            buffered.flash.clear();
            buffered.keep_columns(&extents, 0..extents.len());
            buffered.buffer.request((&extents, 0..extents.len()), 0, |_| false, &mut buffered.steps);
            buffered.append_steps();
            let flash = &buffered.flash;
            assert!(wanted.any_of_pages() || flash.columns.is_empty());
            for i in 0..flash.len() {
                if matches!(flash.kind[i], Kind::Write | Kind::WritePartial) {
                    let content = flash.columns.content.of(i).first().copied().unwrap_or_default();
                    assert_eq!((flash.hints_of(i), content), last[flash.lpn[i].index()], "{wanted:?}");
                    (flushed, known) = (flushed + 1, known + u32::from(content != Content::default()));
                }
            }
        }
        assert!(flushed > 500, "{flushed} pages left");
        assert_eq!(known > flushed / 10, wanted.content, "{known} of {flushed} with content");
    }
}

#[test]
fn a_buffer_that_keeps_other_columns_is_refused() {
    let hints = Wanted { hints: true, ..Wanted::default() };
    let saved = Buffered::new(CONFIG, 0, hints);
    assert!(Buffered::new(CONFIG, 0, hints).restore(restored(&saved.saved())));
    assert!(!Buffered::new(CONFIG, 0, Wanted::default()).restore(restored(&saved.saved())));
    assert!(!Buffered::new(CONFIG, 0, Wanted { content: true, ..hints }).restore(restored(&saved.saved())));
}
