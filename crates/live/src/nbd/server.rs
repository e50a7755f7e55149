//! The server: one thread per connection, one lock around the drive.
#![allow(clippy::disallowed_types, reason = "requests come in real time; the drive is handed the moments")]

use super::export::Export;
use super::shared::Shared;
use super::{handshake, requests};
use crate::drive::Drive;
use crate::store::Store;
use floatgate_base::{Error, Place, Result};
use floatgate_sim::Glance;
use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
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
    clients: Mutex<Vec<Arc<UnixStream>>>,
}

impl Server {
    /// Begins to listen on a socket, which only this user may open.
    ///
    /// # Errors
    /// The socket cannot be created, or another server listens there.
    pub fn listen(
        drive: Drive,
        store: Store,
        exports: Vec<Export>,
        socket: &Path,
        settings: Settings,
    ) -> Result<(Arc<Self>, JoinHandle<()>)> {
        let listener = bind(socket)?;
        let server = Arc::new(Self {
            shared: Shared::new(drive, store),
            exports,
            settings,
            socket: socket.into(),
            ends: AtomicBool::new(false),
            clients: Mutex::default(),
        });
        let accepting = Arc::clone(&server);
        let thread = std::thread::Builder::new()
            .name("live drive".into())
            .spawn(move || accepting.accept(&listener))
            .map_err(|e| Error::run(format!("no thread can be started: {e}"), ""))?;
        Ok((server, thread))
    }

    /// Hands what the drive has counted so far to `look`, with the reason of its end, if it is worn out; none once the
    /// server has stopped.
    pub fn look<T>(&self, look: impl FnOnce(&Glance<'_>, Option<&str>) -> T) -> Option<T> {
        self.shared.drive().as_ref().map(|drive| look(&drive.glance(), drive.ended()))
    }

    /// Returns how long the server has been running.
    #[must_use]
    pub fn uptime(&self) -> Duration {
        self.shared.uptime()
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

    /// Ends all connections, keeps the data, and returns the drive; none if that has happened before.
    ///
    /// # Errors
    /// The data cannot be written.
    pub fn stop(&self) -> io::Result<Option<Drive>> {
        self.ends.store(true, Ordering::SeqCst);
        // A failure means that the client has left.
        self.clients().iter().for_each(|client| drop(client.shutdown(Shutdown::Both)));
        let drive = self.shared.drive().take();
        if drive.is_some() {
            self.shared.store().flush()?;
            let _ = std::fs::remove_file(&self.socket);
        }
        Ok(drive)
    }

    fn clients(&self) -> MutexGuard<'_, Vec<Arc<UnixStream>>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(self: Arc<Self>, listener: &UnixListener) {
        let mut handed_over = Instant::now();
        while !self.ends.load(Ordering::SeqCst) {
            if handed_over.elapsed() >= HAND_OVER {
                handed_over = Instant::now();
                // The next request or flush reports it, should it last.
                let _ = self.shared.drive().as_mut().map_or(Ok(()), Drive::hand_over);
            }
            if !is_ready(listener, TICK) {
                continue;
            }
            let Ok((client, _)) = listener.accept() else { continue };
            let mut clients = self.clients();
            clients.retain(|known| Arc::strong_count(known) > 1);
            if clients.len() >= self.settings.connections_max {
                continue;
            }
            let client = Arc::new(client);
            clients.push(Arc::clone(&client));
            drop(clients);
            let server = Arc::clone(&self);
            // Without a thread the client is left: its connection closes.
            let _ = std::thread::Builder::new().name("live client".into()).spawn(move || {
                drop(server.attend(&client));
                // The list of clients keeps the socket open.
                drop(client.shutdown(Shutdown::Both));
            });
        }
    }

    /// Serves one client to its end.
    fn attend(&self, client: &UnixStream) -> io::Result<()> {
        client.set_nonblocking(false)?;
        client.set_read_timeout(Some(self.settings.handshake))?;
        client.set_write_timeout(Some(self.settings.handshake))?;
        let mut deadline = Timely { client, until: Instant::now() + self.settings.handshake };
        let Some(number) = handshake::shake(&mut deadline, &self.exports)? else { return Ok(()) };
        client.set_read_timeout(None)?;
        client.set_write_timeout(None)?;
        let mut to = client;
        requests::serve(&self.shared, &self.exports[number], client, &mut to)
    }
}

/// A client that has until a moment to end its handshake, however slowly its bytes come.
struct Timely<'a> {
    client: &'a UnixStream,
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

/// Binds the socket. One that nobody listens on any more is replaced.
fn bind(socket: &Path) -> Result<UnixListener> {
    let refuse = |what: String, expected: &str| {
        Error::input(Place::Path(socket.to_string_lossy().into_owned()), what, expected)
    };
    if UnixStream::connect(socket).is_ok() {
        return Err(refuse(
            "another server listens on this socket".into(),
            "expected a path of its own (--socket)",
        ));
    }
    if std::fs::symlink_metadata(socket).is_ok_and(|data| is_socket(&data)) {
        let _ = std::fs::remove_file(socket);
    }
    let listener = UnixListener::bind(socket).map_err(|e| {
        refuse(
            format!("no socket can be created: {e}"),
            "expected a path of at most 107 bytes in a writable folder",
        )
    })?;
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(socket, private)
        .and_then(|()| listener.set_nonblocking(true))
        .map_err(|e| refuse(format!("the socket cannot be set up: {e}"), "expected a writable folder"))?;
    Ok(listener)
}

fn is_socket(data: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    data.file_type().is_socket()
}

/// Waits until a client connects; false if none did in time.
fn is_ready(listener: &UnixListener, time: Duration) -> bool {
    let mut wanted = libc::pollfd { fd: listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid descriptor, alive during the call.
    let ready = unsafe { libc::poll(&raw mut wanted, 1, time.as_millis() as libc::c_int) };
    ready > 0
}
