"""Who wrote a page, and the page cache that writes by evictions alone: cases worked by hand, and a naive model."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from floatgate.trace.recorder.calls import Call, Frame
from floatgate.trace.recorder.contexts import ContextTable
from floatgate.trace.recorder.files import FileTracker
from floatgate.trace.recorder.layout import File, Layout
from floatgate.trace.recorder.page_cache import LRU, READ, TRIM, WRITE, CacheModel, PageCache, Request, Writer
from floatgate.trace.recorder.processes import Birth, Processes

SECOND = 1_000_000_000
PAGE = 4096


class Evicting:
    """A cache of a few pages under ``lru``, a file, and the requests that come out."""

    def __init__(self, pages: int) -> None:
        self.requests: list[Request] = []
        model = CacheModel(pages * PAGE / 2**20, writeback=LRU)
        self.cache = PageCache(Layout(), model, self.requests.append)
        self.file = File(0, {"/a"}, "/a")

    def write(self, at_s: int, page: int, pages: int = 1, *, sync: bool = False, direct: bool = False) -> None:
        self.cache.write(at_s * SECOND, self.file, page * PAGE, pages * PAGE, page, sync=sync, direct=direct)

    def take(self) -> list[tuple[int, int, int, int, int | None]]:
        """What came out since: seconds, operation, page, pages, context."""
        taken = [(r.time_ns // SECOND, r.op, r.lpn, r.pages, r.context) for r in self.requests]
        self.requests.clear()
        return taken


def test_the_least_recently_used_page_leaves_and_nothing_else_writes() -> None:
    bench = Evicting(3)
    for page in (0, 10, 20):
        bench.write(page, page)
    bench.write(21, 0)
    bench.cache.sync(22 * SECOND, bench.file)
    bench.cache.sync_all(23 * SECOND)
    bench.write(24, 20, sync=True)
    bench.cache.advance(10_000 * SECOND)
    assert bench.take() == []
    bench.write(10_001, 30)  # 10 has waited longest, then 0, then 20
    bench.cache.read(10_002 * SECOND, bench.file, 0, PAGE)  # a hit makes 0 the youngest
    bench.write(10_003, 40)
    assert bench.take() == [(10_001, WRITE, 10, 1, 10), (10_003, WRITE, 20, 1, 20)]
    bench.cache.finish(10_004 * SECOND)
    assert bench.take() == []
    assert bench.cache.dirty_pages == 3
    assert bench.cache.pages.total() == 2


def test_a_clean_page_leaves_without_a_write() -> None:
    bench = Evicting(2)
    bench.cache.read(0, bench.file, 5 * PAGE, PAGE)
    bench.write(1, 6)
    bench.write(2, 7)  # pushes out page 5
    bench.write(3, 8)  # pushes out page 6
    assert bench.take() == [(0, READ, 5, 1, None), (3, WRITE, 6, 1, 6)]


def test_direct_writes_pass_by_the_cache_and_deletion_trims() -> None:
    bench = Evicting(4)
    bench.write(1, 0, pages=2, direct=True)
    bench.write(2, 1)
    assert bench.take() == [(1, WRITE, 0, 2, 0)]
    bench.cache.discard(3 * SECOND, bench.file, 0)
    assert bench.take() == [(3, TRIM, 0, 2, None)]
    assert bench.cache.dirty_pages == 0


@given(
    capacity=st.integers(1, 6),
    steps=st.lists(st.tuples(st.sampled_from("wwwrst"), st.integers(0, 9)), max_size=80),
)
def test_evictions_are_those_of_a_naive_list(capacity: int, steps: list[tuple[str, int]]) -> None:
    bench = Evicting(capacity)
    order: list[int] = []  # least recently used first
    dirty: set[int] = set()
    expected = []
    for now, (kind, page) in enumerate(steps):
        if kind == "w":
            bench.write(now, page)
        elif kind == "r":
            bench.cache.read(now * SECOND, bench.file, page * PAGE, PAGE)
        elif kind == "s":
            bench.cache.sync(now * SECOND, bench.file)
        else:
            bench.cache.advance(now * SECOND)
        if kind not in "wr":
            continue
        if page in order:
            order.remove(page)
        order.append(page)
        if kind == "w":
            dirty.add(page)
        if len(order) > capacity:
            oldest = order.pop(0)
            if oldest in dirty:
                dirty.remove(oldest)
                expected.append((now, WRITE, oldest, 1, oldest))
    assert [row for row in bench.take() if row[1] == WRITE] == expected
    assert bench.cache.dirty_pages == len(dirty)


def test_pages_of_different_writers_go_apart() -> None:
    requests: list[Request] = []
    cache = PageCache(Layout(), CacheModel(), requests.append)
    file = File(0, {"/a"}, "/a")
    one, two = Writer(7, 7, 3), Writer(7, 8, 3)
    for page, writer in ((0, one), (1, one), (2, two), (3, two), (4, None), (5, one._replace(fd=4)), (1, two)):
        cache.write(0, file, page * PAGE, PAGE, 99, sync=False, direct=False, writer=writer)
    cache.sync(0, file)
    assert [(r.lpn, r.pages, r.writer) for r in requests] == [
        (0, 1, one),
        (1, 3, two),  # page 1 was written last by the other thread
        (4, 1, None),
        (5, 1, Writer(7, 7, 4)),
    ]


def test_a_number_that_is_used_again_makes_no_circle() -> None:
    births = {
        # 1 starts 2 and ends; 2 starts a process that gets the number 1 again.
        2: Birth(1, shares_files=False, is_thread=False),
        1: Birth(2, shares_files=False, is_thread=False),
        # The same of threads.
        3: Birth(4, shares_files=True, is_thread=True),
        4: Birth(3, shares_files=True, is_thread=True),
        5: Birth(5, shares_files=False, is_thread=False),
    }
    processes = Processes(births)
    assert [processes.of(task) for task in (1, 2, 5)] == [1, 2, 5]
    assert processes.of(3) in (3, 4)
    processes.execute(1, "/bin/sh")
    processes.execute(5, "/bin/cp")
    assert processes.described({1, 2, 5}) == {
        "1": {"name": "sh", "programs": ["sh"]},
        "2": {"name": None, "programs": []},
        "5": {"name": "cp", "programs": ["cp"]},
    }


def test_threads_belong_to_processes_and_children_inherit_programs() -> None:
    births = {2: Birth(1, True, True), 3: Birth(2, True, True), 4: Birth(3, False, False)}
    processes = Processes(births)
    processes.execute(1, "/bin/sh")
    assert [processes.of(task) for task in (1, 2, 3, 4)] == [1, 1, 1, 4]
    processes.execute(1, "/usr/bin/make")
    processes.execute(4, "/usr/lib/gcc/cc1")
    processes.execute(4, "")  # a program whose name is unknown
    births[9] = Birth(1, False, False)
    assert processes.of(9) == 9
    assert processes.of(50) == 50  # nobody saw it start
    assert processes.described({1, 4, 9, 50}) == {
        "1": {"name": "make", "programs": ["sh", "make"]},
        "4": {"name": "cc1", "programs": ["sh", "cc1"]},
        "9": {"name": "make", "programs": ["make"]},
        "50": {"name": None, "programs": []},
    }


def test_the_tracker_says_who_wrote() -> None:
    requests: list[Request] = []
    tracker = FileTracker(PageCache(Layout(), CacheModel(), requests.append), ContextTable(), {}, "/w", [])
    base = Call(1, 1, "exec", path="/bin/first", frames=(Frame("w", 1, "main"),))
    tracker.take(base)
    tracker.take(base._replace(name="open", path="/w/a", result=5, flags=frozenset({"O_RDWR", "O_CREAT"})))
    tracker.take(base._replace(name="spawn", result=2, flags=frozenset({"CLONE_FILES", "CLONE_THREAD"})))
    tracker.take(base._replace(name="spawn", result=3))
    tracker.take(base._replace(task=3, path="/bin/second"))
    for place, task in enumerate((1, 2, 3)):
        tracker.take(base._replace(name="write", task=task, fd=5, offset=place * PAGE, length=PAGE))
    tracker.take(base._replace(name="sync", fd=5))
    assert [r.writer for r in requests] == [Writer(1, 1, 5), Writer(1, 2, 5), Writer(3, 3, 5)]
    assert tracker.processes.described({1, 3}) == {
        "1": {"name": "first", "programs": ["first"]},
        "3": {"name": "second", "programs": ["first", "second"]},
    }
