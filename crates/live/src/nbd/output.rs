//! The side of a connection on which replies leave when they are due, and a limit on what is under way.
//!
//! The thread that finds a reply due hands it to the kernel, without a switch to another thread. What the kernel has no
//! room for is written by a thread that may wait.

use super::socket::Stream;
use std::io::{self, Write};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

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
        change(&mut locked(&self.under_way));
        self.changed.notify_all();
    }

    /// Gives back the room of replies that have left.
    fn leave(&self, requests: usize, bytes: usize) {
        self.change(|under_way| {
            under_way.requests = under_way.requests.saturating_sub(requests);
            under_way.bytes = under_way.bytes.saturating_sub(bytes);
        });
    }
}

/// A reply that waits for the kernel.
struct Waiting {
    reply: Vec<u8>,
    /// Bytes of it that have left.
    sent: usize,
}

/// The connection, for replies that need not wait.
struct Direct {
    to: Stream,
    /// Replies that the thread has still to write: none may overtake the rest of one that has left in part.
    waiting: usize,
}

/// Where replies go; clones go to the same connection.
#[derive(Clone)]
pub(super) struct Sender {
    direct: Arc<Mutex<Direct>>,
    waiting: mpsc::Sender<Waiting>,
    room: Arc<Room>,
}

impl Sender {
    /// Starts the thread of a connection.
    ///
    /// # Errors
    /// The connection cannot be shared, or no thread can be started.
    pub fn start(client: &Stream) -> io::Result<Self> {
        let (waiting, due) = mpsc::channel();
        let room = Arc::new(Room::default());
        let direct = Arc::new(Mutex::new(Direct { to: client.try_clone()?, waiting: 0 }));
        let (to, shared, gate) = (client.try_clone()?, Arc::clone(&room), Arc::clone(&direct));
        std::thread::Builder::new().name("live replies".into()).spawn(move || {
            // The client has left: nothing can be said to it.
            let _ = write(&to, &due, &gate, &shared);
            shared.change(|under_way| under_way.closed = true);
            let _ = to.shut_down();
        })?;
        Ok(Self { direct, waiting, room })
    }

    /// Takes room for one more request, whose reply will have so many bytes; waits for it.
    ///
    /// # Errors
    /// The connection is closed.
    pub fn enter(&self, bytes: usize) -> io::Result<()> {
        let mut under_way = locked(&self.room.under_way);
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

    /// Sends a reply that entered with its length; never waits for the client.
    pub fn send(&self, reply: Vec<u8>) {
        let mut direct = locked(&self.direct);
        // The thread meets the error again, and closes the connection.
        let sent = if direct.waiting == 0 { direct.to.send_now(&reply).unwrap_or(0) } else { 0 };
        if sent == reply.len() {
            drop(direct);
            self.room.leave(1, sent);
            return;
        }
        direct.waiting += 1;
        // Without a receiver the connection is closed.
        let _ = self.waiting.send(Waiting { reply, sent });
    }
}

/// Writes replies that wait until all senders are gone.
fn write(mut to: &Stream, due: &Receiver<Waiting>, direct: &Mutex<Direct>, room: &Room) -> io::Result<()> {
    let mut gathered = Vec::with_capacity(GATHERED_BYTES);
    while let Ok(first) = due.recv() {
        let (mut requests, mut bytes) = (0, 0);
        let mut next = Some(first);
        while let Some(Waiting { reply, sent }) = next {
            requests += 1;
            bytes += reply.len();
            gathered.extend_from_slice(&reply[sent..]);
            next = if gathered.len() < GATHERED_BYTES { due.try_recv().ok() } else { None };
        }
        to.write_all(&gathered)?;
        locked(direct).waiting -= requests;
        room.leave(requests, bytes);
        gathered.clear();
        gathered.shrink_to(GATHERED_BYTES);
    }
    Ok(())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;

    /// Replies of different lengths and contents.
    fn reply(number: usize) -> Vec<u8> {
        (0..1 + number * 7919 % 60_000).map(|at| (number * 31 + at) as u8).collect()
    }

    /// A client that reads nothing until many replies were sent, then all of them, twice.
    fn all_replies_arrive_in_order(server: &Stream, mut client: impl Read) {
        let sender = Sender::start(server).unwrap();
        for round in 0..2 {
            let numbers = round * 300..(round + 1) * 300;
            for number in numbers.clone() {
                let reply = reply(number);
                sender.enter(reply.len()).unwrap();
                sender.send(reply);
            }
            assert!(locked(&sender.direct).waiting > 0, "the socket holds less than is sent");
            for number in numbers {
                let expected = reply(number);
                let mut arrived = vec![0; expected.len()];
                client.read_exact(&mut arrived).unwrap();
                assert!(arrived == expected, "reply {number} differs");
            }
        }
        server.shut_down().unwrap();
    }

    #[test]
    fn a_client_that_does_not_read_misses_nothing() {
        let (server, client) = UnixStream::pair().unwrap();
        all_replies_arrive_in_order(&Stream::Unix(server), client);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        all_replies_arrive_in_order(&Stream::Tcp(listener.accept().unwrap().0), client);
    }
}
