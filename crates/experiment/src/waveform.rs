//! The Ready/Busy pins of a timed run as the capture of a logic analyser, with the true counts for comparison.

use floatgate_base::{Error, Place, Result};
use floatgate_capture::{Format, WaveWriter};
use floatgate_flash::timed::ArrayPhase;
use floatgate_sim::{PinCounts, PinSink, PinWindow, Plan};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Time from the end of a command to the falling edge of the pin (ONFI, maximum of tWB). It separates two commands into
/// two low phases, even if the model has no gap between them.
const FALL_NS: u64 = 100;
/// Time for which a capture continues after the last operation, to show its end to sampling tools.
const TAIL_NS: u64 = 1_000_000;
const BUFFER_BYTES: usize = 1 << 20;

/// The capture that a run writes.
#[derive(Clone, Debug)]
pub struct Waveform {
    /// The file.
    pub path: PathBuf,
    /// [`Format::Vcd`] or [`Format::Csv`].
    pub format: Format,
    /// The recorded pins and the time window.
    pub window: PinWindow,
}

/// A pin between two hand-outs.
#[derive(Clone, Debug, Default)]
struct Pin {
    die: u32,
    /// Pending low phases: from, to.
    lows: VecDeque<(u64, u64)>,
    /// Phases within the window that read, program, erase.
    works: [u64; 3],
    /// Phases hidden by another one: the pin was already low.
    hidden: u64,
}

/// Counts of a finished capture, for the result.
#[derive(Clone, Debug, Default)]
struct Written {
    works: [u64; 3],
    hidden: u64,
    lows: u64,
    end_ns: u64,
    counted: PinCounts,
}

/// Writes the capture during the run.
pub(crate) struct Pins {
    waveform: Waveform,
    part: PathBuf,
    writer: Option<WaveWriter<BufWriter<File>>>,
    pins: Vec<Pin>,
    /// Whether each pin is low, as of the edges handed out.
    low: Vec<bool>,
    /// Levels at the beginning of the window; whether it has begun.
    at_start: Vec<bool>,
    begun: bool,
    lows: u64,
    edges: Vec<(u64, usize, bool)>,
    written: Arc<Mutex<Written>>,
}

/// A capture after the end of its run.
pub(crate) struct Finished(Waveform, Arc<Mutex<Written>>);

impl Pins {
    /// Begins a capture of a run of `plan`; the counts are available at the end of the run.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn new(plan: &Plan, waveform: Waveform) -> Result<(Self, Finished)> {
        let dies = match waveform.window.die {
            Some(die) => die..die.saturating_add(1),
            None => 0..plan.drive.geometry.dies(),
        };
        let mut name = waveform.path.file_name().unwrap_or_default().to_os_string();
        name.push(".part");
        let pins: Vec<Pin> = dies.map(|die| Pin { die, ..Pin::default() }).collect();
        let written = Arc::new(Mutex::new(Written::default()));
        let finished = Finished(waveform.clone(), written.clone());
        let mut pins = Self {
            part: waveform.path.with_file_name(name),
            waveform,
            writer: None,
            low: vec![false; pins.len()],
            at_start: vec![false; pins.len()],
            pins,
            begun: false,
            lows: 0,
            edges: Vec::new(),
            written,
        };
        pins.restart()?;
        Ok((pins, finished))
    }

    fn unwritable(&self, e: &std::io::Error) -> Box<Error> {
        let what = format!("{}: the waveform cannot be written ({e})", self.waveform.path.display());
        Error::run(what, "expected free space, or another path")
    }

    /// Moves all edges before `known_ns` from the pins to the list.
    fn gather(&mut self, known_ns: u64) {
        self.edges.clear();
        for (number, pin) in self.pins.iter_mut().enumerate() {
            while let Some(&(from_ns, to_ns)) = pin.lows.front() {
                if !self.low[number] && from_ns < known_ns {
                    self.edges.push((from_ns, number, true));
                    self.low[number] = true;
                }
                if to_ns >= known_ns {
                    break;
                }
                self.edges.push((to_ns, number, false));
                self.low[number] = false;
                pin.lows.pop_front();
            }
        }
        // The edges of each pin are in order: a sort that merges runs is faster than an unstable one.
        self.edges.sort();
    }

    /// Writes all edges before `known_ns`.
    fn write(&mut self, known_ns: u64) -> std::io::Result<()> {
        let PinWindow { from_ns, until_ns, .. } = self.waveform.window;
        self.gather(known_ns);
        let Some(writer) = &mut self.writer else { return Ok(()) };
        for &(time_ns, pin, low) in self.edges.iter().take_while(|(time_ns, ..)| *time_ns < until_ns) {
            if !self.begun {
                if time_ns < from_ns {
                    self.at_start[pin] = low;
                    continue;
                }
                writer.begin(from_ns, &self.at_start)?;
                self.begun = true;
            }
            self.lows += u64::from(low);
            writer.change(time_ns, pin, low)?;
        }
        Ok(())
    }

    /// Writes the remaining edges, and closes the file.
    fn close(&mut self, end_ns: u64) -> std::io::Result<()> {
        self.write(u64::MAX)?;
        let Some(mut writer) = self.writer.take() else { return Ok(()) };
        if !self.begun {
            writer.begin(self.waveform.window.from_ns, &self.at_start)?;
        }
        drop(writer.end(end_ns)?);
        std::fs::rename(&self.part, &self.waveform.path)
    }
}

