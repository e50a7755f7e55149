"""The logical layout, the page cache and the following of descriptors: cases worked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from floatgate.trace.recorder.calls import DELETED, Call, Frame
from floatgate.trace.recorder.contexts import ContextTable
from floatgate.trace.recorder.descriptors import BLOCK_DEVICE, UNKNOWN, Inherited, kind_of
from floatgate.trace.recorder.files import FileTracker
from floatgate.trace.recorder.layout import EXTENT_PAGES, File, Layout
from floatgate.trace.recorder.page_cache import READ, TRIM, WRITE, CacheModel, PageCache, Request

SECOND = 1_000_000_000
PAGE = 4096


class Bench:
    """A page cache with two files and the requests that come out."""

    def __init__(self, pages: int = 1000, dirty_ratio: float = 1.0, flush_interval_s: float = 30.0) -> None:
        self.requests: list[Request] = []
        self.layout = Layout()
        self.cache = PageCache(
            self.layout, CacheModel(pages * PAGE / 2**20, dirty_ratio, flush_interval_s), self.requests.append
        )
        self.a, self.b = (File(number, {name}, name) for number, name in enumerate(("/a", "/b")))

    def write(
        self, at_s: float, file: File, page: int, pages: int = 1, context: int = 1, *, sync: bool = False
    ) -> None:
        now = int(at_s * SECOND)
        self.cache.write(now, file, page * PAGE, pages * PAGE, context, sync=sync, direct=False)

    def take(self) -> list[tuple[float, int, int, int, int | None]]:
        """What came out since: seconds, operation, page of the drive, pages, context."""
        taken = [(r.time_ns / SECOND, r.op, r.lpn, r.pages, r.context) for r in self.requests]
        self.requests.clear()
        return taken


def test_extents_come_in_order_of_first_use_and_are_used_again() -> None:
    layout = Layout()
    a, b, c = (File(number, set(), "") for number in range(3))
    assert layout.place(a, 5) == 5
    assert layout.place(b, 0) == EXTENT_PAGES
    assert layout.place(a, 3 * EXTENT_PAGES) == 2 * EXTENT_PAGES
    assert layout.place(a, 6) == 6
    assert layout.find(a, EXTENT_PAGES) is None
    assert layout.owner(2 * EXTENT_PAGES + 7) == (a, 3 * EXTENT_PAGES + 7)
    layout.release(a, 10)  # the extent that page 10 lies in stays
    assert layout.find(a, 6) == 6
    assert layout.find(a, 3 * EXTENT_PAGES) is None
    assert layout.place(c, 0) == 2 * EXTENT_PAGES
    assert layout.pages == 3 * EXTENT_PAGES


def test_fsync_writes_the_file_in_its_order_merged_by_context() -> None:
    bench = Bench()
    bench.write(0, bench.b, 0)
    for page, context in ((3, 1), (0, 1), (1, 1), (2, 2), (5, 1)):
        bench.write(1, bench.a, page, context=context)
    bench.cache.sync(2 * SECOND, bench.a)
    a = EXTENT_PAGES
    expected = [
        (2, WRITE, a, 2, 1),
        (2, WRITE, a + 2, 1, 2),
        (2, WRITE, a + 3, 1, 1),
        (2, WRITE, a + 5, 1, 1),
    ]
    assert bench.take() == expected
    bench.cache.sync(3 * SECOND, bench.a)
    assert bench.take() == []
    bench.cache.sync_all(4 * SECOND)
    assert bench.take() == [(4, WRITE, 0, 1, 1)]


def test_the_flusher_wakes_every_five_seconds() -> None:
    # Wakeups at 5, 10, ... after the first write at 0. Page 0 of a is dirty from 1 s, so it is 30 s old at the wakeup
    # at 35 s (29 s at 30 s); the younger page of the same file goes with it, file b (from 7 s) at 40 s.
    bench = Bench()
    bench.write(0, bench.b, 9, sync=True)
    bench.take()
    bench.write(1, bench.a, 0)
    bench.write(7, bench.b, 0)
    bench.write(20, bench.a, 0, context=2)  # a later write keeps the age and takes over the context
    bench.write(33, bench.a, 1, context=2)
    bench.cache.finish(34 * SECOND)
    assert bench.take() == [(35, WRITE, EXTENT_PAGES, 2, 2), (40, WRITE, 0, 1, 1)]


def test_too_much_dirt_is_written_down_to_half() -> None:
    # 10 pages of cache, half of which may be dirty: the sixth dirty page writes out the oldest 6 - 5 // 2 = 4.
    bench = Bench(pages=10, dirty_ratio=0.5)
    for page in (4, 0, 1, 2, 3):
        bench.write(0, bench.a, page)
    assert bench.take() == []
    bench.write(1, bench.a, 7)
    assert bench.take() == [(1, WRITE, 0, 3, 1), (1, WRITE, 4, 1, 1)]


def test_a_full_cache_evicts_the_least_recently_used_page() -> None:
    bench = Bench(pages=3)
    for page in (0, 10, 20):
        bench.write(page, bench.a, page, context=page)
    bench.write(21, bench.a, 0, context=5)  # page 10 is now the least recently used
    bench.write(22, bench.a, 30)
    assert bench.take() == [(22, WRITE, 10, 1, 10)]


def test_reads_come_out_where_they_miss() -> None:
    bench = Bench()
    bench.write(0, bench.a, 1)
    bench.cache.read(SECOND, bench.a, 0, 4 * PAGE)
    assert bench.take() == [(1, READ, 0, 1, None), (1, READ, 2, 2, None)]
    bench.cache.read(2 * SECOND, bench.a, 0, 4 * PAGE)
    assert bench.take() == []


def test_requests_are_at_most_512_kib() -> None:
    bench = Bench()
    bench.write(0, bench.a, 0, pages=300)
    bench.cache.sync(0, bench.a)
    assert [request[3] for request in bench.take()] == [128, 128, 44]


def test_deleted_data_is_trimmed_where_the_drive_has_it() -> None:
    bench = Bench()
    bench.write(0, bench.a, 0, pages=4)
    bench.cache.sync(0, bench.a)
    bench.write(1, bench.a, 4, pages=2)  # never written back
    bench.take()
    bench.cache.discard(2 * SECOND, bench.a, 1)
    assert bench.take() == [(2, TRIM, 1, 3, None)]
    bench.cache.discard(3 * SECOND, bench.a, 0)
    assert bench.take() == [(3, TRIM, 0, 1, None)]
    bench.write(4, bench.b, 0)
    assert bench.layout.find(bench.b, 0) == 0
    bench.cache.finish(4 * SECOND)
    assert bench.cache.updates.total() == 0


def test_updates_count_for_the_context_that_wrote_the_old_data() -> None:
    bench = Bench()
    for context in (1, 2, 2):
        bench.write(0, bench.a, 0, context=context, sync=True)
    assert bench.cache.pages == {1: 1, 2: 2}
    assert bench.cache.updates == {1: 1, 2: 1}


class Program:
    """A followed program: calls in, requests out."""

    def __init__(self, inherited: list[Inherited] | None = None, cwd: str = "/w", *, keep_reads: bool = False) -> None:
        self.requests: list[Request] = []
        self.time_ns = 0
        self.cache = PageCache(Layout(), CacheModel(), self.requests.append)
        self.tracker = FileTracker(self.cache, ContextTable(), {}, cwd, inherited or [], keep_reads=keep_reads)

    def call(self, name: str, task: int = 1, **fields: object) -> None:
        self.time_ns += 1
        call = Call(self.time_ns, task, name, frames=(Frame("w", 1, "main"),))
        self.tracker.take(call._replace(**fields))  # type: ignore[arg-type]

    def open(self, path: str, fd: int, *flags: str, task: int = 1) -> None:
        self.call("open", task, path=path, result=fd, flags=frozenset({"O_RDWR", "O_CREAT", *flags}))

    def write(self, fd: int, pages: float, offset: float | None = None, task: int = 1) -> None:
        place = None if offset is None else int(offset * PAGE)
        self.call("write", task, fd=fd, length=int(pages * PAGE), offset=place)

    def written(self, path: str) -> list[tuple[int, int]]:
        """Write out everything; the file's pages, as runs, of all writers."""
        self.requests.clear()
        self.call("sync_all")
        number = next(file.number for file in self.tracker.files if path in file.names or file.last_name == path)
        runs: list[tuple[int, int]] = []
        for r in self.requests:
            if r.file == number and r.op == WRITE:
                first, pages = runs.pop() if runs and sum(runs[-1]) == r.file_page else (r.file_page, 0)
                runs.append((first, pages + r.pages))
        return runs


