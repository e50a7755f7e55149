//! A server of the Network Block Device protocol: fixed newstyle handshake, simple replies, flush, FUA,
//! TRIM, write zeroes, several connections (the protocol's doc/proto.md).

mod export;
mod handshake;
mod output;
mod pace;
mod protocol;
mod requests;
mod server;
mod shared;
mod socket;

pub use export::Export;
pub use pace::Completions;
pub use server::{Places, PowerCut, Served, Server, Settings};
