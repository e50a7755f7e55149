//! How the maximum of reads depends on the voltage and time of a read: Fowler-Nordheim tunnelling (dissertation, Eq.
//! 2.1). Used to draw trends (Figure 6); the weights of modes come from measured chips.

/// `B / V_nominal` of the law. With this value 5 % more voltage costs 49 % of the reads, as section 3.1 states. The
/// equation could also be read as 1; then 5 % more voltage would cost 10 to 14 %.
pub const B_OVER_NOMINAL: f64 = 12.1;

/// Returns the reads that a block endures, as a share of those at the nominal voltage and read time. The charge that
/// tunnels in a read is `V^2 exp(-B / V)` times its duration; the reads are its inverse.
#[must_use]
pub fn reads_share(voltage_ratio: f64, time_ratio: f64) -> f64 {
    let current = voltage_ratio * voltage_ratio * libm::exp(B_OVER_NOMINAL * (1.0 - 1.0 / voltage_ratio));
    1.0 / (current * time_ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_the_text_follow() {
        assert!((reads_share(1.05, 1.0) - 0.51).abs() < 0.005);
        // A TLC read takes 60 % longer at 5 % more voltage; the paper prints 0.28.
        assert!((reads_share(1.05, 1.6) - 0.319).abs() < 0.005);
        assert_eq!(reads_share(1.0, 1.0), 1.0);
        assert!(reads_share(0.96, 1.0) > 1.0);
    }
}
