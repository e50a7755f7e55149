//! Arrivals of a twin: a number of requests for each window, from the daily cycle (or a profile) and seeded noise,
//! placed inside the window in bursts. The numbers of all windows add up to the number of requests, which makes the
//! span exact.

use super::super::clock::exponential;
use super::statistics::Twin;
use floatgate_base::Rng;
use std::f64::consts::TAU;

const DAY_S: f64 = 86_400.0;
/// Autocorrelation of the noise from window to window: high demand tends to last.
const MEMORY: f64 = 0.5;
/// A gap inside a burst, in units of the mean gap between bursts.
const SHORT: f64 = 0.0002;

pub(super) struct Arrivals {
    /// Share of the requests that has arrived by the end of each window.
    until: Vec<f64>,
    window_ns: f64,
    duration_ns: f64,
    requests: u64,
    burst: f64,
    rng: Rng,
    window: usize,
    /// Stamps of the current window, and the next of them.
    stamps: Vec<i64>,
    at: usize,
    start_ns: i64,
}

impl Arrivals {
    pub fn new(twin: &Twin, seed: u64) -> Self {
        let rate = &twin.rate;
        let duration_ns = twin.duration_s * 1e9;
        // Fine enough to show a profile's parts as well.
        let by_noise = (twin.duration_s / rate.noise_window_s).ceil();
        let windows = by_noise.max(rate.profile.len() as f64).max(1.0) as usize;
        let mut noise = Rng::new(seed, "twin rate");
        let mut state = 0.0;
        let mut sum = 0.0;
        let mut until = Vec::with_capacity(windows);
        for window in 0..windows {
            let middle = (window as f64 + 0.5) / windows as f64;
            let cycle = match rate.profile.len() {
                0 => {
                    let hours = middle * twin.duration_s / 3600.0;
                    1.0 + rate.daily_swing * libm::cos(TAU * (hours - rate.peak_hour) / (DAY_S / 3600.0))
                }
                n => rate.profile[((middle * n as f64) as usize).min(n - 1)],
            };
            state = MEMORY * state + (1.0 - MEMORY * MEMORY).sqrt() * normal(&mut noise);
            sum += cycle.max(0.0) * libm::exp(rate.noise * state);
            until.push(sum);
        }
        until.iter_mut().for_each(|u| *u /= sum);
        Self {
            until,
            window_ns: duration_ns / windows as f64,
            duration_ns,
            requests: twin.requests,
            burst: rate.burst_requests,
            rng: Rng::new(seed, "twin bursts"),
            window: 0,
            stamps: Vec::new(),
            at: 0,
            start_ns: 0,
        }
    }

    /// Restarts after a pass.
    pub fn next_pass(&mut self) {
        self.start_ns = self.start_ns.saturating_add(self.duration_ns as i64);
        self.window = 0;
    }

    /// Appends the stamps of the next `n` requests of this pass, which must have that many left.
    pub fn fill(&mut self, times: &mut Vec<i64>, mut n: usize) {
        while n > 0 {
            let ready = (self.stamps.len() - self.at).min(n);
            times.extend_from_slice(&self.stamps[self.at..self.at + ready]);
            self.at += ready;
            n -= ready;
            if n > 0 {
                self.next_window();
            }
        }
    }

    fn next_window(&mut self) {
        let done = |share: f64| (share * self.requests as f64).round() as u64;
        let before = if self.window == 0 { 0 } else { done(self.until[self.window - 1]) };
        let last = self.window + 1 == self.until.len();
        let by_end = if last { self.requests } else { done(self.until[self.window]) };
        let count = (by_end - before) as usize;
        self.stamps.clear();
        self.at = 0;
        let mut gaps = Vec::with_capacity(count);
        let mut sum = 0.0;
        for _ in 0..count {
            let jump = self.burst <= 1.0 || self.rng.unit() * self.burst < 1.0;
            sum += if jump { exponential(&mut self.rng, 1.0) } else { SHORT };
            gaps.push(sum);
        }
        // The last gap of the window holds no request, except at the end of the span, where the last request lies.
        sum += if last { 0.0 } else { exponential(&mut self.rng, 1.0) };
        let scale = if sum > 0.0 { self.window_ns / sum } else { 0.0 };
        let from = self.window as f64 * self.window_ns;
        let start = self.start_ns;
        self.stamps.extend(gaps.iter().map(|gap| start.saturating_add((from + gap * scale) as i64)));
        self.window += 1;
    }
}

/// Draws from the standard normal law (Box and Muller; one of the pair is discarded).
fn normal(rng: &mut Rng) -> f64 {
    let radius = exponential(rng, 2.0).sqrt();
    radius * libm::cos(TAU * rng.unit())
}