def test_writes_go_where_the_descriptor_stands() -> None:
    program = Program()
    program.open("/w/a", 3)
    program.write(3, 2)
    program.write(3, 1, offset=9)  # pwrite leaves the offset
    program.write(3, 1)
    program.call("seek", fd=3, result=20 * PAGE)
    program.write(3, 0.5)
    assert program.written("/w/a") == [(0, 3), (9, 1), (20, 1)]


def test_duplicates_and_children_share_the_offset() -> None:
    program = Program()
    program.open("/w/a", 3)
    program.call("dup", fd=3, result=5)
    program.write(3, 1)
    program.call("spawn", result=2)
    program.write(5, 1, task=2)
    program.call("exit", task=2)
    program.write(3, 1)
    assert program.written("/w/a") == [(0, 3)]
    program.open("/w/a", 6)  # another description begins at 0
    program.write(6, 1)
    assert program.written("/w/a") == [(0, 1)]


def test_appends_go_to_the_end() -> None:
    program = Program()
    program.open("/w/a", 3)
    program.open("/w/a", 4, "O_APPEND")
    program.write(3, 2)
    program.write(4, 1)
    program.write(3, 1, offset=7)
    program.write(4, 1)
    assert program.written("/w/a") == [(0, 3), (7, 2)]


def test_exec_closes_what_is_marked() -> None:
    program = Program()
    program.open("/w/a", 3, "O_CLOEXEC")
    program.open("/w/b", 4)
    program.call("exec")
    program.write(3, 1)
    program.write(4, 1)
    assert program.written("/w/b") == [(0, 1)]
    # Nobody knows where the first one went: it is no pipe and no terminal.
    unseen = program.tracker.unseen.to_dict()
    assert (program.tracker.counts["writes_elsewhere"], unseen["writes"], unseen["write_bytes"]) == (0, 1, PAGE)


