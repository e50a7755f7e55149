//! The handshake: a client chooses an export, or asks what there is.

use super::export::Export;
use super::protocol::{BLOCK_PREFERRED, TRANSFER_MAX, TRANSMISSION_FLAGS};
use std::io::{self, Read, Write};

const GREETING: &[u8; 18] = b"NBDMAGICIHAVEOPT\0\x03";
const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
const REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// Longest data of an option: a name of 4096 bytes, with room for a list of what the client wants to know.
const OPTION_MAX: u32 = 8 << 10;
/// Options per handshake: one that never ends would hold a connection.
const OPTIONS_MAX: u32 = 64;

/// Flags of the client: fixed newstyle, no zeroes after an export's size.
const CLIENT_FIXED: u32 = 1;
const CLIENT_NO_ZEROES: u32 = 2;

const OPT_EXPORT_NAME: u32 = 1;
const OPT_ABORT: u32 = 2;
const OPT_LIST: u32 = 3;
const OPT_INFO: u32 = 6;
const OPT_GO: u32 = 7;

const REP_ACK: u32 = 1;
const REP_SERVER: u32 = 2;
const REP_INFO: u32 = 3;
const REP_UNSUPPORTED: u32 = 1 << 31 | 1;
const REP_INVALID: u32 = 1 << 31 | 3;
const REP_UNKNOWN: u32 = 1 << 31 | 6;
const REP_TOO_BIG: u32 = 1 << 31 | 9;

const INFO_EXPORT: u16 = 0;
const INFO_BLOCK_SIZE: u16 = 3;

/// Returns the number of the export that the client chooses in the handshake; none if it leaves.
///
/// # Errors
/// The connection breaks, or the client does not speak the protocol.
pub(super) fn shake<C: Read + Write>(client: &mut C, exports: &[Export]) -> io::Result<Option<usize>> {
    client.write_all(GREETING)?;
    let client_flags = u32::from_be_bytes(take(client)?);
    if client_flags & CLIENT_FIXED == 0 || client_flags & !(CLIENT_FIXED | CLIENT_NO_ZEROES) != 0 {
        return Err(bad("the client's flags are not those of fixed newstyle"));
    }
    for _ in 0..OPTIONS_MAX {
        if u64::from_be_bytes(take(client)?) != OPTION_MAGIC {
            return Err(bad("no option where one must be"));
        }
        let option = u32::from_be_bytes(take(client)?);
        let len = u32::from_be_bytes(take(client)?);
        if len > OPTION_MAX {
            if option == OPT_EXPORT_NAME {
                return Err(bad("the name of an export is too long"));
            }
            io::copy(&mut client.take(u64::from(len)), &mut io::sink())?;
            reply(client, option, REP_TOO_BIG, &[])?;
            continue;
        }
        let mut data = vec![0; len as usize];
        client.read_exact(&mut data)?;
        match option {
            OPT_EXPORT_NAME => {
                // The protocol has no reply for an unknown name but the end of the connection.
                let Some(number) = find(exports, &data) else { return Err(bad("no export of this name")) };
                client.write_all(&exports[number].bytes.to_be_bytes())?;
                client.write_all(&TRANSMISSION_FLAGS.to_be_bytes())?;
                if client_flags & CLIENT_NO_ZEROES == 0 {
                    client.write_all(&[0; 124])?;
                }
                return Ok(Some(number));
            }
            OPT_ABORT => {
                reply(client, option, REP_ACK, &[])?;
                return Ok(None);
            }
            OPT_LIST if !data.is_empty() => reply(client, option, REP_INVALID, &[])?,
            OPT_LIST => {
                for export in exports {
                    let name = export.name.as_bytes();
                    let mut item = (name.len() as u32).to_be_bytes().to_vec();
                    item.extend(name);
                    reply(client, option, REP_SERVER, &item)?;
                }
                reply(client, option, REP_ACK, &[])?;
            }
            OPT_INFO | OPT_GO => match requested_name(&data).map(|name| find(exports, name)) {
                None => reply(client, option, REP_INVALID, &[])?,
                Some(None) => reply(client, option, REP_UNKNOWN, &[])?,
                Some(Some(number)) => {
                    inform(client, option, &exports[number])?;
                    if option == OPT_GO {
                        return Ok(Some(number));
                    }
                }
            },
            _ => reply(client, option, REP_UNSUPPORTED, &[])?,
        }
    }
    Err(bad("too many options"))
}

fn inform(client: &mut impl Write, option: u32, export: &Export) -> io::Result<()> {
    let mut info = INFO_EXPORT.to_be_bytes().to_vec();
    info.extend(export.bytes.to_be_bytes());
    info.extend(TRANSMISSION_FLAGS.to_be_bytes());
    reply(client, option, REP_INFO, &info)?;
    let mut sizes = INFO_BLOCK_SIZE.to_be_bytes().to_vec();
    for size in [1, BLOCK_PREFERRED, TRANSFER_MAX] {
        sizes.extend(size.to_be_bytes());
    }
    reply(client, option, REP_INFO, &sizes)?;
    reply(client, option, REP_ACK, &[])
}

/// Returns the name in the data of INFO and GO: its length, the name, the number of requests for information, these.
fn requested_name(data: &[u8]) -> Option<&[u8]> {
    let (len, rest) = data.split_first_chunk::<4>()?;
    let (name, rest) = rest.split_at_checked(u32::from_be_bytes(*len) as usize)?;
    let (count, rest) = rest.split_first_chunk::<2>()?;
    (rest.len() == 2 * usize::from(u16::from_be_bytes(*count))).then_some(name)
}

/// Returns the number of the export of this name; the empty name stands for the first one.
fn find(exports: &[Export], name: &[u8]) -> Option<usize> {
    if name.is_empty() {
        return Some(0);
    }
    exports.iter().position(|export| export.name.as_bytes() == name)
}

fn reply(client: &mut impl Write, option: u32, kind: u32, data: &[u8]) -> io::Result<()> {
    let mut bytes = REPLY_MAGIC.to_be_bytes().to_vec();
    bytes.extend(option.to_be_bytes());
    bytes.extend(kind.to_be_bytes());
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(data);
    client.write_all(&bytes)
}

fn take<const N: usize>(client: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    client.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
