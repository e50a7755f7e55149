//! The server: one thread per connection, one lock around the drive.
#![allow(clippy::disallowed_types, reason = "requests come in real time; the drive is handed the moments")]

use super::export::Export;
use super::handshake;
use super::output::Sender;
use super::pace::Completions;
use super::requests::{AtOnce, Paced, serve};
use super::shared::Shared;
use super::socket::{Listener, Stream, ready};
use crate::drive::Drive;
use crate::store::Store;
use floatgate_base::{Error, Result};
use floatgate_stats::Latency;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Limits of a server.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Connections at a time.
    pub connections_max: usize,
    /// Time for a handshake.
    pub handshake: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { connections_max: 64, handshake: Duration::from_secs(10) }
    }
}

/// Time between two looks at what ends the server.
const TICK: Duration = Duration::from_millis(100);
/// Time between two moments at which records go to the operating system.
const HAND_OVER: Duration = Duration::from_secs(1);

/// A drive with its data, for clients.
pub struct Server {
    shared: Shared,
    exports: Vec<Export>,
    settings: Settings,
    socket: PathBuf,
    ends: AtomicBool,
    clients: Mutex<Vec<Arc<Stream>>>,
}

/// Where clients connect.
#[derive(Clone, Debug)]
pub struct Places {
    /// Path of the Unix socket.
    pub socket: PathBuf,
    /// TCP address, if any, and whether other machines may reach it.
    pub listen: Option<(String, bool)>,
}

/// A drive with its data, for a server.
pub struct Served {
    /// The drive.
    pub drive: Drive,
    /// Its data.
    pub store: Store,
    /// Ranges that clients may connect to.
    pub exports: Vec<Export>,
    /// The drive's log, if replies wait for its completions.
    pub completions: Option<Completions>,
}

/// What a power cut did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerCut {
    /// Connections that ended.
    pub connections: usize,
    /// Blocks that were only in the volatile cache.
    pub lost_blocks: usize,
}

impl Server {
    /// Begins to listen.
    ///
    /// # Errors
    /// A socket cannot be created, or another server listens there.
    pub fn listen(
        served: Served,
        places: &Places,
        settings: Settings,
    ) -> Result<(Arc<Self>, Vec<JoinHandle<()>>)> {
        let mut listeners = vec![Listener::unix(&places.socket)?];
        if let Some((address, insecure)) = &places.listen {
            listeners.push(Listener::tcp(address, *insecure)?);
        }
        let Served { drive, store, exports, completions } = served;
        let server = Arc::new(Self {
            shared: Shared::new(drive, store, completions),
            exports,
            settings,
            socket: places.socket.clone(),
            ends: AtomicBool::new(false),
            clients: Mutex::default(),
        });
        let mut threads = vec![start("live drive", &server, move |server| server.accept(&listeners))?];
        if server.shared.is_paced() {
            threads.push(start("live pace", &server, |server| server.shared.keep_pace(|| server.ends()))?);
        }
        Ok((server, threads))
    }

    /// Hands the drive to `look` once it has worked until now; none once the server has stopped.
    pub fn look<T>(&self, look: impl FnOnce(&Drive) -> T) -> Option<T> {
        self.shared.look(look)
    }

    /// Returns how long the server has been running.
    #[must_use]
    pub fn uptime(&self) -> Duration {
        self.shared.uptime()
    }

    /// Returns how long after the drive was done replies have left, if they wait for it.
    #[must_use]
    pub fn late(&self) -> Option<Latency> {
        self.shared.late()
    }

    /// Cuts the power: all connections end, and what was only in the volatile cache is lost. The drive then serves again.
    pub fn cut_power(&self) -> PowerCut {
        let clients = self.clients();
        let open = clients.iter().filter(|client| Arc::strong_count(client) > 1);
        let connections = open.map(|client| client.shut_down()).filter(io::Result::is_ok).count();
        PowerCut { connections, lost_blocks: self.shared.store().cut_power() }
    }

    /// Returns the exports.
    #[must_use]
    pub fn exports(&self) -> &[Export] {
        &self.exports
    }