def test_a_deleted_file_is_trimmed_at_its_last_close() -> None:
    program = Program()
    program.open("/w/a", 3)
    program.write(3, 2)
    program.call("sync", fd=3)
    program.call("link", path="a", path2="b")
    program.call("unlink", path="a")
    program.call("unlink", path="/w/b")
    assert [r.op for r in program.requests] == [WRITE]
    program.call("close", fd=3)
    assert [(r.op, r.pages) for r in program.requests] == [(WRITE, 2), (TRIM, 2)]


def test_a_rename_replaces_and_keeps_the_place() -> None:
    program = Program()
    for path, fd in (("/w/a", 3), ("/w/d/b", 4)):
        program.open(path, fd)
        program.write(fd, 1)
        program.call("sync", fd=fd)
        program.call("close", fd=fd)
    program.call("chdir", path="d")
    program.call("rename", path="../a", path2="b")
    assert [(r.op, r.file) for r in program.requests][2:] == [(TRIM, 1)]
    program.open("/w/d/b", 3)
    program.write(3, 1)
    program.call("sync", fd=3)
    assert (program.requests[-1].lpn, program.requests[-1].file) == (program.requests[0].lpn, 0)
    program.call("rename", path="/w/d", path2="/w/e")
    program.call("truncate", path="/w/e/b")
    assert program.requests[-1].op == TRIM


