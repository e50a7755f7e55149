"""A web server of one thread for the tests of ``floatgate fetch``: it cuts, refuses, redirects and changes files."""

from __future__ import annotations

import contextlib
import http.server
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class File:
    """What the server has at a path.

    Attributes:
        content: of the file.
        etag: its validator, with quotes; None sends none.
        modified: the date of the last change; None sends none.
        ranges: whether parts are sent.
        cuts: for each answer to come, after how many bytes of it the connection is cut; None sends all of it.
        encoding: "length" states the length, "chunked" sends chunks, "close" ends with the connection.
        code: the status; another than 200 sends no file.
        location: where a redirect leads.
        stall_after: after how many bytes the server waits until the test releases it; None never.
        shift: added to the first byte of a range, as a broken server might.
    """

    content: bytes = b""
    etag: str | None = '"one"'
    modified: str | None = None
    ranges: bool = True
    cuts: list[int | None] = field(default_factory=list)
    encoding: str = "length"
    code: int = 200
    location: str | None = None
    shift: int = 0
    stall_after: int | None = None


@dataclass
class Server:
    """Files by path, the requests that came (path, range and condition of each), and what lets stalled answers go."""

    port: int
    files: dict[str, File] = field(default_factory=dict)
    requests: list[tuple[str, str | None, str | None]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def address(self, path: str) -> str:
        """The address of a path."""
        return f"http://127.0.0.1:{self.port}{path}"

    @property
    def ranges(self) -> list[str | None]:
        """The ranges requested so far."""
        return [one for _, one, _ in self.requests]


@contextlib.contextmanager
def serving() -> Iterator[Server]:
    """Runs a server for as long as the block."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            _answer(self, server)

        def log_message(self, *arguments: Any) -> None:
            pass

    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    server = Server(listening.server_address[1])
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()


def _answer(handler: http.server.BaseHTTPRequestHandler, server: Server) -> None:
    wanted, condition = handler.headers.get("Range"), handler.headers.get("If-Range")
    server.requests.append((handler.path, wanted, condition))
    file = server.files.get(handler.path, File(code=404))
    handler.close_connection = True
    size = len(file.content)
    if not file.ranges or condition not in (None, file.etag, file.modified):
        wanted = None
    start = int(wanted.removeprefix("bytes=").partition("-")[0]) if wanted else 0
    if file.code != 200:
        _end(handler, file.code, {} if file.location is None else {"Location": file.location})
    elif wanted and start >= size:
        _end(handler, 416, {"Content-Range": f"bytes */{size}"})
    else:
        part = {"Content-Range": f"bytes {start + file.shift}-{size - 1}/{size}"} if wanted else {}
        _send(handler, server, file, start, part)


def _end(handler: http.server.BaseHTTPRequestHandler, code: int, headers: dict[str, str]) -> None:
    """Answers without a file."""
    handler.send_response(code)
    for name, value in (headers | {"Content-Length": "0"}).items():
        handler.send_header(name, value)
    handler.end_headers()


def _send(
    handler: http.server.BaseHTTPRequestHandler, server: Server, file: File, start: int, headers: dict[str, str]
) -> None:
    """Answers with a file from a byte on; headers say which part it is."""
    handler.send_response(206 if headers else 200)
    # A name that would leave the cache.
    headers |= {"Content-Disposition": 'attachment; filename="../../evil"', "Connection": "close"}
    headers |= {} if file.etag is None else {"ETag": file.etag}
    headers |= {} if file.modified is None else {"Last-Modified": file.modified}
    length = {"Content-Length": str(len(file.content) - start)}
    headers |= {"length": length, "chunked": {"Transfer-Encoding": "chunked"}, "close": {}}[file.encoding]
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    cut = file.cuts.pop(0) if file.cuts else None
    sent = file.content[start:] if cut is None else file.content[start : start + cut]
    if file.encoding == "chunked":
        sent = b"%x\r\n%b\r\n" % (len(sent), sent) + (b"0\r\n\r\n" if cut is None else b"")
    if file.stall_after is not None:
        handler.wfile.write(sent[: file.stall_after])
        handler.wfile.flush()
        server.released.wait(60)
        return
    handler.wfile.write(sent)
