//! Sockets of the server: Unix ones, which only their user may open, and TCP ones.

use floatgate_base::{Error, Place, Result};
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

/// A connection.
pub(super) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Unix(stream) => Self::Unix(stream.try_clone()?),
            Self::Tcp(stream) => Self::Tcp(stream.try_clone()?),
        })
    }

    /// Ends the connection in both directions.
    pub fn shut_down(&self) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
        }
    }

    /// Limits how long a single read or write may take; None for no limit.
    pub fn set_timeouts(&self, time: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_read_timeout(time).and(stream.set_write_timeout(time)),
            Self::Tcp(stream) => stream.set_read_timeout(time).and(stream.set_write_timeout(time)),
        }
    }

    /// Sends what the kernel has room for, without waiting; returns how many bytes.
    ///
    /// # Errors
    /// It has no room at all, or the connection is closed.
    pub fn send_now(&self, bytes: &[u8]) -> io::Result<usize> {
        let fd = match self {
            Self::Unix(stream) => stream.as_raw_fd(),
            Self::Tcp(stream) => stream.as_raw_fd(),
        };
        let options = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        // SAFETY: a valid descriptor, and as many readable bytes as the length says.
        let sent = unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), options) };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }

    /// Prepares an accepted connection: reads and writes wait, and small replies leave at once.
    pub fn set_up(&self) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_nonblocking(false),
            Self::Tcp(stream) => stream.set_nonblocking(false).and(stream.set_nodelay(true)),
        }
    }
}

impl Read for &Stream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => (&mut &*stream).read(buf),
            Stream::Tcp(stream) => (&mut &*stream).read(buf),
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => (&mut &*stream).write(buf),
            Stream::Tcp(stream) => (&mut &*stream).write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A socket on which clients connect.
pub(super) enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl Listener {
    /// Binds a Unix socket, which only this user may open. One that nobody listens on any more is replaced.
    pub fn unix(path: &Path) -> Result<Self> {
        let refuse = |what: String, expected: &str| {
            Error::input(Place::Path(path.to_string_lossy().into_owned()), what, expected)
        };
        if UnixStream::connect(path).is_ok() {
            return Err(refuse(
                "another server listens on this socket".into(),
                "expected a path of its own (--socket)",
            ));
        }
        if fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_socket()) {
            let _ = fs::remove_file(path);
        }
        let listener = UnixListener::bind(path).map_err(|e| {
            refuse(
                format!("no socket can be created: {e}"),
                "expected a path of at most 107 bytes in a writable folder",
            )
        })?;
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(path, private)
            .and_then(|()| listener.set_nonblocking(true))
            .map_err(|e| refuse(format!("the socket cannot be set up: {e}"), "expected a writable folder"))?;
        Ok(Self::Unix(listener))
    }

    /// Binds a TCP socket at `HOST:PORT`; beyond this machine only if `insecure`, because anyone there may then connect.
    pub fn tcp(address: &str, insecure: bool) -> Result<Self> {
        let refuse =
            |what: String, expected: &str| Error::input(Place::Setting("--listen".into()), what, expected);
        let addresses: Vec<_> = address
            .to_socket_addrs()
            .map_err(|e| {
                refuse(format!("{address} is no address: {e}"), "expected HOST:PORT, such as 127.0.0.1:10809")
            })?
            .collect();
        if !insecure && addresses.iter().any(|one| !one.ip().is_loopback()) {
            return Err(refuse(
                format!("{address} can be reached from other machines, and NBD has no password"),
                "expected 127.0.0.1:PORT, or --insecure beside it",
            ));
        }
        let listener = TcpListener::bind(addresses.as_slice())
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
            .map_err(|e| {
                refuse(format!("no socket can be opened at {address}: {e}"), "expected a free port")
            })?;
        Ok(Self::Tcp(listener))
    }

    pub fn accept(&self) -> io::Result<Stream> {
        match self {
            Self::Unix(listener) => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
            Self::Tcp(listener) => listener.accept().map(|(stream, _)| Stream::Tcp(stream)),
        }
    }

    fn fd(&self) -> RawFd {
        match self {
            Self::Unix(listener) => listener.as_raw_fd(),
            Self::Tcp(listener) => listener.as_raw_fd(),
        }
    }
}

/// Returns the listeners on which clients connect, after waiting for them for a time at most.
pub(super) fn ready(listeners: &[Listener], time: Duration) -> Vec<&Listener> {
    let wanted = |listener: &Listener| libc::pollfd { fd: listener.fd(), events: libc::POLLIN, revents: 0 };
    let mut wanted: Vec<_> = listeners.iter().map(wanted).collect();
    // SAFETY: valid descriptors, alive during the call, and as many as the length says.
    unsafe { libc::poll(wanted.as_mut_ptr(), wanted.len() as libc::nfds_t, time.as_millis() as libc::c_int) };
    listeners.iter().zip(&wanted).filter(|(_, one)| one.revents > 0).map(|(listener, _)| listener).collect()
}
