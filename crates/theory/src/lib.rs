//! Closed forms of write amplification under uniform random page writes, and the steady-state laws
//! of block validity that go with them.
//!
//! All forms describe the same drive. It has very many blocks of `b` pages and one open block that takes host writes
//! and copies alike. The host overwrites its live pages uniformly at random (with a rate per group of pages in
//! [`wa_fifo_skewed`]). The victim policy acts when the open block is full. The parameter of the drive is its spare
//! factor `S = (T - U) / T`, with `T` physical and `U` live pages, or `alpha = T / U = 1 / (1 - S)`. Free and open
//! blocks hold back pages from `T`: compare a simulation at the ratio of *closed* pages to the live pages in them.
//!
//! | policy | write amplification | file |
//! |---|---|---|
//! | FIFO | `alpha / (alpha + W0(-alpha e^-alpha))`, also with groups of pages of unlike heat | [`fifo`] |
//! | FIFO, a log for each group | least of `sum w / (1 - e^-x)` over all splits of the spare space | [`separated`] |
//! | random | `1 / S` | [`random`] |
//! | greedy | mean field, a sum of harmonic terms | [`greedy`] |
//! | d-choices | mean field, tails of the valid count | [`choices`] |
//!
//! Time is counted in page lifetimes: a live page dies at rate 1, and a closed drive of `U` live pages takes `U` host
//! writes per unit of time. Functions are pure and repeat bit for bit on every machine.
//!
//! Must not know: the engine, traces, configuration.
//!
//! It is a separate crate because preconditioning needs the laws that the engine is tested against.

pub mod choices;
pub mod error;
pub mod fifo;
pub mod greedy;
pub mod lambert;
pub mod law;
pub mod policy;
pub mod random;
pub mod separated;
pub mod spare;

pub use choices::wa_d_choices;
pub use error::{Error, Result};
pub use fifo::{FifoLog, wa_fifo, wa_fifo_skewed};
pub use greedy::wa_greedy;
pub use lambert::lambert_w0;
pub use law::ValidityLaw;
pub use policy::{Policy, wa};
pub use random::{random_turnover, wa_random};
pub use separated::{Separated, wa_fifo_separated};
pub use spare::{PAGES_PER_BLOCK_MAX, SPARE_MARGIN, alpha_of_spare, alpha_with_trim, spare_of_alpha};
