//! Arrivals of a synthetic workload: none (all stamps 0), even, or in bursts.

use floatgate_base::Rng;

/// Alternating periods with and without requests, each of exponential length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// Mean length of a period with requests, seconds.
    pub on_s: f64,
    /// Mean length of a period without, seconds.
    pub off_s: f64,
}

pub(super) struct Clock {
    gap_ns: Option<f64>,
    burst: Option<Bursts>,
    made: u64,
}

/// State of bursts: requests arrive evenly by a clock that runs during bursts only, at the requested mean rate.
struct Bursts {
    burst: Burst,
    rng: Rng,
    /// End of the current burst by the clock that runs during bursts only.
    ends_ns: f64,
    /// Total silence so far.
    silent_ns: f64,
}

impl Clock {
    pub fn new(rate_per_s: Option<f64>, burst: Option<Burst>, seed: u64) -> Self {
        let mut gap_ns = rate_per_s.map(|rate| 1e9 / rate);
        let mut bursts = None;
        if let (Some(gap), Some(burst)) = (&mut gap_ns, burst) {
            *gap *= burst.on_s / (burst.on_s + burst.off_s);
            let mut rng = Rng::new(seed, "workload bursts");
            let ends_ns = exponential(&mut rng, burst.on_s * 1e9);
            bursts = Some(Bursts { burst, rng, ends_ns, silent_ns: 0.0 });
        }
        Self { gap_ns, burst: bursts, made: 0 }
    }

    /// Appends the stamps of the next `n` requests.
    pub fn fill(&mut self, times: &mut Vec<i64>, n: usize) {
        let numbers = self.made..self.made + n as u64;
        self.made = numbers.end;
        match (self.gap_ns, &mut self.burst) {
            (None, _) => times.resize(times.len() + n, 0),
            // Each stamp is computed from its number: errors do not accumulate.
            (Some(gap_ns), None) => times.extend(numbers.map(|i| (i as f64 * gap_ns) as i64)),
            (Some(gap_ns), Some(bursts)) => {
                times.extend(numbers.map(|i| bursts.wall_ns(i as f64 * gap_ns) as i64));
            }
        }
    }
}

impl Bursts {
    fn wall_ns(&mut self, busy_ns: f64) -> f64 {
        while busy_ns >= self.ends_ns {
            self.silent_ns += exponential(&mut self.rng, self.burst.off_s * 1e9);
            self.ends_ns += exponential(&mut self.rng, self.burst.on_s * 1e9);
        }
        busy_ns + self.silent_ns
    }
}

/// Draws a time with exponential distribution; `1 - unit` lies in (0, 1].
pub(super) fn exponential(rng: &mut Rng, mean: f64) -> f64 {
    -mean * libm::log(1.0 - rng.unit())
}
