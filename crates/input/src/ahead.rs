//! Reads a stream in a thread of its own, a few pieces ahead: decompression then takes no time of the reader.

use std::io::{Error, ErrorKind, Read, Result};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Most pieces that are ready.
const PIECES: usize = 4;

type Stream = Box<dyn Read + Send>;

/// The bytes of a stream that another thread reads; it ends with the stream, at an error, or when this is dropped.
pub(crate) struct Ahead {
    /// None once the thread is to end.
    pieces: Option<Receiver<Result<Vec<u8>>>>,
    /// Takes back pieces that were read.
    spare: Sender<Vec<u8>>,
    piece: Vec<u8>,
    at: usize,
    at_end: bool,
    thread: Option<JoinHandle<()>>,
}

impl Ahead {
    /// Reads a stream ahead in pieces of `piece_bytes` bytes; without another thread it stays as it is.
    ///
    /// Where a reader takes as many at a time, errors come after the same bytes.
    pub fn of(stream: Stream, piece_bytes: usize) -> Stream {
        let (hand_over, start) = channel::<Stream>();
        let (ready, pieces) = sync_channel(PIECES);
        let (spare, returned) = channel();
        let thread = Builder::new().name("read ahead".into()).spawn(move || {
            if let Ok(stream) = start.recv() {
                pass_on(stream, piece_bytes, &ready, &returned);
            }
        });
        let Ok(thread) = thread else { return stream };
        match hand_over.send(stream) {
            Ok(()) => Box::new(Self {
                pieces: Some(pieces),
                spare,
                piece: Vec::new(),
                at: 0,
                at_end: false,
                thread: Some(thread),
            }),
            Err(kept) => kept.0,
        }
    }
}

/// Reads a stream piece by piece. An empty piece stands for its end.
fn pass_on(
    mut stream: Stream,
    piece_bytes: usize,
    ready: &SyncSender<Result<Vec<u8>>>,
    returned: &Receiver<Vec<u8>>,
) {
    loop {
        let mut piece = returned.try_recv().unwrap_or_default();
        piece.resize(piece_bytes, 0);
        let (mut n, mut end) = (0, None);
        while n < piece_bytes && end.is_none() {
            match stream.read(&mut piece[n..]) {
                Ok(0) => end = Some(Ok(Vec::new())),
                Ok(more) => n += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => end = Some(Err(error)),
            }
        }
        piece.truncate(n);
        if n > 0 && ready.send(Ok(piece)).is_err() {
            return;
        }
        if let Some(end) = end {
            let _ = ready.send(end);
            return;
        }
    }
}

impl Read for Ahead {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize> {
        if self.at == self.piece.len() && !self.at_end {
            let next = self.pieces.as_ref().and_then(|pieces| pieces.recv().ok());
            let piece = next.unwrap_or_else(|| Err(Error::other("the thread that reads ahead has ended")))?;
            let read = std::mem::replace(&mut self.piece, piece);
            (self.at, self.at_end) = (0, self.piece.is_empty());
            let _ = self.spare.send(read);
        }
        let n = buf.len().min(self.piece.len() - self.at);
        buf[..n].copy_from_slice(&self.piece[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        // The thread ends at its next piece.
        self.pieces = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const PIECE: usize = 256 << 10;

    /// A stream of `len` bytes that fails at its end, or does not; counts the bytes that were read.
    struct Counter {
        len: usize,
        fails: bool,
        read: Arc<AtomicUsize>,
    }

    impl Read for Counter {
        fn read(&mut self, buf: &mut [u8]) -> Result<usize> {
            let at = self.read.load(Ordering::Relaxed);
            if at == self.len && self.fails {
                return Err(Error::new(ErrorKind::UnexpectedEof, "cut"));
            }
            let n = buf.len().min(self.len - at).min(100_000);
            buf[..n].iter_mut().enumerate().for_each(|(i, b)| *b = ((at + i) % 251) as u8);
            self.read.fetch_add(n, Ordering::Relaxed);
            Ok(n)
        }
    }

    #[test]
    fn the_bytes_and_errors_are_those_of_the_stream() {
        for len in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 77] {
            for fails in [false, true] {
                let mut ahead = Ahead::of(Box::new(Counter { len, fails, read: Arc::default() }), PIECE);
                let mut out = Vec::new();
                let result = ahead.read_to_end(&mut out);
                assert_eq!(result.is_err(), fails, "{len}");
                assert!(result.err().is_none_or(|error| error.kind() == ErrorKind::UnexpectedEof));
                assert!(out.len() == len && out.iter().enumerate().all(|(i, b)| *b == (i % 251) as u8));
                assert_eq!(ahead.read(&mut [0; 8]).ok(), (!fails).then_some(0), "{len}");
            }
        }
    }

    #[test]
    fn a_reader_that_stops_early_stops_the_thread_after_a_few_pieces() {
        let read = Arc::<AtomicUsize>::default();
        let mut ahead =
            Ahead::of(Box::new(Counter { len: usize::MAX, fails: false, read: read.clone() }), PIECE);
        assert_eq!(ahead.read(&mut [0; 10]).unwrap(), 10);
        drop(ahead);
        assert!(read.load(Ordering::Relaxed) <= (PIECES + 3) * PIECE);
        assert_eq!(Arc::strong_count(&read), 1);
    }
}
