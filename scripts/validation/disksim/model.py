"""The timing rules of DiskSim's SSD extension, computed again, with a switch for each rule that floatgate lacks.

The extension (Agrawal et al., Design Tradeoffs for SSD Performance, USENIX ATC 2008) is the one that made the results
that `scripts/compare_disksim.py` compares with floatgate's. With all rules on, this model gives those results; with a
rule off it says what that rule costs; with those of `FLOATGATE` it gives floatgate's time of each request
(tests/python/test_disksim.py). So a difference from floatgate has a cause and a size. Figures: docs/disksim.md.

Modelled: 4 KiB pages striped over elements (packages). Each element serves one page after the other in order of
arrival. Pages go to the plane with most free pages. One block is cleaned before a page is served if a plane has too few
free blocks. Requests and their data pass one host link.

Not modelled: wear-leveling, gangs, several parallel units in an element, background cleaning, cleaning between planes.
Times are in milliseconds, as DiskSim's.
"""

from __future__ import annotations

import heapq
from array import array
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

SECTORS_PER_PAGE = 8
# Each sector of 512 bytes travels with 16 bytes of metadata; one such sector is a block's summary.
BYTES_PER_SECTOR = 528


@dataclass(frozen=True)
class Drive:
    """The parameters that count, in DiskSim's terms; times in milliseconds."""

    elements: int = 8
    planes: int = 8
    blocks_per_plane: int = 2048
    pages_per_block: int = 64
    reserved_blocks: int = 307
    """Of a plane: free blocks of a drive that is full."""
    clean_blocks: int = 102
    """Cleaning starts when a plane has this many free blocks or fewer."""
    read_ms: float = 0.025
    write_ms: float = 0.2
    erase_ms: float = 1.5
    byte_ms: float = 0.000025
    link_sector_ms: float = 0.0002384
    queue_max: int = 20

    def in_one_plane(self) -> Drive:
        """Merge all blocks of an element into one pool, cleaned when as many are free as of all planes together."""
        return replace(
            self,
            planes=1,
            blocks_per_plane=self.planes * self.blocks_per_plane,
            reserved_blocks=self.planes * self.reserved_blocks,
            clean_blocks=self.planes * (self.clean_blocks + 1) - 1,
        )


@dataclass(frozen=True)
class Rules:
    """Switches of the rules that floatgate lacks."""

    link: bool = True
    """A request's data take the host link, alone, before a write and after a read."""
    summary: bool = True
    """The last page of a block holds its summary and is programmed with the last page of data."""
    most_free: bool = True
    """A write goes to the plane of its element with most free pages; else to the plane that its page number names."""
    newest_block: bool = True
    """A page never goes to a block older than the one that holds its last version; for `most_free` alone."""
    late_clean: bool = True
    """The page that opens a block goes before the cleaning that this makes due; else the cleaning goes first."""
    sweep: bool = True
    """The driver hands on the requests that wait upwards by address (C-LOOK); else in order of arrival."""


FLOATGATE = Rules(link=False, summary=False, most_free=False, newest_block=False, late_clean=False, sweep=False)


@dataclass(frozen=True)
class Request:
    """One request of whole pages: arrival in milliseconds, first page, pages."""

    arrival_ms: float
    page: int
    pages: int
    read: bool


@dataclass
class Outcome:
    """The figures that DiskSim prints. Response times are in the order of the requests."""

    response_ms: list[float]
    done_ms: list[float]
    cleans: list[list[int]]
    """By element and plane."""
    pages_moved: int
    page_requests: list[int]
    busy_ms: list[float]
    """Time of the page requests of each element, without cleaning."""
    clean_ms: list[float]


