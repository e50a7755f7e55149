//! Prints how many requests the readers parse per second of CPU time, of FILE or of a generated MSR CSV and
//! oracleGeneral file, and the speed of the generators:
//! `cargo run --release -p floatgate-trace --example parse_speed [FILE]`.

use floatgate_base::{RequestBatch, Rng};
use floatgate_trace::{Generator, GeneratorConfig, OpenOptions, Pattern, Source, info, open};
use std::fmt::Write as _;

/// Returns the CPU seconds of this process, user and system, as counted by the kernel.
fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e9
}

/// Generates an MSR trace that resembles a busy volume.
fn msr_lines(lines: usize) -> String {
    let mut rng = Rng::new(1, "parse_speed");
    let mut ticks = 128_166_372_003_061_629u64;
    let mut text = String::with_capacity(lines * 60);
    for _ in 0..lines {
        ticks += rng.below(100_000);
        let kind = if rng.below(3) == 0 { "Read" } else { "Write" };
        let (offset, bytes) = (rng.below(1 << 27) * 512, (1 + rng.below(16)) * 4096);
        let response = rng.below(100_000);
        writeln!(text, "{ticks},prxy,0,{kind},{offset},{bytes},{response}").unwrap_or_default();
    }
    text
}

/// Generates binary records of 24 bytes.
fn oracle_records(records: u32) -> Vec<u8> {
    let mut rng = Rng::new(1, "parse_speed");
    let mut out = Vec::with_capacity(records as usize * 24);
    for i in 0..records {
        out.extend((i / 1000).to_le_bytes());
        out.extend(rng.below(1 << 27).to_le_bytes());
        out.extend(4096u32.to_le_bytes());
        out.extend((-1i64).to_le_bytes());
    }
    out
}

fn drain(source: &mut dyn Source, batch: &mut RequestBatch) -> u64 {
    let mut n = 0;
    loop {
        batch.clear();
        if let Err(e) = source.fill(batch, RequestBatch::DEFAULT_LEN) {
            eprintln!("error: {e}");
            std::process::exit(i32::from(e.status()));
        }
        if batch.is_empty() {
            return n;
        }
        n += batch.len() as u64;
    }
}

fn read_thrice(path: &str, batch: &mut RequestBatch) -> floatgate_base::Result<()> {
    let mut source = open(path, &OpenOptions::default())?;
    for pass in ["first pass (with hash)", "second pass", "third pass"] {
        let start = cpu_s();
        let n = drain(&mut *source, batch);
        println!("{:24} {:7.2} M requests per CPU-second", pass, n as f64 / (cpu_s() - start) / 1e6);
        source.rewind()?;
    }
    Ok(())
}

fn main() -> floatgate_base::Result<()> {
    let file = std::env::args().nth(1);
    let temporary = std::env::temp_dir().join(format!("parse_speed.{}.csv", std::process::id()));
    let path = match &file {
        Some(path) => path.clone(),
        None => {
            std::fs::write(&temporary, msr_lines(4_000_000)).expect("temporary file");
            temporary.to_string_lossy().into_owned()
        }
    };
    let mut batch = RequestBatch::with_capacity(RequestBatch::DEFAULT_LEN);
    read_thrice(&path, &mut batch)?;
    let start = cpu_s();
    let n = info(&mut *open(&path, &OpenOptions::default())?)?.requests;
    println!("{:24} {:7.2} M requests per CPU-second", "info", n as f64 / (cpu_s() - start) / 1e6);
    for (name, pattern) in Pattern::NAMES {
        let (requests, logical_bytes) = (50_000_000, 128 << 30);
        let config = GeneratorConfig { pattern: *pattern, requests, logical_bytes, ..Default::default() };
        let mut generator = Generator::new(config)?;
        let start = cpu_s();
        drain(&mut generator, &mut batch);
        println!("{name:24} {:7.2} M requests per CPU-second", requests as f64 / (cpu_s() - start) / 1e6);
    }
    if file.is_none() {
        std::fs::write(&temporary, oracle_records(4_000_000)).expect("temporary file");
        println!("oracle-general:");
        read_thrice(&path, &mut batch)?;
        std::fs::remove_file(temporary).ok();
    }
    Ok(())
}
