//! Descriptions by the user: what they accept, how lines are read by them, and that all rows are read back.

use super::*;
use crate::open::tests::cases;
use crate::open_stream;
use crate::options::{OnBadLine, OpenOptions};
use floatgate_base::testing::Bound;
use floatgate_base::{RequestBatch, Rng};
use proptest::prelude::*;
use std::fmt::Write as _;

/// One request: time in ns, device by name, operation, offset, bytes, stream.
type Request = (i64, String, Op, u64, u64, u32);

/// Collects all requests, and the assumptions, or the error that stops the reader.
fn read_with(options: &OpenOptions, content: &str) -> (Vec<Request>, String) {
    let stream = Box::new(std::io::Cursor::new(content.as_bytes().to_vec()));
    let mut source = match open_stream(stream, "t", options) {
        Ok(source) => source,
        Err(error) => return (Vec::new(), error.to_string()),
    };
    let (mut batch, mut out, mut bound) = (RequestBatch::default(), Vec::new(), Bound::new(1_000_000));
    loop {
        bound.step();
        batch.clear();
        let result = source.fill(&mut batch, 7);
        for i in 0..batch.len() {
            let device = source.devices()[usize::from(batch.device[i])].clone();
            let stream = batch.stream.get(i).copied().unwrap_or(0);
            out.push((batch.time_ns[i], device, batch.op[i], batch.offset[i], batch.bytes[i], stream));
        }
        if let Err(error) = result {
            return (out, error.to_string());
        }
        if batch.is_empty() {
            let other = source.summary().other_records;
            return (out, format!("{} ({other} others)", source.assumed().join("; ")));
        }
    }
}

fn options(description: &str) -> OpenOptions {
    OpenOptions::default().with_columns(description).unwrap_or_else(|error| panic!("{description}: {error}"))
}

fn read(description: &str, content: &str) -> (Vec<Request>, String) {
    read_with(&options(description), content)
}

fn write(time_ns: i64, offset: u64, bytes: u64) -> Request {
    (time_ns, "0".into(), Op::Write, offset, bytes, 0)
}

#[test]
fn logs_of_many_kinds_are_read() {
    let two = [write(0, 4096, 512), (1_500_000, "0".into(), Op::Read, 8192, 1024, 0)];
    for (description, content) in [
        ("time:s op:RW offset:sectors size:bytes", "1.5 W 8 512\n1.5015 R 16 1024\n"),
        (
            "time:s op:RW offset:sectors size:bytes",
            "time,op,lba,size\n1.5,write,8,512\n1.5015,read,16,1024\n",
        ),
        ("time:us op:0=read,1=write offset:bytes size:sectors", "# us;op\n7;1;4096;1\n1507;0;8192;2\n"),
        ("size:512 offset:pages - op:RW time:filetime", "1|1|x|WS|0\n2|2|x|RA|15000\n"),
        ("time:ns event:Q op:rwbs offset:sectors size:sectors", "0 Q WS 8 1\n1 C WS 8 1\n1500000 Q R 16 2\n"),
        // A printf of bpftrace: brackets, names, hexadecimal, a colon behind the time.
        (
            "time:s op:RW offset:sectors size:bytes",
            "[0.000]: W sector=0x8 (512)\n[0.0015]: R sector=16 (1024)\n",
        ),
        // bpftrace says how many probes it attaches.
        ("time:ns op:rwbs offset:sectors size:sectors", "Attaching 1 probe...\n500 WS 8 1\n1500500 R 16 2\n"),
        // Quoted fields, in which the separator may occur.
        (
            "skip time:ms op:RW offset:bytes size:bytes",
            "\"a,b\",\"0\",\"W\",\"4096\",\"512\"\n'',1.5,R,8192,1024\n",
        ),
        (
            "time:iso op:RW offset:bytes size:bytes separator=tab header=1",
            "1 2 3\n2024-02-29 23:59:59.999\tW\t4096\t512\n2024-03-01T00:00:00.0005Z\tR\t8192\t1024\n",
        ),
        (
            "date time:clock op:RW offset:bytes size:bytes",
            "2024-02-29 23:59:59.999 W 4096 512\n2024-03-01 00:00:00.0005 R 8192 1024\n",
        ),
    ] {
        assert_eq!(read(description, content).0, two, "{description}: {}", read(description, content).1);
    }
}

