"""Content of recorded writes: that of each page at each write to the drive."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Cli
from floatgate.trace.recorder import backends, strace_data, strace_text
from floatgate.trace.recorder.calls import Call, Tally
from floatgate.trace.recorder.content import WrittenContent
from floatgate.trace.recorder.contexts import ContextTable
from floatgate.trace.recorder.distinct import DistinctPages
from floatgate.trace.recorder.files import FileTracker
from floatgate.trace.recorder.layout import File, Layout
from floatgate.trace.recorder.page_cache import CacheModel, PageCache, Request
from floatgate.trace.recorder.shadow import Before, Shadow

PAGE = 4096
MIB = 1 << 20

# Every step ends in a flush of the file, after which the program notes what it believes its file to hold, from a model
# of its own: a bytearray for each file. `know` is None where the content cannot be known from the writes.
PROGRAM = r"""
import ctypes, hashlib, json, mmap, os, random, sys
P = 4096
rng = random.Random(int(sys.argv[1]))
libc = ctypes.CDLL(None, use_errno=True)
notes = []

class Twin:
    "A file and what it holds."
    def __init__(self, name, flags=os.O_CREAT):
        self.name, self.fd, self.held = name, os.open(name, os.O_RDWR | flags, 0o644), bytearray()
        self.touched = set()
    def wrote(self, at, data):
        self.held.extend(bytes(max(0, at + len(data) - len(self.held))))
        self.held[at:at + len(data)] = data
        self.touched |= set(range(at // P, -(-(at + len(data)) // P)))
    def pwrite(self, at, data):
        assert os.pwrite(self.fd, data, at) == len(data)
        self.wrote(at, data)
    def pwritev(self, at, *parts):
        assert os.pwritev(self.fd, parts, at) == sum(map(len, parts))
        self.wrote(at, b"".join(parts))
    def truncate(self, length):
        os.ftruncate(self.fd, length)
        del self.held[length:]
        self.held.extend(bytes(length - len(self.held)))
        self.touched = {page for page in self.touched if page * P < length}
    def flush(self):
        os.fsync(self.fd)
        for page in sorted(self.touched):
            data = bytes(self.held[page * P:page * P + P]).ljust(P, b"\0")
            notes.append(int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little"))
        self.touched = set()

def junk(size):
    "Bytes of all kinds: quotes, escapes, digits after zeros, noise, text."
    kind = rng.randrange(4)
    if kind == 0:
        return rng.randbytes(size)
    if kind == 1:
        return bytes(rng.choice(b'"\\\0\n0179<>(),{}[] = .') for _ in range(size))
    return (b"row %d, " % rng.randrange(9999) * (size // 5 + 1))[:size]

table = Twin("table")
table.pwrite(0, junk(8 * P))
table.flush()
for _ in range(60):  # overwrites, whole and in part, appends, holes, truncations
    what = rng.randrange(6)
    at = rng.randrange(0, 20 * P)
    if what == 0:
        table.pwrite(at // P * P, junk(P * rng.randrange(1, 4)))
    elif what == 1:
        table.pwrite(at, junk(rng.randrange(1, 3 * P)))
    elif what == 2:
        table.pwritev(at, junk(rng.randrange(1, 99)), b"", junk(rng.randrange(1, 2 * P)), b"x\0" * 9)
    elif what == 3:
        table.truncate(at)
    elif what == 4:
        table.pwrite(len(table.held), junk(rng.randrange(1, P)))
    else:
        table.pwrite(0, b"commit %d" % rng.randrange(10**9))
    if rng.randrange(2):
        table.flush()
table.flush()

log = Twin("log", os.O_CREAT | os.O_APPEND)  # lines, some of them flushed
for number in range(40):
    line = b"%d:" % number + junk(rng.randrange(300)) + b"\n"
    os.writev(log.fd, [line[:3], line[3:]])
    log.wrote(len(log.held), line)
    if number % 5 == 0:
        log.flush()
os.rename("log", "log.1")
os.write(log.fd, b"after the rename")
log.wrote(len(log.held), b"after the rename")
log.flush()

fresh = Twin("log")  # a name used again is a new file: the rest of its page is zero
fresh.pwrite(100, b"new")
fresh.flush()
os.unlink("log")
again = Twin("log")
again.pwrite(5000, b"newer")
again.flush()

# FALLOC_FL_PUNCH_HOLE | KEEP_SIZE within pages and over whole ones
table.pwrite(0, junk(6 * P)); table.flush()
assert libc.fallocate(table.fd, 3, ctypes.c_long(100), ctypes.c_long(3 * P)) == 0 or ctypes.get_errno()
table.held[100:100 + 3 * P] = bytes(3 * P)
table.pwrite(50, b"rim"); table.pwrite(3 * P + 500, b"rim"); table.pwrite(P + 7, b"in the hole"); table.flush()

json.dump(notes, open(sys.argv[2], "w"))
"""


@pytest.fixture
def strace(tmp_path_factory: pytest.TempPathFactory) -> None:
    why = backends.strace_problem(tmp_path_factory.getbasetemp())
    if why is not None:
        pytest.skip(f"strace: {why}")


def rows_of(path: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    described = json.loads(pq.ParquetFile(path).metadata.metadata[b"floatgate"])
    return pq.read_table(path).to_pylist(), described["recorder"]["content"]


def fingerprint(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data.ljust(PAGE, b"\0"), digest_size=8).digest(), "little")


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("seed", range(1, 1 + int(os.environ.get("FLOATGATE_TIMES", "1"))))
def test_every_flushed_version_is_known(
    cli: Cli, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    program, notes = tmp_path / "program.py", tmp_path_factory.mktemp("notes") / "notes.json"
    program.write_text(PROGRAM)
    # No flusher comes between: what reaches the drive are the flushes alone (the notes' file goes at the end).
    command = ("trace", "record", "--backend", "strace", "--content", "-o", "t.parquet", "--flush-interval-s", "1e6")
    text = cli(*command, "--", sys.executable, "-B", program, str(seed), notes).done()
    rows, content = rows_of(tmp_path / "t.parquet")
    flushed = [value for row in rows if row["op"] == "write" for value in row["fingerprints"]]
    expected = json.loads(notes.read_text())
    assert len(expected) > 100
    assert flushed[: len(expected)] == expected, f"seed {seed}"
    assert (content["pages_unknown"], content["bytes_cut_off"], content["pages_known"]) == (0, 0, len(flushed))
    assert content["pages_known_from_files"] == 0
    assert f"100 % of page writes known ({len(flushed)} of {len(flushed)})" in text


@pytest.mark.usefixtures("strace")
def test_the_flusher_writes_what_is_there_when_it_wakes(cli: Cli, tmp_path: Path) -> None:
    # The flusher wakes within the second write's call, so to speak: what it writes is the data from before.
    program = (
        "import os, time\n"
        "f = os.open('f', os.O_RDWR | os.O_CREAT)\n"
        "os.pwrite(f, b'1' * 4096, 0); time.sleep(1.0); os.pwrite(f, b'2' * 100, 0); os.ftruncate(f, 200)\n"
    )
    command = ("trace", "record", "-q", "--backend", "strace", "--content", "-o", "t.parquet")
    cli(*command, "--flush-interval-s", "0.2", "--", sys.executable, "-B", "-c", program).done()
    rows, _ = rows_of(tmp_path / "t.parquet")
    prints = [row["fingerprints"] for row in rows]
    assert prints == [[fingerprint(b"1" * 4096)], [fingerprint(b"2" * 100 + b"1" * 100)]]
    page = b"2" * 100 + b"1" * 100 + bytes(PAGE - 200)
    assert rows[1]["compressed_bytes"] == [len(pa.compress(page, codec="lz4_raw", asbytes=True))]


@pytest.mark.usefixtures("strace")
def test_what_cannot_be_known_is_unknown(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"o" * 6000)
    (tmp_path / "lines").write_bytes(b"l" * 5000)
    program = (
        "import mmap, os\n"
        "f = os.open('old', os.O_RDWR | os.O_CREAT)\n"
        "os.pwrite(f, b'a' * 10, 0); os.fsync(f)\n"  # the rest of the page was there before: unknown
        "os.pwrite(f, b'b' * 4086, 10); os.fsync(f)\n"  # now all of it is written
        "os.pwrite(f, b'c' * 10, 8192); os.fsync(f)\n"  # beyond the former end
        "os.pwrite(f, b'd' * 5, 0); os.fsync(f)\n"
        "g = os.open('lines', os.O_WRONLY | os.O_APPEND)\n"
        "os.write(g, b'm' * 8192); os.fsync(g)\n"  # three pages, of which the first has old bytes
        "h = os.open('mapped', os.O_RDWR | os.O_CREAT)\n"
        "os.pwrite(h, b'h' * 4096, 0); os.fsync(h)\n"
        "m = mmap.mmap(h, 4096); m[0:1] = b'!'\n"
        "os.pwrite(h, b'i' * 10, 4000); os.fsync(h)\n"
        "os.unlink('old'); os.unlink('lines'); os.unlink('mapped')\n"
    )
    command = ("trace", "record", "-q", "--backend", "strace", "--content", "-o", "t.parquet")
    cli(*command, "--", sys.executable, "-B", "-c", program).done()
    rows, content = rows_of(tmp_path / "t.parquet")
    prints = [value for row in rows if row["op"] == "write" for value in row["fingerprints"]]
    first = b"a" * 10 + b"b" * 4086
    assert prints == [
        *(None, fingerprint(first), fingerprint(b"c" * 10), fingerprint(b"d" * 5 + first[5:])),
        *(None, fingerprint(b"m" * PAGE), fingerprint(b"m" * (5000 + 8192 - 3 * PAGE))),
        *(fingerprint(b"h" * PAGE), None),
    ]
    assert (content["pages_known"], content["pages_unknown"]) == (6, 3)


@pytest.mark.usefixtures("strace")
def test_copied_pages_are_looked_up_in_the_file(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(b"s" * 3 * PAGE)
    program = (
        "import os\n"
        "s, f = os.open('source', os.O_RDONLY), os.open('f', os.O_RDWR | os.O_CREAT)\n"
        "os.sendfile(f, s, 0, 3 * 4096); os.fsync(f); os.pwrite(f, b't', 0)\n"
    )
    command = ("trace", "record", "-q", "--backend", "strace", "--content", "-o", "t.parquet")
    cli(*command, "--", sys.executable, "-B", "-c", program).done()
    rows, content = rows_of(tmp_path / "t.parquet")
    full = fingerprint(b"s" * PAGE)
    last = fingerprint(b"t" + b"s" * (PAGE - 1))
    assert [row["fingerprints"] for row in rows] == [[None, full, full], [last]]
    assert (content["pages_known"], content["pages_known_from_files"]) == (3, 3)


def data_of(text: str) -> bytes | None:
    tally = Tally()
    (call,) = strace_text.StraceParser(tally, data=True).calls([f"7 1.5 {text}\n"])
    assert tally.malformed_lines == 0
    return call.data


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('write(3</a>, "a\\"b\\\\c\\0\\1\\0012\\377\\n\\t", 12) = 12', b'a"b\\c\0\1\x012\xff\n\t'),
        ('write(3</a>, "), 5) = 5 <unfinished ...>", 26) = 26', b"), 5) = 5 <unfinished ...>"),
        ('pwrite64(3</a>, "abcdef", 6, 8192) = 4', b"abcd"),  # written in part
        ('write(3</a>, "abc"..., 100) = 100', b"abc"),  # cut off by strace
        ("write(3</a>, 0x7ffe1234, 100) = 100", None),
        ('write(3</a>, "abc", 100) = 100', None),  # strace contradicts itself
        (
            'writev(4, [{iov_base="ab}", iov_len=3}, {iov_base=NULL, iov_len=0}, {iov_base="7", iov_len=1}], 3) = 4',
            b"ab}7",
        ),
        ('writev(4</a>, [{iov_base="ab"..., iov_len=9}, {iov_base="c", iov_len=1}], 2) = 10', b"ab"),
        ('writev(4</a>, [{iov_base="ab", iov_len=2}, ...], 2) = 10', b"ab"),
        ("writev(4</a>, 0x1234, 2) = 10", None),
        ("copy_file_range(3</a>, NULL, 4</b>, [512], 99, 0) = 40", None),
        ('write(3</a>, "\\x61\\x62", 2) = 2', b"ab"),  # as -xx prints it
    ],
)
def test_data_in_the_text_of_strace(text: str, expected: bytes | None) -> None:
    assert data_of(text) == expected


def quoted(data: bytes) -> str:
    """As strace quotes by default."""
    simple = {34: '\\"', 92: "\\\\", 10: "\\n", 9: "\\t", 13: "\\r", 11: "\\v", 12: "\\f"}
    out = []
    for index, byte in enumerate(data):
        digit = index + 1 < len(data) and 48 <= data[index + 1] < 58
        out.append(simple.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}" if digit else f"\\{byte:o}"))
    return "".join(out)


@given(st.lists(st.binary(max_size=60), min_size=1, max_size=5), st.integers(0, 300))
def test_data_survives_quoting(parts: list[bytes], done: int) -> None:
    whole = b"".join(parts)
    done = min(done, len(whole))
    assert data_of(f'write(3</a>, "{quoted(whole)}", {len(whole)}) = {done}') == whole[:done]
    vector = ", ".join(f'{{iov_base="{quoted(part)}", iov_len={len(part)}}}' for part in parts)
    assert data_of(f"writev(3</a>, [{vector}], {len(parts)}) = {done}") == whole[:done]


MALFORMED = st.text(alphabet='write(3</a>, "\\x0N{u}U12)= <unfinished ...>[{]}iov_base=len,.-9\n', max_size=120)


@given(MALFORMED)
def test_malformed_data_breaks_nothing(text: str) -> None:
    starts = ("", "7 1.0 ", '7 1.0 write(3</a>, "', '7 1.0 writev(3</a>, [{iov_base="', "7 1.0 pwritev(3</a>, [")
    ends = ("", '", 5) = 5', '", iov_len=3}], 2) = 3', "], 2, 0) = 7")
    for start in starts:
        for end in ends:
            lines = [start + line + end for line in text.split("\n")]
            for call in strace_text.StraceParser(Tally(), data=True).calls(lines):
                assert call.data is None or len(call.data) <= call.length
    strace_data.written("write", ["3", text, "5"], 5, strace_text.split_arguments)


def test_a_cut_write_leaves_the_rest_unknown(tmp_path: Path) -> None:
    shadow = Shadow(tmp_path, Before([str(tmp_path)]))
    file = File(0, {str(tmp_path / "f")}, "f")
    shadow.begin(file, str(tmp_path / "f"))
    for page in range(2):
        shadow.patch(file, 0, 2 * PAGE, b"x" * (PAGE + 10), page)
    assert shadow.page(0, 0) == b"x" * PAGE
    assert shadow.page(0, 1) is None
    assert shadow.cut_bytes == PAGE - 10
    assert shadow.page(0, 2) == bytes(PAGE)  # a hole
    shadow.cut(file, PAGE + 10)  # what was unknown is gone
    assert shadow.page(0, 1) == (b"x" * 10).ljust(PAGE, b"\0")
    shadow.close()


def test_what_was_there_before(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "old").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("folder")
    at = str(tmp_path)
    before = Before([at])
    assert [before.size(f"{at}/{name}") for name in ("folder/old", "new", "folder/new", "made/since")] == [5, 0, 0, 0]
    assert before.size(f"{at}/link") is None
    assert before.size("/elsewhere/file") is None
    before.note(f"{at}/folder", None)  # another folder was moved there
    before.note(f"{at}/folder/gone", 0)
    assert before.size(f"{at}/folder/old") is None
    assert before.size(f"{at}/folder/gone") == 0
    few = Before([at], most=1)  # the inner folder is not listed any more
    assert (few.size(f"{at}/new"), few.size(f"{at}/folder/old")) == (0, None)


def test_what_is_flushed_within_a_write_has_the_old_data_ahead_of_it(tmp_path: Path) -> None:
    # At most 2 pages may be dirty. Page 3 is, then pages 1 to 4 are written in one call: at page 2 the model writes out
    # the two that have waited longest, page 3 (as it was) and page 1 (as it is now).
    taken: list[tuple[int, list[int | None]]] = []
    shadow = Shadow(tmp_path, Before([str(tmp_path)]))
    distinct = DistinctPages(tmp_path, fingerprint)
    content = WrittenContent(shadow, distinct)

    def emit(request: Request) -> None:
        content.take(request)
        row = content.of_row(len(taken))
        assert row is not None
        taken.append((request.file_page, row[0]))

    cache = PageCache(Layout(), CacheModel(100 * PAGE / MIB, dirty_ratio=0.02), emit)
    tracker = FileTracker(cache, ContextTable(), {}, str(tmp_path), [], shadow=shadow)
    tracker.take(Call(1, 1, "open", path="f", result=3, flags=frozenset({"O_RDWR", "O_CREAT"})))
    tracker.take(Call(2, 1, "write", fd=3, offset=3 * PAGE, length=PAGE, data=b"a" * PAGE))
    tracker.take(Call(3, 1, "write", fd=3, offset=PAGE, length=4 * PAGE, data=b"b" * 4 * PAGE))
    tracker.take(Call(4, 1, "sync", fd=3))
    a, b = fingerprint(b"a" * PAGE), fingerprint(b"b" * PAGE)
    assert taken == [(1, [b]), (3, [a]), (2, [b, b]), (4, [b])]
    shadow.close()
    distinct.close()


def test_collisions_get_fingerprints_of_their_own(tmp_path: Path) -> None:
    rng = random.Random(9)
    pool = [rng.randbytes(PAGE) for _ in range(40)]
    written = [rng.choice(pool) for _ in range(400)]
    for bits in (0, 2, 64):
        # Of a hash with few bits most contents collide, at the end of the range, too.
        distinct = DistinctPages(tmp_path, lambda page, bits=bits: fingerprint(page) | (2**64 - 2**bits))  # type: ignore[misc]
        values = [distinct.fingerprint(page) for page in written]
        assert all(0 <= value < 2**64 for value in values)
        assert len(set(values)) == len(set(written))
        assert all((a == b) == (values[n] == values[m]) for n, a in enumerate(written) for m, b in enumerate(written))
        assert distinct.collisions >= len(set(written)) - 2**bits
        assert (distinct.collisions == 0) == (bits == 64)
        distinct.close()


@pytest.mark.usefixtures("strace")
def test_a_recording_compares_bytes(cli: Cli, tmp_path: Path) -> None:
    # The command line as it is, with a fingerprint of one bit.
    main = (
        "from floatgate.trace.recorder import session\n"
        "whole = session.fingerprint\n"
        "session.fingerprint = lambda page: whole(page) & 1\n"
        "from floatgate.cli import main\n"
        "main()\n"
    )
    program = (
        "import os\n"
        "f = os.open('f', os.O_RDWR | os.O_CREAT)\n"
        "for n in [1, 2, 3, 1, 2, 3]:\n"
        "    os.pwrite(f, b'%d' % n * 4096, 0); os.fsync(f)\n"
    )
    command = ("trace", "record", "-q", "--backend", "strace", "--content", "-o", "t.parquet")
    called = [sys.executable, "-c", main, *command, "--", sys.executable, "-B", "-c", program]
    subprocess.run(called, cwd=tmp_path, check=True)
    rows, content = rows_of(tmp_path / "t.parquet")
    values = [value for row in rows for value in row["fingerprints"]]
    assert len(values) == 6
    assert values[:3] == values[3:]
    assert len(set(values)) == 3
    assert content["fingerprint_collisions"] in {1, 2}
