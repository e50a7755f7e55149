//! Error of a positive metric that was measured several times.

use crate::student_t_975;

/// The 97.5 % points of Student's t at one to four degrees of freedom, where the expansion is too coarse.
const T_975: [f64; 4] = [12.7062, 4.3027, 3.1824, 2.7764];

/// Returns the factor by which a metric may be off on either side (95 %), from its values in several replications.
///
/// The mean of their logarithms has an error of Student's t times their standard deviation over the root of their
/// number (Law, Simulation Modeling and Analysis, section 9.4). Latencies are positive and skewed, hence the
/// logarithms; values below 1 count as 1.
///
/// # Panics
/// With fewer than two values.
#[must_use]
pub fn replication_factor(values: &[f64]) -> f64 {
    assert!(values.len() >= 2, "an error needs two values");
    let n = values.len() as f64;
    let logs: Vec<f64> = values.iter().map(|&value| libm::log(value.max(1.0))).collect();
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    let t = T_975.get(values.len() - 2).copied().unwrap_or_else(|| student_t_975(n - 1.0));
    libm::exp(t * (variance / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Logarithms with a standard deviation of ln 2; t = 4.303 at two degrees and 2.776 at four.
    #[test]
    fn the_factor_is_that_of_the_textbook() {
        let three = replication_factor(&[1e6, 2e6, 4e6]);
        assert!((three / libm::pow(2.0, 4.303 / 3f64.sqrt()) - 1.0).abs() < 1e-3, "{three}");
        let five = replication_factor(&[1e6, 1e6, 2e6, 4e6, 4e6]);
        assert!((five / libm::pow(2.0, 2.776 / 5f64.sqrt()) - 1.0).abs() < 1e-3, "{five}");
        assert!((replication_factor(&[5e5; 5]) - 1.0).abs() < 1e-12);
    }
}
