"""A small client of the Network Block Device protocol, for tests."""

from __future__ import annotations

import socket
import struct
from pathlib import Path
from types import TracebackType

GREETING = b"NBDMAGICIHAVEOPT\x00\x03"
OPTION = 0x49484156454F5054
READ, WRITE, DISCONNECT, FLUSH, TRIM, ZEROES = 0, 1, 2, 3, 4, 6
FUA, NO_HOLE = 1, 2


def connected(place: Path | tuple[str, int]) -> socket.socket:
    """Connect to a Unix socket, or to a host and port, and read the greeting."""
    client = socket.socket(socket.AF_UNIX if isinstance(place, Path) else socket.AF_INET)
    client.settimeout(20)
    client.connect(str(place) if isinstance(place, Path) else place)
    assert exactly(client, 18) == GREETING
    return client


def exactly(client: socket.socket, count: int) -> bytes:
    """Receive so many bytes."""
    received = b""
    while len(received) < count:
        part = client.recv(count - len(received))
        if not part:
            raise ConnectionError(f"{len(received)} of {count} bytes")
        received += part
    return received


def option(client: socket.socket, number: int, data: bytes = b"") -> list[tuple[int, bytes]]:
    """Send an option; returns its replies up to the last one."""
    client.sendall(struct.pack(">QII", OPTION, number, len(data)) + data)
    replies = []
    while True:
        _magic, _option, kind, size = struct.unpack(">QIII", exactly(client, 20))
        replies.append((kind, exactly(client, size)))
        if kind == 1 or kind & 1 << 31:
            return replies


class Client:
    """A connection to an export.

    Attributes:
        bytes: size of the export.
    """

    def __init__(self, place: Path | tuple[str, int], export: str = "") -> None:
        self.socket = connected(place)
        self.socket.sendall(struct.pack(">I", 3))
        name = export.encode()
        replies = option(self.socket, 7, struct.pack(">I", len(name)) + name + struct.pack(">H", 0))
        assert replies[-1][0] == 1, replies
        infos = {struct.unpack(">H", data[:2])[0]: data[2:] for kind, data in replies if kind == 3}
        self.bytes, self.flags = struct.unpack(">QH", infos[0])
        self._cookie = 0

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    def send(self, kind: int, offset: int = 0, size: int = 0, data: bytes = b"", flags: int = 0) -> int:
        """Send a request; returns its cookie."""
        self._cookie += 1
        self.socket.sendall(struct.pack(">IHHQQI", 0x25609513, flags, kind, self._cookie, offset, size) + data)
        return self._cookie

    def reply(self, size: int = 0) -> tuple[int, int, bytes]:
        """Receive a reply: error, cookie, data."""
        magic, error, cookie = struct.unpack(">IIQ", exactly(self.socket, 16))
        assert magic == 0x67446698
        return error, cookie, exactly(self.socket, size) if size and not error else b""

    def ask(self, kind: int, offset: int = 0, size: int = 0, data: bytes = b"", flags: int = 0) -> int:
        """Send a request without data to read, and return the error of its reply."""
        cookie = self.send(kind, offset, size, data, flags)
        error, answered, _ = self.reply()
        assert answered == cookie
        return error

    def write(self, offset: int, data: bytes, flags: int = 0) -> int:
        """Write; returns the error."""
        return self.ask(WRITE, offset, len(data), data, flags)

    def read(self, offset: int, size: int) -> bytes:
        """Read; asserts that it succeeds."""
        self.send(READ, offset, size)
        error, _, data = self.reply(size)
        assert error == 0
        return data
