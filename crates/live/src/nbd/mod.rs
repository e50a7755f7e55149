//! A server of the Network Block Device protocol on a Unix socket: fixed newstyle handshake, simple replies, flush, FUA,
//! TRIM, write zeroes, several connections (the protocol's doc/proto.md).

mod export;
mod handshake;
mod protocol;
mod requests;
mod server;
mod shared;

pub use export::Export;
pub use server::{Server, Settings};