impl PinSink for Pins {
    fn take(&mut self, phases: &[ArrayPhase], known_ns: u64) -> Result<()> {
        let PinWindow { from_ns, until_ns, .. } = self.waveform.window;
        let first = self.pins.first().map_or(0, |pin| pin.die);
        for phase in phases {
            let pin = &mut self.pins[(phase.die - first) as usize];
            let (fall_ns, rise_ns) = (phase.from_ns + FALL_NS, phase.to_ns);
            let seen = fall_ns >= from_ns && rise_ns < until_ns;
            match pin.lows.back_mut() {
                _ if fall_ns >= rise_ns => pin.hidden += u64::from(seen),
                Some(last) if last.1 >= fall_ns => {
                    last.1 = last.1.max(rise_ns);
                    pin.hidden += u64::from(seen);
                }
                _ => {
                    pin.lows.push_back((fall_ns, rise_ns));
                    pin.works[phase.work as usize] += u64::from(seen);
                }
            }
        }
        self.write(known_ns).map_err(|e| self.unwritable(&e))
    }

    fn end(&mut self, end_ns: u64, counted: &PinCounts) -> Result<()> {
        let PinWindow { from_ns, until_ns, .. } = self.waveform.window;
        if from_ns > end_ns {
            let what = format!("the run ends {:.3} s after the first counted request", end_ns as f64 / 1e9);
            return Err(Error::input(Place::Setting("--from".into()), what, "expected an earlier beginning"));
        }
        let end_ns = end_ns.saturating_add(TAIL_NS).min(until_ns);
        self.close(end_ns).map_err(|e| self.unwritable(&e))?;
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        *written = Written { works: [0; 3], hidden: 0, lows: self.lows, end_ns, counted: *counted };
        for pin in &self.pins {
            written.hidden += pin.hidden;
            written.works.iter_mut().zip(pin.works).for_each(|(sum, own)| *sum += own);
        }
        Ok(())
    }

    fn restart(&mut self) -> Result<()> {
        let file = File::create(&self.part).map_err(|e| self.unwritable(&e))?;
        let writer = BufWriter::with_capacity(BUFFER_BYTES, file);
        let names = self.pins.iter().map(|pin| format!("rb{}", pin.die)).collect();
        self.writer = Some(WaveWriter::new(writer, self.waveform.format, names));
        for pin in &mut self.pins {
            *pin = Pin { die: pin.die, ..Pin::default() };
        }
        self.low.fill(false);
        self.at_start.fill(false);
        (self.begun, self.lows) = (false, 0);
        Ok(())
    }
}

impl Drop for Pins {
    fn drop(&mut self) {
        // A failed run leaves no partial file.
        if self.writer.take().is_some() {
            let _ = std::fs::remove_file(&self.part);
        }
    }
}

impl Finished {
    /// Builds the table `waveform` of the result.
    pub fn table(&self, plan: &Plan) -> Value {
        let Self(waveform, written) = self;
        let written = written.lock().unwrap_or_else(PoisonError::into_inner);
        let [reads, programs, erases] = written.works;
        let [flash_programs, flash_reads, flash_erases] = written.counted.flash;
        json!({
            "file": waveform.path.to_string_lossy(),
            "format": waveform.format.name(),
            "die": waveform.window.die,
            "from_s": waveform.window.from_ns as f64 / 1e9,
            "until_s": written.end_ns as f64 / 1e9,
            "low_phases": written.lows,
            "reads": reads,
            "programs": programs,
            "erases": erases,
            "hidden": written.hidden,
            "requests": written.counted.requests,
            "host_bytes": written.counted.host_bytes,
            "flash": { "programs": flash_programs, "reads": flash_reads, "erases": flash_erases },
            "shape": shape(plan),
        })
    }
}

/// Returns the shape of the drive as `rb measure` takes it.
pub(crate) fn shape(plan: &Plan) -> Value {
    let geometry = &plan.drive.geometry;
    json!({
        "channels": geometry.channels,
        "chips": geometry.chips_per_channel,
        "dies": geometry.dies_per_chip,
        "planes": geometry.planes_per_die,
        "page_bytes": plan.drive.flash_page_bytes(),
        "pages_per_block": plan.drive.flash_pages_per_block(),
    })
}
