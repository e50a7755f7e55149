//! Charge trapped by cycles, and healed by rest (READY: Lee et al., FAST 2012, section 2, Eq. 1 and 2).
//!
//! N cycles trap `dV_trap(N) = A_it N^0.62 + B_ot N^0.3` volts. While a block rests for t between two cycles, a share
//! `C_e ln(t / t0)` of that charge leaves the oxide. A block is worn out once the remaining charge reaches the limit.

/// Nominal cycles of the flash that these constants describe; the cycle axis of other flash is scaled in proportion.
pub const NOMINAL_CYCLES: f64 = 3000.0;

/// The recovery law of a flash. Its cycles are those of flash of [`NOMINAL_CYCLES`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recovery {
    /// `A_it`, volts at one cycle.
    pub interface_trap_v: f64,
    /// Exponent of the interface traps.
    pub interface_exponent: f64,
    /// `B_ot`, volts at one cycle.
    pub oxide_trap_v: f64,
    /// Exponent of the oxide traps.
    pub oxide_exponent: f64,
    /// Trapped volts at which a block is worn out.
    pub limit_v: f64,
    /// `C_e`: the share that heals for each factor e of idle time.
    pub recovery_efficiency: f64,
    /// `t0`: idle time up to which nothing heals, seconds.
    pub recovery_onset_s: f64,
    /// Largest share that heals. The law itself is unbounded: under [`READY_TABLE2`] it would heal everything in 2.25
    /// years of rest.
    pub healed_share_max: f64,
}

/// The constants as the paper prints them. Its own Table 2 does not follow from them.
pub const READY_PRINTED: Recovery = Recovery {
    interface_trap_v: 2.97e-3,
    interface_exponent: 0.62,
    oxide_trap_v: 2.0e-2,
    oxide_exponent: 0.3,
    limit_v: 0.65,
    recovery_efficiency: 5.63e-2,
    recovery_onset_s: 3600.0,
    healed_share_max: 0.6,
};

/// The same law with the `C_e` and `t0` that fit the nine distinct rows of Table 2; N' is within 0.31 %.
pub const READY_TABLE2: Recovery =
    Recovery { recovery_efficiency: 7.02e-2, recovery_onset_s: 46.1, ..READY_PRINTED };

impl Recovery {
    /// Returns the volts that `cycles` cycles trap (Eq. 1).
    #[must_use]
    pub fn trap_v(self, cycles: f64) -> f64 {
        self.interface_trap_v * libm::pow(cycles, self.interface_exponent)
            + self.oxide_trap_v * libm::pow(cycles, self.oxide_exponent)
    }

    /// Returns the share of the trapped charge that heals while a block rests `idle_s` seconds (Eq. 2); 0 up to the
    /// onset.
    #[must_use]
    pub fn healed_share(self, idle_s: f64) -> f64 {
        if idle_s <= self.recovery_onset_s {
            return 0.0;
        }
        let share = self.recovery_efficiency * libm::log(idle_s / self.recovery_onset_s);
        // Not NaN: an efficiency of 0 heals nothing in any time.
        if self.recovery_efficiency == 0.0 { 0.0 } else { share.min(self.healed_share_max) }
    }

    /// Solves for the cycles after which the charge that remains after `idle_s` seconds of rest reaches the limit. This
    /// is the root N of `trap(N) * (1 - healed(idle)) = limit`, exact to the rounding of `f64`.
    ///
    /// Newton's method for `ln trap` as a function of `u = ln N`, which rises and is convex (the logarithm of a sum of
    /// exponentials). Each term alone reaches the limit later than their sum does, so the start lies right of the root.
    /// From there every step approaches the root without passing it.
    #[must_use]
    pub fn cycles(self, idle_s: f64) -> f64 {
        let target = libm::log(self.limit_v / (1.0 - self.healed_share(idle_s)));
        let (a, p) = (libm::log(self.interface_trap_v), self.interface_exponent);
        let (b, q) = (libm::log(self.oxide_trap_v), self.oxide_exponent);
        // A term without charge has a logarithm of minus infinity and never reaches the limit.
        let mut u = ((target - a) / p).min((target - b) / q);
        for _ in 0..STEPS_MAX {
            let (x, y) = (a + p * u, b + q * u);
            let high = x.max(y);
            let (ex, ey) = (libm::exp(x - high), libm::exp(y - high));
            let step = (high + libm::log(ex + ey) - target) * (ex + ey) / (p * ex + q * ey);
            u -= step;
            if step.abs() <= 1e-15 * u.abs().max(1.0) {
                break;
            }
        }
        libm::exp(u)
    }
}

/// Maximum of Newton steps; the shipped constants need six.
const STEPS_MAX: usize = 64;
