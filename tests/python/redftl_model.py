"""An independent model of redFTL's hot pages and replicas, written from sections 3.3 and 3.4 of the dissertation.

A drive of one plane that holds what was written once; enough blocks are free for collection never to begin. Pages are
read and overwritten one at a time. It shares no code with the core. Choices that the text leaves open are as
docs/read-disturb.md has them. Where no page is hot, a random half of a block gets replicas; the model refuses such a
load, since its random numbers are its own.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Page:
    """A programmed page: whose data it holds, and its reads since then, with the first and the last in logical time."""

    lpn: int
    live: bool = True
    replica: bool = False
    reads: int = 0
    first: int = 0
    last: int = 0


@dataclass
class Block:
    """A block: pages in the order of programming, its reads, and whether it may still take replicas."""

    number: int
    pages: list[Page] = field(default_factory=list)
    reads: int = 0
    closed: bool = False
    tail_left: int = 0
    erases: int = 0


@dataclass(frozen=True)
class Shape:
    """The drive and redFTL's parameters."""

    blocks: int = 64
    pages: int = 32
    max_reads: int = 600
    tail: int = 6
    hot_factor: float = 2.0
    create_at: float = 0.7
    migrate_at: float = 0.9


class RedFtl:
    """The drive; ``counts`` has what happened."""

    def __init__(self, shape: Shape, logical: int) -> None:
        """Write all ``logical`` pages once, in their order."""
        self.shape = shape
        self.blocks = [Block(number) for number in range(shape.blocks)]
        self.free = [(0, number) for number in range(shape.blocks)]
        self.original: dict[int, tuple[Block, Page]] = {}
        self.replica: dict[int, tuple[Block, Page]] = {}
        self.pool: deque[Block] = deque()
        self.served: deque[Block] = deque()
        self.now = 0
        self.counts: Counter[str] = Counter()
        self.frontier: Block | None = None
        self.targets: list[Block | None] = [None, None]
        for lpn in range(logical):
            self.write(lpn)

    def run(self, requests: Iterable[tuple[str, int]]) -> Counter[str]:
        """Serve requests, each of one page, and return the counts."""
        for kind, lpn in requests:
            if kind == "Read":
                self.read(lpn)
            else:
                self.write(lpn)
        return self.counts

    def write(self, lpn: int) -> None:
        """Overwrite a page: the original dies, and its replica with it."""
        if lpn in self.original:
            self.original[lpn][1].live = False
        if lpn in self.replica:
            self.replica.pop(lpn)[1].live = False
            self.counts["died_by_update"] += 1
        if self.frontier is None or self._is_full(self.frontier):
            if self.frontier is not None:
                self._close(self.frontier)
            self.frontier = self._opened()
        self._program(self.frontier, lpn)

    def read(self, lpn: int) -> None:
        """Read a page from its replica if it has one, and act on what its block has reached."""
        block, page = self.replica.get(lpn) or self.original[lpn]
        self.now += 1
        page.first = page.first or self.now
        page.reads += 1
        page.last = self.now
        before = block.reads
        block.reads += 1
        self._act(block, before)

    def _act(self, block: Block, before: int) -> None:
        shape = self.shape
        if block.reads >= shape.max_reads:
            self._reclaim(block)
            return
        create, migrate = int(shape.create_at * shape.max_reads), int(shape.migrate_at * shape.max_reads)
        if before < create <= block.reads:
            self._replicate(block, self._hot(block))
        elif before < migrate <= block.reads and block.closed:
            self._promote(block)

    def _hot(self, block: Block) -> list[Page]:
        """Return pages whose rate exceeds ``hot_factor`` times that of the block, over its live pages."""
        read = [page for page in block.pages if page.reads > 0]
        live = [page for page in block.pages if page.live and not page.replica]
        span = max(page.last for page in read) - min(page.first for page in read)
        of_block = sum(page.reads for page in read) / max(span, 1) / len(live)
        hot = [page for page in live if _rate(page) > self.shape.hot_factor * of_block]
        if not hot:
            raise ValueError("no page is hot")
        return hot

    def _replicate(self, source: Block, pages: list[Page]) -> None:
        self.counts["replications"] += 1
        for done, page in enumerate(pages):
            if page.lpn in self.replica:
                continue
            before = source.reads
            if before >= self.shape.max_reads:
                break
            holder = self._holder(source)
            if holder is None:
                self.counts["refused"] += len(pages) - done
                break
            source.reads += 1
            holder.tail_left -= 1
            copy = Page(page.lpn, replica=True)
            holder.pages.append(copy)
            self.replica[page.lpn] = (holder, copy)
            self.counts["made"] += 1
            if before < int(self.shape.migrate_at * self.shape.max_reads) <= source.reads:
                self._promote(source)
        if source.reads >= self.shape.max_reads:
            self._reclaim(source)

    def _holder(self, source: Block) -> Block | None:
        """Take the next healthy block: the first of the pool, out of it for a round."""
        for _ in range(2):
            for block in list(self.pool):
                if block is source:
                    continue
                self.pool.remove(block)
                if block.tail_left > 0 and block.reads < int(self.shape.create_at * self.shape.max_reads):
                    self.served.append(block)
                    return block
            self.pool.extend(self.served)
            self.served.clear()
        return None

    def _promote(self, block: Block) -> None:
        for page in block.pages:
            if page.replica and page.live:
                self.original[page.lpn][1].live = False
                self.original[page.lpn] = self.replica.pop(page.lpn)
                page.replica = False
                self.counts["promoted"] += 1

    def _reclaim(self, block: Block) -> None:
        """Move the live pages and erase the block, with the replicas that it holds."""
        if self.frontier is block:
            self.frontier = None
        self.targets = [None if target is block else target for target in self.targets]
        live = [page for page in block.pages if page.live and not page.replica]
        self._deal(sorted(live, key=lambda page: -page.reads))
        self.counts["reclaims"] += 1
        self.counts["moved"] += len(live)
        for page in block.pages:
            if page.replica and page.live:
                del self.replica[page.lpn]
                self.counts["died_by_erase"] += 1
        for queue in (self.pool, self.served):
            if block in queue:
                queue.remove(block)
        self.blocks[block.number] = Block(block.number, erases=block.erases + 1)
        heapq.heappush(self.free, (block.erases + 1, block.number))

    def _deal(self, live: list[Page]) -> None:
        """Deal pages to two blocks, which stay open for the next reclaim until they are full."""
        for to, page in enumerate(live):
            target = self.targets[to % 2]
            if target is not None and self._is_full(target):
                self._close(target)
                target = None
            if target is None:
                target = self.targets[to % 2] = self._opened()
            self._program(target, page.lpn)
        # Of two blocks that one reclaim fills, the first target joins the pool first, whichever was full first.
        for to, target in enumerate(self.targets):
            if target is not None and self._is_full(target):
                self._close(target)
                self.targets[to] = None

    def _opened(self) -> Block:
        _, number = heapq.heappop(self.free)
        return self.blocks[number]

    def _program(self, block: Block, lpn: int) -> None:
        page = Page(lpn)
        block.pages.append(page)
        self.original[lpn] = (block, page)

    def _is_full(self, block: Block) -> bool:
        return len(block.pages) == self.shape.pages - self.shape.tail

    def _close(self, block: Block) -> None:
        block.closed, block.tail_left = True, self.shape.tail
        self.pool.append(block)


def _rate(page: Page) -> float:
    return page.reads / max(page.last - page.first, 1) if page.reads > 1 else 0.0
