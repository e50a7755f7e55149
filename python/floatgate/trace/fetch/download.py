"""Downloads over HTTP that go on where they were cut.

A download is written to a part. A later attempt requests the rest alone (``Range``, ``If-Range``), where the server has
offered a strong ETag or the date of the last change. A server whose file has changed, or that cannot send parts, sends
the whole file, and the part begins anew. Only http and https addresses are followed, also by redirects. What a server
calls its file has no effect.
"""

from __future__ import annotations

import fcntl
import http.client
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import Message
from pathlib import Path
from typing import IO, Any, BinaryIO

from floatgate import _core
from floatgate.base import interruption
from floatgate.base.errors import input_error, quote
from floatgate.trace.fetch.cache import Validator
from floatgate.trace.fetch.checksums import Progress
from floatgate.trace.fetch.recipes import SCHEMES

TIMEOUT_S = 60.0
"""A server that sends nothing for so long has cut the connection."""
_PIECE_BYTES = 1 << 16
_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18}|\*)", re.ASCII)
_LENGTH = re.compile(r"\d{1,18}", re.ASCII)
_UNSATISFIABLE = 416


class TransferError(Exception):
    """The owner's file did not arrive; the message states why."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to http and https, and never from https to http."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """Return the next request.

        Raises:
            TransferError: the redirect leaves http and https, or encryption.
        """
        scheme = urllib.parse.urlsplit(newurl).scheme
        if scheme not in SCHEMES or (req.type == "https" and scheme != "https"):
            raise TransferError(f"the server redirects to {quote(newurl)}, which is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> urllib.request.OpenerDirector:
    """Return an opener for http and https alone: none for files, FTP or data in addresses."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        *(urllib.request.ProxyHandler(), urllib.request.HTTPHandler(), urllib.request.HTTPSHandler()),
        *(urllib.request.HTTPDefaultErrorHandler(), _Redirects(), urllib.request.HTTPErrorProcessor()),
    ):
        opener.add_handler(handler)
    return opener


class Download:
    """A download of one file into a part.

    Args:
        address: where the file is.
        file: the part, locked; what is there already counts if ``validator`` fits.
        validator: of that part.
        remember: is called with the validator of each new part.
        most_bytes: a larger file is refused.
        progress: is called with the bytes of the part and of the file.
    """

    def __init__(
        self,
        address: str,
        file: BinaryIO,
        validator: Validator | None,
        remember: Callable[[Validator | None], None],
        most_bytes: int,
        progress: Progress | None = None,
    ) -> None:
        """Take the arguments; :meth:`run` does the work."""
        self._address, self._file = address, file
        self._validator, self._remember = validator, remember
        self._most_bytes, self._progress = most_bytes, progress
        self.received_bytes = 0

    def run(self) -> None:
        """Complete the part; attempts go on as long as each of them gets further than all before.

        Raises:
            TransferError: the server or the connection failed. The part stays.
            InputError: the file is too large.
        """
        if urllib.parse.urlsplit(self._address).scheme not in SCHEMES:
            raise TransferError("only http and https addresses are followed")
        if self._validator is None or self._validator.address != self._address:
            self._file.truncate(0)
        furthest = self._file.seek(0, os.SEEK_END)
        while (cut := self._attempt()) is not None:
            size = self._file.seek(0, os.SEEK_END)
            if size <= furthest:
                raise TransferError(f"{cut} after {size} bytes")
            furthest = size

    def _attempt(self) -> str | None:
        """Ask for the rest and write it; return how the connection was cut, None if the file is complete."""
        have = self._file.seek(0, os.SEEK_END)
        request = urllib.request.Request(self._address, headers=_HEADERS)  # noqa: S310 - the scheme was checked
        if have and self._validator is not None:
            request.add_header("Range", f"bytes={have}-")
            request.add_header("If-Range", self._validator.value)
        try:
            response = _opener().open(request, timeout=TIMEOUT_S)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == _UNSATISFIABLE and have:
                return self._begin_anew(error.headers, have)
            raise TransferError(_refused(error)) from None
        except urllib.error.URLError as error:
            raise TransferError(f"the server cannot be reached ({_reason(error.reason)})") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise TransferError(f"the server cannot be reached ({_reason(error)})") from None
        with response:
            start, total = self._placed(response, have)
            if total is None and not response.chunked:
                raise TransferError("the server does not state the length of the file, and a cut would go unnoticed")
            if total is not None and total > self._most_bytes:
                raise self._too_large(f"{total} bytes")
            if start == 0:
                self._file.truncate(0)
                self._remember_validator(response.headers)
            self._file.seek(start)
            return self._receive(response, start, total)

    def _begin_anew(self, headers: Message, have: int) -> str | None:
        """Handle a part that is as long as the file, which is complete, or longer, which begins anew."""
        if (headers.get("Content-Range") or "").rpartition("/")[2] == str(have):
            return None
        self._file.truncate(0)
        self._validator = None
        self._remember(None)
        return self._attempt()

    def _placed(self, response: Any, have: int) -> tuple[int, int | None]:
        """Return where the answer begins in the file, and the length of the file.

        Raises:
            TransferError: the server sends another part than the one requested.
        """
        length = response.headers.get("Content-Length")
        if response.status != http.client.PARTIAL_CONTENT:
            return 0, int(length) if _LENGTH.fullmatch(length or "") else None
        match = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range") or "")
        if match is None or int(match[1]) != have:
            raise TransferError("the server sends another part than the one requested")
        return have, None if match[2] == "*" else int(match[2])

    def _remember_validator(self, headers: Message) -> None:
        tag = headers.get("ETag")
        value = tag if tag is not None and tag.startswith('"') else headers.get("Last-Modified")
        self._validator = None if value is None else Validator(self._address, value)
        self._remember(self._validator)

    def _receive(self, response: Any, start: int, total: int | None) -> str | None:
        """Write what comes; return how the connection was cut, None if the file is complete."""
        size = start
        while True:
            interruption.check()
            try:
                piece = response.read1(_PIECE_BYTES)
            except (OSError, http.client.HTTPException) as error:
                self._file.flush()
                return f"the connection was cut ({_reason(error)})"
            if not piece:
                break
            size += len(piece)
            if size > self._most_bytes:
                raise self._too_large("more")
            self._file.write(piece)
            self.received_bytes += len(piece)
            if self._progress is not None:
                self._progress(size, total, "downloading")
        self._file.flush()
        return None if total is None or size == total else "the connection was cut"

    def _too_large(self, size: str) -> Exception:
        return input_error(
            f"{self._address}: sends {size}; expected at most {self._most_bytes} bytes, as the recipe says"
        )


_HEADERS = {"User-Agent": f"floatgate/{_core.__version__}", "Accept-Encoding": "identity"}


@contextmanager
def locked(part: Path) -> Iterator[BinaryIO]:
    """Open the part for this process alone; the kernel releases it with the process.

    Raises:
        InputError: another process has it, or it cannot be written.
    """
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        file = os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "rb+")
    except OSError as error:
        raise input_error(f"{part}: {error.strerror}; expected a cache that can be written to (--cache)") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise input_error(f"{part}: another floatgate fetch writes it; expected to wait for that one") from None
        yield file


def _refused(error: urllib.error.HTTPError) -> str:
    """Describe an answer that brings no file."""
    if 300 <= error.code < 400:
        return f"the server redirects to {quote(error.headers.get('Location', ''))}, which is not followed"
    return f"the server answers {error.code} {error.reason}"


def _reason(error: object) -> str:
    """Return the cause without numbers and classes of Python."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
