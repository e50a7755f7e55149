//! The transmission: requests of one connection, and their replies.

use super::export::Export;
use super::output::Sender;
use super::protocol::{TRANSFER_MAX, errno};
use super::shared::Shared;
use crate::drive::Request;
use floatgate_base::Op;
use floatgate_base::batch::flags;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};

const REQUEST_MAGIC: [u8; 4] = 0x2560_9513_u32.to_be_bytes();
const REPLY_MAGIC: [u8; 4] = 0x6744_6698_u32.to_be_bytes();
const REQUEST_BYTES: usize = 28;
/// Bytes of a connection's input buffer, and of replies that may gather.
const BUFFER_BYTES: usize = 1 << 17;
/// Memory that a connection keeps after a long transfer.
const KEPT_BYTES: usize = 1 << 20;

const READ: u16 = 0;
const WRITE: u16 = 1;
const DISCONNECT: u16 = 2;
const FLUSH: u16 = 3;
const TRIM: u16 = 4;
const WRITE_ZEROES: u16 = 6;

const FLAG_FUA: u16 = 1;
const FLAG_NO_HOLE: u16 = 2;

/// The head of a request.
#[derive(Clone, Copy, Debug)]
struct Head {
    flags: u16,
    kind: u16,
    cookie: [u8; 8],
    offset: u64,
    bytes: u32,
}

impl Head {
    fn of(bytes: &[u8; REQUEST_BYTES]) -> Option<Self> {
        let [m0, m1, m2, m3, f0, f1, k0, k1, cookie @ .., l0, l1, l2, l3] = *bytes;
        let [c0, c1, c2, c3, c4, c5, c6, c7, o0, o1, o2, o3, o4, o5, o6, o7] = cookie;
        ([m0, m1, m2, m3] == REQUEST_MAGIC).then_some(Self {
            flags: u16::from_be_bytes([f0, f1]),
            kind: u16::from_be_bytes([k0, k1]),
            cookie: [c0, c1, c2, c3, c4, c5, c6, c7],
            offset: u64::from_be_bytes([o0, o1, o2, o3, o4, o5, o6, o7]),
            bytes: u32::from_be_bytes([l0, l1, l2, l3]),
        })
    }

    /// Returns the flags that the command may carry.
    fn may_carry(&self) -> u16 {
        match self.kind {
            WRITE_ZEROES => FLAG_FUA | FLAG_NO_HOLE,
            WRITE | TRIM => FLAG_FUA,
            // Clients may set it on reads and flushes, where it means nothing.
            READ | FLUSH => FLAG_FUA,
            _ => 0,
        }
    }

    /// Returns what the drive sees; none for a flush and for unknown commands.
    fn op(&self) -> Option<Op> {
        match self.kind {
            READ => Some(Op::Read),
            WRITE => Some(Op::Write),
            TRIM => Some(Op::Trim),
            // Zeroes that must not be a hole are data.
            WRITE_ZEROES if self.flags & FLAG_NO_HOLE != 0 => Some(Op::Write),
            WRITE_ZEROES => Some(Op::Trim),
            _ => None,
        }
    }

    /// Returns the head of the reply.
    fn reply(&self, error: u32) -> [u8; HEAD_BYTES] {
        let mut reply = [0; HEAD_BYTES];
        reply[..4].copy_from_slice(&REPLY_MAGIC);
        reply[4..8].copy_from_slice(&error.to_be_bytes());
        reply[8..].copy_from_slice(&self.cookie);
        reply
    }

    /// Returns the error of a request that must not reach the drive, if it is one.
    fn fault(&self, export: &Export) -> Option<u32> {
        if self.flags & !self.may_carry() != 0 {
            return Some(errno::INVALID);
        }
        let op = match (self.kind, self.op()) {
            (FLUSH, _) => return None,
            (_, None) => return Some(errno::INVALID),
            (_, Some(op)) => op,
        };
        if self.bytes == 0 {
            return Some(errno::INVALID);
        }
        if self.kind == READ && self.bytes > TRANSFER_MAX {
            return Some(errno::OVERFLOW);
        }
        let end = self.offset.checked_add(u64::from(self.bytes));
        match end.is_some_and(|end| end <= export.bytes) {
            true => None,
            false => Some(if op == Op::Write { errno::NO_SPACE } else { errno::INVALID }),
        }
    }
}

/// Where the replies of a connection go.
pub(super) trait Replies {
    /// Waits until a request may be read whose reply has so many bytes of data.
    ///
    /// # Errors
    /// The connection is closed.
    fn enter(&mut self, bytes: usize) -> io::Result<()>;

    /// Takes the reply of a request, with its number if the drive has taken it.
    ///
    /// # Errors
    /// The connection breaks.
    fn push(&mut self, head: [u8; HEAD_BYTES], data: &[u8], number: Option<u64>) -> io::Result<()>;

    /// No further request is at hand: replies that have gathered leave.
    ///
    /// # Errors
    /// The connection breaks.
    fn pause(&mut self) -> io::Result<()>;
}

/// Bytes of a reply without its data.
pub(super) const HEAD_BYTES: usize = 16;