class Element:
    """A package: one page or one cleaning after the other."""

    def __init__(self, drive: Drive, rules: Rules) -> None:
        """Fill it: every logical page is there."""
        self.rules = rules
        self.planes = drive.planes
        self.pages_per_block = drive.pages_per_block
        reserved = drive.reserved_blocks
        self.low = drive.clean_blocks
        transfer = SECTORS_PER_PAGE * BYTES_PER_SECTOR * drive.byte_ms
        self.read_ms = drive.read_ms + transfer
        self.write_ms = drive.write_ms + transfer
        self.move_ms = drive.read_ms + drive.write_ms
        self.summary_ms = BYTES_PER_SECTOR * drive.byte_ms + drive.write_ms
        self.erase_ms = drive.erase_ms
        # Block b lies in plane b modulo planes; they are filled one after the other. A block's number is its age,
        # DiskSim's sequence number: one that is cleaned comes back under a new number.
        data = drive.pages_per_block - 1
        filled = (drive.blocks_per_plane - reserved) * drive.planes
        self.block_of = array("i", (block for block in range(filled) for _ in range(data)))
        self.valid = [data] * filled
        self.plane_of = [block % drive.planes for block in range(filled)]
        self.sealed = [set(range(plane, filled, drive.planes)) for plane in range(drive.planes)]
        self.dead: list[list[int]] = [[] for _ in range(drive.planes)]
        self.free = [reserved] * drive.planes
        self.open = [0] * drive.planes
        self.position = [0] * drive.planes
        for plane in range(drive.planes):
            self._open(plane)
        self.next_write = 0
        self.next_clean = 0
        self.free_ms = 0.0
        self.cleans = [0] * drive.planes
        self.pages_moved = 0
        self.requests = 0
        self.busy_ms = 0.0
        self.clean_ms = 0.0

    def _open(self, plane: int) -> None:
        self.free[plane] -= 1
        self.open[plane] = len(self.plane_of)
        self.position[plane] = 0
        self.plane_of.append(plane)
        self.valid.append(0)

    def serve(self, page: int, read: bool, now: float) -> float:
        """Serve a page that arrives at `now`, after all before it; return when it is done."""
        now = max(now, self.free_ms)
        if self.rules.late_clean and min(self.free) <= self.low:
            now = self._clean(now)
        if read:
            cost = self.read_ms
        else:
            plane = self._plane(page)
            if not self.rules.late_clean and self.position[plane] == self.pages_per_block - 1:
                self._open(plane)
                now = self._clean(now)
            cost = self._write(page, plane) + self.write_ms
        self.requests += 1
        self.busy_ms += cost
        self.free_ms = now + cost
        return self.free_ms

    def _plane(self, page: int) -> int:
        if not self.rules.most_free:
            return page % self.planes
        oldest = self.block_of[page] if self.rules.newest_block else -1
        best, most = -1, -1
        for plane in (*range(self.next_write, self.planes), *range(self.next_write)):
            room = (self.free[plane] + 1) * self.pages_per_block - self.position[plane]
            if room > most and self.open[plane] >= oldest:
                best, most = plane, room
        self.next_write = (best + 1) % self.planes
        return best

    def _write(self, page: int, plane: int) -> float:
        """Moves the page to the plane's open block; what a summary costs, if one is due."""
        last = self.pages_per_block - 1
        if self.position[plane] == last:
            self._open(plane)
        old, new = self.block_of[page], self.open[plane]
        self.valid[old] -= 1
        if self.valid[old] == 0 and old in self.sealed[self.plane_of[old]]:
            self.dead[self.plane_of[old]].append(old)
        self.valid[new] += 1
        self.block_of[page] = new
        self.position[plane] += 1
        if self.position[plane] < last:
            return 0.0
        self.sealed[plane].add(new)
        return self.summary_ms if self.rules.summary else 0.0

    def _clean(self, now: float) -> float:
        """Cleans one block after the other, planes in turn, until every plane has enough; when that is done."""
        while True:
            turn = (*range(self.next_clean, self.planes), *range(self.next_clean))
            plane = next((p for p in turn if self.free[p] <= self.low), -1)
            if plane < 0:
                return now
            self.next_clean = (plane + 1) % self.planes
            cost = self._clean_block(plane)
            self.clean_ms += cost
            now += cost

    def _clean_block(self, plane: int) -> float:
        dead, sealed = self.dead[plane], self.sealed[plane]
        victim = dead.pop() if dead else min(sealed, key=lambda block: (self.valid[block], block))
        cost = self.erase_ms
        if self.valid[victim] > 0:
            for page in [page for page, block in enumerate(self.block_of) if block == victim]:
                cost += self.move_ms + self._write(page, plane)
                self.pages_moved += 1
            dead.remove(victim)
        sealed.remove(victim)
        self.free[plane] += 1
        self.cleans[plane] += 1
        return cost