#[test]
fn settings_hold_for_all_lines() {
    let (rows, assumed) = read("time:s offset:4096 op=write size=8192 comment=//", "// x\n0 1\n\n1 2\n");
    assert_eq!(rows, [write(0, 4096, 8192), write(1_000_000_000, 8192, 8192)]);
    let expected = "columns: time:s offset:pages comment=// op=write size=8192 separator=blanks (1 others)";
    assert_eq!(assumed, expected);
    // Without times all stamps are 0.
    assert_eq!(read("op:RW offset:bytes size:bytes", "W 0 1\nW 1 1\n").0, [write(0, 0, 1), write(0, 1, 1)]);
}

#[test]
fn devices_and_processes_keep_their_names() {
    let description = "process device time:s op:R=read,W=write,D=trim,*=skip offset:bytes size:bytes";
    let (rows, _) = read(description, "b sdb 0 W 0 1\na sda 1 F 0 1\na sda 2 D 4 1\nb sda 3 R 5 1\n");
    let expected = [
        (0, "sdb".to_owned(), Op::Write, 0, 1, 0),
        (2_000_000_000, "sda".to_owned(), Op::Trim, 4, 1, 1),
        (3_000_000_000, "sda".to_owned(), Op::Read, 5, 1, 0),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn a_bad_field_is_named_by_row_and_column() {
    let read = |content: &str| read("time:s op:RW offset:sectors size:bytes", content).1;
    let error = read("0,W,8,512\n1,W,x8,512\n");
    assert_eq!(error, "t:2:5: 'x8' cannot be column 3 (offset); expected sectors of 512 bytes");
    let error = read("0,W,8,512\n1,W,8\n");
    assert_eq!(error, "t:2:6: the line ends too early; expected the described columns");
    let error = read("0,W,8,512\n1,X,8,512\n");
    assert_eq!(error, "t:2:3: 'X' cannot be column 2 (op); expected a word that begins with R, W or D");
    assert_eq!(read("1e5x,W,8,512\n"), "t:1:1: '1e5x' cannot be column 1 (time); expected a time in s");
    let error = read("0 W 8\n1 W 8\n");
    assert!(error.starts_with("t: '0 W 8' does not have 4 columns; expected time:s op:RW"), "{error}");
    let error = self::read("time:s event:Q op:RW offset:bytes size:bytes", "0 C W 0 1\n").1;
    assert_eq!(error, "t: no request in 1 line; expected a row whose event is Q");
}

/// A heading is recognised by its fields, also where files were joined; another line of words is an error.
#[test]
fn headings_are_skipped_and_other_words_are_not() {
    let description = "time:s op:RW offset:bytes size:bytes";
    let (rows, assumed) = read(description, "t,op,at,len\n0,W,0,1\nt,op,at,len\n1,W,1,1\n");
    assert_eq!(rows.len(), 2);
    assert!(assumed.ends_with("separator=comma (2 others)"), "{assumed}");
    assert!(
        read(description, "t,op,at,len\n0,W,0,1\nx,y,z,u\n").1.starts_with("t:3:1: 'x' cannot be column 1")
    );
    assert!(
        read("time:s op:RW offset:bytes size:bytes header=0", "t,op,at,len\n")
            .1
            .starts_with("t:1:1: 't' can")
    );
    // Nothing but words: no row.
    assert!(read(description, &"a,b,c,d\n".repeat(16)).1.starts_with("t: no request in 16 lines"));
    let different: String = (0..20).map(|i| format!("a{i},b,c,d\n")).collect();
    assert!(read(description, &different).1.starts_with("t:17:1: 'a16' cannot be column 1"));
}

#[test]
fn unusable_descriptions_are_refused_with_a_remedy() {
    for (description, expected) in [
        ("", "no column is the offset; expected all of them, as in --columns \"time:s op:RW"),
        ("tmie:s", "'tmie' is not a column; did you mean 'time'?"),
        ("time op:RW", "column 1, 'time', has no unit; expected one such as time:s"),
        ("time:h", "'h' is not a unit of time; "),
        (
            "offset:furlongs",
            "'furlongs' is not a unit of addresses or sizes; expected bytes, sectors, KiB, pages, MiB or",
        ),
        ("offset:0", "'0' is not a unit of addresses or sizes"),
        (
            "offset:bytes size:bytes",
            "no column is the operation; expected op:RW or a setting such as op=write",
        ),
        ("op:RW offset:bytes", "no column is the size; expected size:bytes or a setting such as size=4096"),
        ("op:RW op:RW offset:bytes size:bytes", "two columns have the same meaning; expected skip for"),
        ("op:RW offset:bytes size:bytes size=1", "a column and a setting have the same meaning"),
        ("op:RW offset:bytes size:bytes date", "date and time:clock belong together"),
        (
            "op:a,b offset:bytes size:bytes",
            "op:'a,b' has no operation for a word; expected op:RW, op:rwbs, or",
        ),
        ("op:a=raed offset:bytes", "'raed' is not an operation; did you mean 'read'?"),
        (
            "op:*=skip,a=read offset:bytes",
            "op:'*=skip,a=read': 'a=read' can never match; expected each word once",
        ),
        ("device:x", "column 1, 'device:x', has no units; expected device"),
        ("event", "event has no word; expected one such as event:Q"),
        (
            "separator=xy",
            "separator='xy' cannot separate columns; expected comma, semicolon, tab, bar, blanks or",
        ),
        ("header=x", "header='x' is not a number of lines; expected a whole number, such as header=1"),
        ("size=0", "size='0' is not a size in bytes; expected a whole number from 1, such as size=4096"),
        ("op=reed", "'reed' is not an operation; did you mean 'read'?"),
        ("colour=red", "'colour' is not a setting of columns; expected one of 'separator', 'header'"),
    ] {
        let error = OpenOptions::default().with_columns(description).unwrap_err().to_string();
        assert!(error.starts_with(&format!("--columns: {expected}")), "{description}: {error}");
    }
    let msr = OpenOptions::parse(Some("msr"), None, None, None, None).unwrap();
    let error = msr.with_columns("time:s").unwrap_err().to_string();
    assert_eq!(error, "--columns: the format is msr and the columns are described; expected one of the two");
}

#[test]
fn a_file_says_the_same_as_a_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logger.toml").to_str().unwrap().to_owned();
    let load = |text: &str| {
        std::fs::write(&path, text).unwrap();
        UserColumns::load(&path)
    };
    let text = "time:s op:0=read,1=write offset:sectors separator=comma header=2 comment=% size=4096";
    let toml = "separator = \"comma\"\ncomment = \"%\"\nheader = 2\nsize = 4096\n\
                columns = [\"time:s\", \"op:0=read,1=write\", \"offset:sectors\"]\n";
    assert!(std::ptr::eq(load(toml).unwrap(), UserColumns::load(text).unwrap()));
    assert_eq!(
        load("columns = \"op:RW offset:bytes size:bytes\"").unwrap().text(),
        "op:RW offset:bytes size:bytes"
    );
    for (toml, expected) in [
        ("columns = 3", ": columns = 3 is not a text; expected a text"),
        ("columns = [3]", ": 3 is not a column; expected a text such as \"time:s\""),
        ("header = \"x\"", ": header = \"x\" is not a whole number; expected a whole number"),
        ("colums = \"\"", ": unknown key 'colums'; did you mean 'columns'?"),
        ("\ncolumns = \"", ":2: "),
        ("columns = \"time\"", ": column 1, 'time', has no unit; expected one such as time:s"),
    ] {
        let error = load(toml).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{path}{expected}")), "{toml}: {error}");
    }
    let missing = UserColumns::load("no-such.toml").unwrap_err().to_string();
    assert!(missing.starts_with("no-such.toml: "), "{missing}");
}

/// Writes random requests by random descriptions; `10^4` rows and more in all cases together.
#[test]
fn random_rows_are_read_back() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed, "columns");
        let mut pick = |n: u64| rng.below(n);
        let (unit, power) = [("ns", 1), ("us", 1000), ("ms", 1_000_000), ("filetime", 100)][pick(4) as usize];
        let lba = [1u64, 512, 4096, 1000][pick(4) as usize];
        let size = [1u64, 512, 4096][pick(3) as usize];
        let (name, mark) =
            [("comma", ","), ("tab", "\t"), ("blanks", "  "), ("bar", "|"), ("~", " ~ ")][pick(5) as usize];
        let mut order = ["time", "op", "offset", "size", "device", "skip"];
        for i in (1..order.len()).rev() {
            order.swap(i, pick(i as u64 + 1) as usize);
        }
        let describe = |column: &&str| match *column {
            "time" => format!("time:{unit}"),
            "op" => "op:a=read,b=write,c=trim".into(),
            "offset" => format!("offset:{lba}"),
            "size" => format!("size:{size}"),
            other => other.into(),
        };
        let mut description: Vec<String> = order.iter().map(describe).collect();
        description.push(format!("separator={name}"));
        let (mut content, mut expected, mut time) = (String::new(), Vec::new(), 0i64);
        for i in 0..60 {
            time += if i == 0 { 0 } else { pick(1_000_000) as i64 };
            let (op, at, len) = (pick(3) as usize, pick(1 << 30), 1 + pick(1 << 10));
            let device = ["sda", "nvme0n1"][pick(2) as usize];
            let quoted = pick(4) == 0;
            let field = |column: &&str| {
                let text = match *column {
                    "time" => time.to_string(),
                    "op" => ["a", "b", "c"][op].into(),
                    "offset" => at.to_string(),
                    "size" => len.to_string(),
                    "device" => device.into(),
                    _ => "anything".into(),
                };
                if quoted { format!("\"{text}\"") } else { text }
            };
            let fields: Vec<String> = order.iter().map(field).collect();
            writeln!(content, "{}", fields.join(mark)).unwrap();
            let op = [Op::Read, Op::Write, Op::Trim][op];
            expected.push((time * power, device.to_owned(), op, at * lba, len * size, 0));
        }
        let (rows, assumed) = read(&description.join(" "), &content);
        assert_eq!(rows, expected, "seed {seed}: {assumed}\n{content}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    /// Damaged lines and any description: no panic, a message or rows that are in range.
    #[test]
    fn damage_is_survived(
        words in prop::collection::vec(prop::sample::select(vec![
            "time:s", "time:iso", "time:clock", "date", "op:RW", "op:rwbs", "op:0=read,*=write", "offset:sectors", "size:bytes",
            "device", "process", "event:Q", "skip", "separator=comma", "separator==", "header=2", "comment=", "op=trim", "size=9",
        ]), 1..8),
        fields in prop::collection::vec(prop::sample::select(vec![
            "0", "1.5", "-1", "W", "R", "\"", "'a b'", "=", "x=1", "[", "]:", "2024-01-01", "10:00:00", "\n", "\n", "é",
            "18446744073709551615", "99999999999999999999", "0x", "0xfffffffffffffffff", "#",
        ]), 0..40),
        mark in prop::sample::select(vec![",", " ", "\t", ";", ""]),
        skip in any::<bool>(),
    ) {
        let Ok(mut options) = OpenOptions::default().with_columns(&words.join(" ")) else { return Ok(()) };
        options.on_bad_line = if skip { OnBadLine::Skip } else { OnBadLine::Stop };
        for (_, _, _, offset, bytes, _) in read_with(&options, &fields.join(mark)).0 {
            prop_assert!(bytes > 0 && offset.checked_add(bytes).is_some());
        }
        // The canonical text means the same.
        let columns = options.columns.unwrap();
        prop_assert!(std::ptr::eq(UserColumns::load(columns.text()).unwrap(), columns));
    }
}