def test_synchronous_writes_and_what_is_no_file() -> None:
    program = Program()
    program.open("/w/a", 3, "O_DSYNC")
    program.write(3, 1)
    program.open("/dev/null", 4)
    program.write(4, 1)
    program.write(9, 1)
    assert [(r.op, r.pages) for r in program.requests] == [(WRITE, 1)]
    program.call("punch", fd=3, offset=0, length=PAGE)
    assert program.requests[-1].op == TRIM


def test_inherited_descriptors_continue_where_they_stand(tmp_path: Path) -> None:
    out = tmp_path / "out"
    program = Program([Inherited(1, str(out), 3 * PAGE)])
    program.write(1, 1)
    assert program.written(str(out)) == [(3, 1)]


def test_reads_move_the_offset_where_they_are_kept() -> None:
    program = Program(keep_reads=True)
    program.open("/w/a", 3)
    program.call("read", fd=3, length=PAGE)
    program.write(3, 1)
    assert [r.op for r in program.requests] == [READ]
    assert program.written("/w/a") == [(1, 1)]


def test_a_file_that_lost_its_name_is_not_the_new_one_of_that_name() -> None:
    program = Program()
    program.open("/w/a", 3)
    program.write(3, 1)
    program.call("unlink", path="a")
    program.open("/w/a", 4)
    program.call("write", fd=3, length=PAGE, path=f"/w/a{DELETED}")
    program.call("write", fd=4, length=PAGE, path="/w/a")
    assert [file.size for file in program.tracker.files] == [2 * PAGE, PAGE]
    assert program.tracker.counts["descriptors_not_seen_opened"] == 0
    # Where strace calls the file of a descriptor otherwise, a call that nobody saw has replaced it.
    program.open("/w/b", 5)
    program.call("write", fd=4, length=PAGE, path="/w/b")
    assert [file.size for file in program.tracker.files] == [2 * PAGE, PAGE, PAGE]
    program.call("write", fd=5, length=PAGE, path="pipe:[7]")
    assert dict(program.tracker.elsewhere) == {"pipe": 1}


def test_a_descriptor_goes_through_a_socket_with_its_offset() -> None:
    program = Program()
    program.open("/w/a", 3)
    program.open("/w/a", 4)  # another description of the file
    program.write(3, 2)
    program.call("send", passed=((3, "/w/a"),))
    program.call("close", fd=3)
    program.call("unlink", path="a")
    program.call("receive", task=2, passed=((9, f"/w/a{DELETED}"),))
    program.write(9, 1, task=2)
    assert program.written("/w/a") == [(0, 3)]
    # With its last descriptor the file is gone.
    program.call("close", fd=4)
    assert program.requests[-1].op == WRITE
    program.call("close", fd=9, task=2)
    assert program.requests[-1].op == TRIM


def test_block_devices_and_unknown_descriptors_are_not_elsewhere() -> None:
    program = Program([Inherited(1, "pipe:[5]"), Inherited(2, "", 0), Inherited(9, "pipe:[5]", shares=1)])
    for fd in (1, 2, 9, 30):
        program.call("write", fd=fd, length=10)
    program.tracker._kinds["/dev/sdz"] = BLOCK_DEVICE
    program.open("/dev/sdz", 4)
    program.write(4, 1)
    assert dict(program.tracker.elsewhere) == {"pipe": 2}
    assert program.tracker.unseen.to_dict()["writes_to"] == {
        "descriptor of unknown origin": {"writes": 2, "bytes": 20},
        "block device": {"writes": 1, "bytes": PAGE},
    }


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/w/a", "file"),
        ("/dev/pts/3", "device"),
        ("/dev/shm/x", "memory"),
        ("/memfd:buffer", "memory"),
        ("/proc/self/mem", "kernel"),
        ("anon_inode:[eventfd]", "kernel"),
        ("pipe:[3]", "pipe"),
        ("socket:[3]", "socket"),
        ("UNIX-STREAM:[3->4]", "socket"),
        ("TCP:[127.0.0.1:1->127.0.0.1:2]", "socket"),
        ("", UNKNOWN),
        ("net:[4026531840]", UNKNOWN),
    ],
)
def test_kinds_of_files(path: str, kind: str) -> None:
    assert kind_of(path, of_this_machine=False) == kind
