//! The side of a connection on which replies leave when they are due: a thread that writes them, and a limit on what is
//! under way.

use super::socket::Stream;
use std::io::{self, Write};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Requests of a connection that may be under way.
const REQUESTS_MAX: usize = 1 << 10;
/// Bytes of replies beyond which no further request is read.
const BYTES_MAX: usize = 64 << 20;
/// Bytes that are written at a time.
const GATHERED_BYTES: usize = 1 << 17;

#[derive(Default)]
struct UnderWay {
    requests: usize,
    bytes: usize,
    closed: bool,
}

#[derive(Default)]
struct Room {
    under_way: Mutex<UnderWay>,
    changed: Condvar,
}

impl Room {
    fn change(&self, change: impl FnOnce(&mut UnderWay)) {
        change(&mut self.under_way.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }
}

/// Where replies go; clones go to the same connection.
#[derive(Clone)]
pub(super) struct Sender {
    replies: mpsc::Sender<Vec<u8>>,
    room: Arc<Room>,
}

impl Sender {
    /// Starts the thread of a connection.
    ///
    /// # Errors
    /// The connection cannot be shared, or no thread can be started.
    pub fn start(client: &Stream) -> io::Result<Self> {
        let (replies, due) = mpsc::channel();
        let room = Arc::new(Room::default());
        let (to, shared) = (client.try_clone()?, Arc::clone(&room));
        std::thread::Builder::new().name("live replies".into()).spawn(move || {
            // The client has left: nothing can be said to it.
            let _ = write(&to, &due, &shared);
            shared.change(|under_way| under_way.closed = true);
            let _ = to.shut_down();
        })?;
        Ok(Self { replies, room })
    }

    /// Takes room for one more request, whose reply will have so many bytes; waits for it.
    ///
    /// # Errors
    /// The connection is closed.
    pub fn enter(&self, bytes: usize) -> io::Result<()> {
        let mut under_way = self.room.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        while !under_way.closed
            && (under_way.requests >= REQUESTS_MAX
                || under_way.requests > 0 && under_way.bytes + bytes > BYTES_MAX)
        {
            under_way = self.room.changed.wait(under_way).unwrap_or_else(PoisonError::into_inner);
        }
        if under_way.closed {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        under_way.requests += 1;
        under_way.bytes += bytes;
        Ok(())
    }

    /// Hands over a reply that entered with its length.
    pub fn send(&self, reply: Vec<u8>) {
        // Without a receiver the connection is closed.
        let _ = self.replies.send(reply);
    }
}

/// Writes replies as they become due until all senders are gone.
fn write(mut to: &Stream, due: &Receiver<Vec<u8>>, room: &Room) -> io::Result<()> {
    let mut gathered = Vec::with_capacity(GATHERED_BYTES);
    while let Ok(first) = due.recv() {
        let mut requests = 1;
        gathered.extend(first);
        while gathered.len() < GATHERED_BYTES
            && let Ok(next) = due.try_recv()
        {
            requests += 1;
            gathered.extend(next);
        }
        to.write_all(&gathered)?;
        let bytes = gathered.len();
        room.change(|under_way| {
            under_way.requests = under_way.requests.saturating_sub(requests);
            under_way.bytes = under_way.bytes.saturating_sub(bytes);
        });
        gathered.clear();
        gathered.shrink_to(GATHERED_BYTES);
    }
    Ok(())
}
