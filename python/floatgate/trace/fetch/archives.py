"""One file out of an archive, or the first lines of a file, as far as a reader of traces needs it.

The names of an archive decide nothing about where files go. An archive with absolute names or ``..`` in a path is
refused, and what is unpacked is at most as long as the recipe states. Where the owner publishes no checksum, the file
is read to its end: what it says about its own content is checked there.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

from floatgate.base import interruption
from floatgate.base.errors import InputError, input_error, quote, quoted
from floatgate.trace.fetch.checksums import Progress
from floatgate.trace.fetch.recipes import COMPRESSED, Recipe

ONLY = "*"
"""The member of an archive that has one file."""
_PIECE_BYTES = 1 << 18
_NAMED_MAX = 5
_DAMAGED = (
    *(OSError, EOFError, ValueError, RuntimeError, NotImplementedError, tarfile.TarError, zipfile.BadZipFile),
    *(zlib.error, lzma.LZMAError),
)
"""What the libraries raise where an archive is damaged; ``OSError`` includes bad gzip and bzip2."""


def unpack(
    source: Path,
    recipe: Recipe,
    member: str | None,
    target: Path,
    progress: Progress | None = None,
    remedy: str = "",
) -> None:
    """Write the trace of a recipe to ``target``, which is complete when this returns.

    Args:
        source: the file of the recipe.
        recipe: its recipe.
        member: another member of the archive than that of the recipe.
        target: a file to overwrite.
        progress: is called with the bytes written.
        remedy: what a user may do about a damaged file.

    Raises:
        InputError: the file is damaged, lacks the member, has unsafe names, or unpacks to more than the recipe allows.
    """
    try:
        _unpack(source, recipe, member or recipe.member, target, progress)
    except InputError:
        raise
    except _OutputError as error:
        raise error.cause from None
    except _DAMAGED as error:
        text = str(error).strip().split("\n", 1)[0]
        reason = f" ({text.rstrip('.')})" if text else ""
        what = f"is damaged{reason}; expected {recipe.file} of {recipe.name}{remedy}"
        raise input_error(f"{source}: {what}") from None


def _unpack(source: Path, recipe: Recipe, name: str | None, target: Path, progress: Progress | None) -> None:
    with _created(target) as output, ExitStack() as stack:
        if name is None:
            opened: IO[bytes] = stack.enter_context(source.open("rb"))
            shown = recipe.file
        else:
            opened, shown = stack.enter_context(_member(source, recipe, name))
        if recipe.lines is not None:
            opened = stack.enter_context(_plain(opened, shown))
        done = 0
        for piece in _pieces(opened) if recipe.lines is None else _lines(opened, recipe.lines):
            interruption.check()
            done += len(piece)
            _must_fit(done, source, recipe)
            _write(output, piece)
            if progress is not None:
                progress(done, None, "unpacking")
        if recipe.checksum is None:
            for piece in _pieces(opened):
                done += len(piece)
                _must_fit(done, source, recipe)


class _OutputError(Exception):
    """The output cannot be written."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


@contextmanager
def _created(target: Path) -> Iterator[BinaryIO]:
    """Open the output; what fails there, or when its last bytes are written, is no fault of the archive."""
    try:
        output = target.open("wb")
    except OSError as error:
        raise _OutputError(error) from None
    try:
        yield output
    finally:
        try:
            output.close()
        except OSError as error:
            error.filename = output.name
            raise _OutputError(error) from None


def _write(output: BinaryIO, piece: bytes) -> None:
    try:
        output.write(piece)
    except OSError as error:
        error.filename = output.name
        raise _OutputError(error) from None


def _must_fit(size: int, source: Path, recipe: Recipe) -> None:
    if size > recipe.most_bytes:
        what = f"unpacks to more than {recipe.most_bytes} bytes"
        raise input_error(f"{source}: {what}; expected {recipe.file} of {recipe.name}, which stays below that")