/// Replies that leave at once.
pub(super) struct AtOnce<W> {
    to: W,
    gathered: Vec<u8>,
}

impl<W: Write> AtOnce<W> {
    pub fn new(to: W) -> Self {
        Self { to, gathered: Vec::with_capacity(BUFFER_BYTES) }
    }
}

impl<W: Write> Replies for AtOnce<W> {
    fn enter(&mut self, _bytes: usize) -> io::Result<()> {
        Ok(())
    }

    fn push(&mut self, head: [u8; HEAD_BYTES], data: &[u8], _number: Option<u64>) -> io::Result<()> {
        self.gathered.extend(head);
        self.gathered.extend(data);
        if self.gathered.len() >= BUFFER_BYTES {
            self.pause()?;
            self.gathered.shrink_to(KEPT_BYTES);
        }
        Ok(())
    }

    fn pause(&mut self) -> io::Result<()> {
        if !self.gathered.is_empty() {
            self.to.write_all(&self.gathered)?;
            self.gathered.clear();
        }
        Ok(())
    }
}

/// Replies that wait for the drive.
pub(super) struct Paced<'a> {
    shared: &'a Shared,
    to: Sender,
}

impl<'a> Paced<'a> {
    pub fn new(shared: &'a Shared, to: Sender) -> Self {
        Self { shared, to }
    }
}

impl Replies for Paced<'_> {
    fn enter(&mut self, bytes: usize) -> io::Result<()> {
        self.to.enter(HEAD_BYTES + bytes)
    }

    fn push(&mut self, head: [u8; HEAD_BYTES], data: &[u8], number: Option<u64>) -> io::Result<()> {
        let reply = [&head, data].concat();
        match number {
            Some(number) => self.shared.reply(number, reply, &self.to),
            None => self.to.send(reply),
        }
        Ok(())
    }

    fn pause(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Serves the requests of a connection until it ends.
///
/// # Errors
/// The connection breaks, or the client does not speak the protocol.
pub(super) fn serve<R: Read>(
    shared: &Shared,
    export: &Export,
    from: R,
    replies: &mut impl Replies,
) -> io::Result<()> {
    let mut from = BufReader::with_capacity(BUFFER_BYTES, from);
    let mut data = Vec::new();
    loop {
        // Replies gather while whole requests are at hand.
        if from.buffer().len() < REQUEST_BYTES {
            replies.pause()?;
        }
        if from.buffer().is_empty() && from.fill_buf()?.is_empty() {
            return Ok(());
        }
        let mut bytes = [0; REQUEST_BYTES];
        from.read_exact(&mut bytes)?;
        let Some(head) = Head::of(&bytes) else {
            return Err(io::Error::new(ErrorKind::InvalidData, "no request where one must be"));
        };
        if head.kind == DISCONNECT {
            return replies.pause();
        }
        if head.kind == WRITE {
            // The data follow whether or not the request is served.
            if head.bytes > TRANSFER_MAX {
                return Err(io::Error::new(ErrorKind::InvalidData, "a write longer than the server takes"));
            }
            data.resize(head.bytes as usize, 0);
            from.read_exact(&mut data)?;
        }
        let fault = head.fault(export);
        let reads = head.kind == READ && fault.is_none();
        replies.enter(if reads { head.bytes as usize } else { 0 })?;
        let (error, number) = match fault {
            Some(error) => (error, None),
            None => carry_out(shared, export, &head, &mut data),
        };
        let sent = if reads && error == 0 { &data[..] } else { &[] };
        replies.push(head.reply(error), sent, number)?;
        if data.len() > KEPT_BYTES {
            data = Vec::new();
        }
    }
}

/// Carries out a valid request; returns the error of its reply, 0 for none, and its number if the drive has taken it.
fn carry_out(shared: &Shared, export: &Export, head: &Head, data: &mut Vec<u8>) -> (u32, Option<u64>) {
    let Some(op) = head.op() else { return (code(shared.flush()), None) };
    let offset = export.offset + head.offset;
    let fua = head.flags & FLAG_FUA != 0 && op != Op::Read;
    let request = Request {
        op,
        offset,
        bytes: head.bytes,
        flags: if fua { flags::FUA } else { 0 },
        stream: export.stream,
    };
    let number = match shared.take(request) {
        Ok(Some(number)) => Some(number),
        // A worn-out drive can be read.
        Ok(None) if op == Op::Read => None,
        Ok(None) => return (errno::PERMISSION, None),
        Err(error) => return (code(Err(error)), None),
    };
    let store = shared.store();
    let done = match head.kind {
        READ => {
            data.resize(head.bytes as usize, 0);
            store.read(data, offset)
        }
        WRITE => store.write(data, offset),
        _ => store.zero(offset, u64::from(head.bytes)),
    };
    (code(done.and_then(|()| if fua { shared.store().flush() } else { Ok(()) })), number)
}

fn code(done: io::Result<()>) -> u32 {
    match done {
        Ok(()) => 0,
        Err(error) if error.kind() == ErrorKind::StorageFull => errno::NO_SPACE,
        Err(_) => errno::IO,
    }
}