    /// Saves the state of the drive.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn save(&self) -> Result<()> {
        self.shared.drive().as_mut().map_or(Ok(()), Drive::save)
    }

    /// Serves a client over any stream until it leaves, without limits of time.
    ///
    /// # Errors
    /// The stream breaks, or the client does not speak the protocol.
    pub fn converse(&self, from: impl io::Read, to: impl io::Write) -> io::Result<()> {
        let mut both = Both { from, to };
        match handshake::shake(&mut both, &self.exports)? {
            None => Ok(()),
            Some(number) => serve(&self.shared, &self.exports[number], both.from, &mut AtOnce::new(both.to)),
        }
    }

    /// Ends all connections, keeps the data, and returns the drive; none if that has happened before.
    ///
    /// # Errors
    /// The data cannot be written.
    pub fn stop(&self) -> io::Result<Option<Drive>> {
        self.ends.store(true, Ordering::SeqCst);
        // A failure means that the client has left.
        self.clients().iter().for_each(|client| drop(client.shut_down()));
        let drive = self.shared.drive().take();
        if drive.is_some() {
            self.shared.store().flush()?;
            let _ = std::fs::remove_file(&self.socket);
        }
        Ok(drive)
    }

    fn clients(&self) -> MutexGuard<'_, Vec<Arc<Stream>>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ends(&self) -> bool {
        self.ends.load(Ordering::SeqCst)
    }

    fn accept(self: &Arc<Self>, listeners: &[Listener]) {
        let mut handed_over = Instant::now();
        while !self.ends() {
            if handed_over.elapsed() >= HAND_OVER {
                handed_over = Instant::now();
                // The next request or flush reports it, should it last.
                let _ = self.shared.drive().as_mut().map_or(Ok(()), Drive::hand_over);
            }
            for listener in ready(listeners, TICK) {
                if let Ok(client) = listener.accept() {
                    self.admit(client);
                }
            }
        }
    }

    /// Gives a client a thread, unless there are too many.
    fn admit(self: &Arc<Self>, client: Stream) {
        let mut clients = self.clients();
        clients.retain(|known| Arc::strong_count(known) > 1);
        if clients.len() >= self.settings.connections_max {
            return;
        }
        let client = Arc::new(client);
        clients.push(Arc::clone(&client));
        drop(clients);
        // Without a thread the client is left: its connection closes.
        let _ = start("live client", self, move |server| {
            drop(server.attend(&client));
            // The list of clients keeps the socket open.
            drop(client.shut_down());
        });
    }

    /// Serves one client to its end.
    fn attend(&self, client: &Stream) -> io::Result<()> {
        client.set_up()?;
        client.set_timeouts(Some(self.settings.handshake))?;
        let mut deadline = Timely { client, until: Instant::now() + self.settings.handshake };
        let Some(number) = handshake::shake(&mut deadline, &self.exports)? else { return Ok(()) };
        client.set_timeouts(None)?;
        let export = &self.exports[number];
        if !self.shared.is_paced() {
            return serve(&self.shared, export, client, &mut AtOnce::new(client));
        }
        let mut replies = Paced::new(&self.shared, Sender::start(client)?);
        serve(&self.shared, export, client, &mut replies)
    }
}

/// Starts a thread of the server.
fn start(
    name: &str,
    server: &Arc<Server>,
    work: impl FnOnce(&Arc<Server>) + Send + 'static,
) -> Result<JoinHandle<()>> {
    let server = Arc::clone(server);
    let thread = std::thread::Builder::new().name(name.into()).spawn(move || work(&server));
    thread.map_err(|e| Error::run(format!("no thread can be started: {e}"), ""))
}

/// The two directions of a conversation.
struct Both<R, W> {
    from: R,
    to: W,
}

impl<R: io::Read, W> io::Read for Both<R, W> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.from.read(buf)
    }
}

impl<R, W: io::Write> io::Write for Both<R, W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.to.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// A client that has until a moment to end its handshake, however slowly its bytes come.
struct Timely<'a> {
    client: &'a Stream,
    until: Instant,
}

impl Timely<'_> {
    fn check(&self) -> io::Result<()> {
        if Instant::now() > self.until {
            return Err(io::Error::new(ErrorKind::TimedOut, "the handshake takes too long"));
        }
        Ok(())
    }
}

impl io::Read for Timely<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.check()?;
        let mut client = self.client;
        client.read(buf)
    }
}

impl io::Write for Timely<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.check()?;
        let mut client = self.client;
        client.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