class Simulation:
    """The drive, the link to it, and the driver's queue."""

    def __init__(self, drive: Drive, rules: Rules) -> None:
        """Make the elements, full."""
        self.elements = [Element(drive, rules) for _ in range(drive.elements)]
        self.sector_ms = drive.link_sector_ms if rules.link else 0.0
        self.sweep = rules.sweep
        self.queue_max = drive.queue_max
        self.requests: Sequence[Request] = ()
        self.done_ms: list[float] = []
        self.events: list[tuple[float, int, str, int]] = []
        self.waiting: list[tuple[int, int]] = []
        self.head = 0
        self.in_drive = 0
        self.queue: deque[int] = deque()
        self.completions: deque[int] = deque()
        self.link_taken = False

    def run(self, requests: Sequence[Request]) -> Outcome:
        """Serves all requests to their end; they come in the order of their arrival."""
        self.requests = requests
        self.done_ms = [0.0] * len(requests)
        for number, request in enumerate(requests):
            while self.events and self.events[0][0] <= request.arrival_ms:
                self._step()
            self.waiting.append((request.page, number))
            self._hand_on(request.arrival_ms)
        while self.events:
            self._step()
        elements = self.elements
        return Outcome(
            response_ms=[done - request.arrival_ms for done, request in zip(self.done_ms, requests, strict=True)],
            done_ms=self.done_ms,
            cleans=[element.cleans for element in elements],
            pages_moved=sum(element.pages_moved for element in elements),
            page_requests=[element.requests for element in elements],
            busy_ms=[element.busy_ms for element in elements],
            clean_ms=[element.clean_ms for element in elements],
        )

    def _hand_on(self, now: float) -> None:
        """The driver hands on what waits."""
        while self.waiting and self.in_drive < self.queue_max:
            if self.sweep:
                ahead = [entry for entry in self.waiting if entry[0] >= self.head]
                entry = min(ahead or self.waiting)
                self.waiting.remove(entry)
            else:
                entry = self.waiting.pop(0)
            self.head, number = entry
            self.in_drive += 1
            self.queue.append(number)
        if not self.link_taken:
            self._use_link(now)

    def _use_link(self, now: float) -> None:
        """The link serves finished requests before new ones; reads begin without it."""
        while not self.link_taken and (self.completions or self.queue):
            if self.completions:
                number = self.completions.popleft()
                if self.requests[number].read:
                    self._transfer(number, now, "returned")
                else:
                    self._finish(number, now)
            else:
                number = self.queue.popleft()
                if self.requests[number].read:
                    self._access(number, now)
                else:
                    self._transfer(number, now, "received")

    def _transfer(self, number: int, now: float, event: str) -> None:
        self.link_taken = True
        took = self.requests[number].pages * SECTORS_PER_PAGE * self.sector_ms
        heapq.heappush(self.events, (now + took, len(self.done_ms) + number, event, number))

    def _access(self, number: int, now: float) -> None:
        """The elements serve the request's pages; page p lies on element p modulo elements."""
        request, elements = self.requests[number], self.elements
        done = now
        for page in range(request.page, request.page + request.pages):
            element = elements[page % len(elements)]
            done = max(done, element.serve(page // len(elements), request.read, now))
        heapq.heappush(self.events, (done, number, "served", number))

    def _finish(self, number: int, now: float) -> None:
        self.done_ms[number] = now
        self.in_drive -= 1
        self._hand_on(now)

    def _step(self) -> None:
        now, _, event, number = heapq.heappop(self.events)
        if event == "served":
            self.completions.append(number)
        else:
            self.link_taken = False
            if event == "received":
                self._access(number, now)
            else:
                self._finish(number, now)
        if not self.link_taken:
            self._use_link(now)


def as_credited(requests: Sequence[Request], outcome: Outcome, end_ms: float) -> list[float | None]:
    """Return the response times as DiskSim's driver books them, up to the end of its run; none of those under way then.

    What is done is looked for by its address alone: in the request handed on last, then in the others in order. So of
    requests for one address that are under way together, one gets the time of another.
    """
    arrivals = ((request.arrival_ms, 1, number) for number, request in enumerate(requests))
    ends = ((done, 0, number) for number, done in enumerate(outcome.done_ms) if done < end_ms)
    response: list[float | None] = [None] * len(requests)
    under_way: list[int] = []
    for now, begins, number in sorted([*arrivals, *ends]):
        if begins:
            under_way.append(number)
            continue
        page = requests[number].page
        last = under_way[-1]
        booked = last if requests[last].page == page else next(n for n in under_way if requests[n].page == page)
        under_way.remove(booked)
        response[booked] = now - requests[booked].arrival_ms
    return response