@contextmanager
def _member(source: Path, recipe: Recipe, name: str) -> Iterator[tuple[IO[bytes], str]]:
    """Yield the member, unpacked as it is read, and its name."""
    with ExitStack() as stack:
        if recipe.file.endswith(".zip"):
            archive = stack.enter_context(zipfile.ZipFile(source))
            chosen = _choose(archive.infolist(), source, name)
            yield stack.enter_context(archive.open(chosen)), chosen.filename
            return
        raw = stack.enter_context(source.open("rb"))
        bounded = cast("IO[bytes]", _Bounded(stack.enter_context(_plain(raw, recipe.file)), source, recipe))
        stream = stack.enter_context(tarfile.open(fileobj=bounded, mode="r|"))
        names: list[str] = []
        for entry in stream:
            interruption.check()
            _must_be_safe(entry.name, source)
            if entry.isfile() and _fits(entry.name, name):
                opened = stream.extractfile(entry)
                if opened is None:
                    raise _lacks(source, name, [])
                yield opened, entry.name
                break
            if entry.isfile():
                names.append(entry.name)
        else:
            raise _lacks(source, name, names)
        if recipe.checksum is None:
            _read_to_the_end(stream, bounded, source)


def _read_to_the_end(stream: tarfile.TarFile, bounded: IO[bytes], source: Path) -> None:
    """Read what follows the member: checksums of compressed files stand at their ends."""
    for entry in stream:
        interruption.check()
        _must_be_safe(entry.name, source)
    while bounded.read(_PIECE_BYTES):
        interruption.check()


def _choose(entries: list[zipfile.ZipInfo], source: Path, name: str) -> zipfile.ZipInfo:
    """Return the entry of that name in a zip archive."""
    for entry in entries:
        _must_be_safe(entry.filename, source)
    files = [entry for entry in entries if not entry.is_dir()]
    chosen = next((entry for entry in files if _fits(entry.filename, name)), None)
    if chosen is None:
        raise _lacks(source, name, [entry.filename for entry in files])
    return chosen


def _fits(entry: str, name: str) -> bool:
    """Return whether an entry is the member: by its whole path, or by its name where no folder is stated."""
    path = PurePosixPath(entry)
    return name in (ONLY, path.as_posix()) or ("/" not in name and path.name == name)


def _must_be_safe(entry: str, source: Path) -> None:
    path = PurePosixPath(entry.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or (path.parts[:1] and path.parts[0].endswith(":")):
        raise input_error(
            f"{source}: has a member {quote(entry)}, which leaves the archive's folder; expected relative names"
        )


def _lacks(source: Path, name: str, names: list[str]) -> InputError:
    shown = quoted(names[:_NAMED_MAX]) or "no file"
    rest = f" and {len(names) - _NAMED_MAX} others" if len(names) > _NAMED_MAX else ""
    return input_error(f"{source}: lacks the member {quote(name)}; expected --member with one of {shown}{rest}")


class _Bounded:
    """A stream that ends with an error after the bytes that a recipe allows."""

    def __init__(self, stream: IO[bytes], source: Path, recipe: Recipe) -> None:
        self._stream, self._source, self._recipe, self._read = stream, source, recipe, 0

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        piece = self._stream.read(size)
        self._read += len(piece)
        _must_fit(self._read, self._source, self._recipe)
        return piece


@contextmanager
def _plain(stream: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    """Yield what a file holds, unpacked by the extension of its name."""
    if name.endswith((COMPRESSED[0], ".tgz")):
        with gzip.GzipFile(fileobj=stream) as opened:
            yield cast("IO[bytes]", opened)
    elif name.endswith(COMPRESSED[1]):
        with bz2.BZ2File(stream) as opened:
            yield opened
    elif name.endswith(COMPRESSED[2]):
        with lzma.LZMAFile(stream) as opened:
            yield opened
    else:
        yield stream


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    while piece := stream.read(_PIECE_BYTES):
        yield piece


def _lines(stream: IO[bytes], lines: int) -> Iterator[bytes]:
    """Yield the first lines, a piece at a time; the last one keeps its line break."""
    left = lines
    for piece in _pieces(stream):
        count = piece.count(b"\n")
        if count < left:
            left -= count
            yield piece
            continue
        end = -1
        for _ in range(left):
            end = piece.index(b"\n", end + 1)
        yield piece[: end + 1]
        return
