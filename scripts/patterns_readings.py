"""Count the patterns of a trace by each reading of the paper: all, closed and maximal sets; items starts or pages.

    python scripts/patterns_readings.py TRACE.parquet [--windows 200]

A row for each length of a transaction: patterns a window and their mean size. Sets of pages grow beyond counting; `>`
says that a window had too many subsets, of which only those of its largest set were counted, or too many sets, none of
which was. Windows are sampled at equal steps.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator

import pyarrow.parquet as pq

from floatgate.base.errors import RunError
from floatgate.trace.patterns import mine

WINDOW, MINED, SUPPORT, ITEMS_MIN = 1024, 256, 4, 3
SUBSETS_MAX = 1 << 18
LENGTHS = (4, 8, 12, 16, 32)


def windows(path: str, most: int) -> Iterator[list[tuple[int, int]]]:
    """Yield first byte and length of the mined writes of windows, evenly spaced."""
    table = pq.read_table(path, columns=["op", "offset", "bytes"])
    rows = len(table)
    count = math.ceil(rows / WINDOW)
    step = max(1, count // most)
    for window in range(0, count, step):
        part = table.slice(window * WINDOW, min(MINED, rows - window * WINDOW)).to_pydict()
        requests = zip(part["op"], part["offset"], part["bytes"], strict=True)
        yield [(offset, size) for op, offset, size in requests if str(op).lower() in ("write", "1", "w")]


def items(write: tuple[int, int], *, pages: bool) -> list[int]:
    """Return what a write brings into its transaction."""
    offset, size = write
    return list(range(offset // 4096, (offset + size - 1) // 4096 + 1)) if pages else [offset]


def of_one(n: int) -> tuple[int, int]:
    """Count the subsets of n items that have three or more, and their items together."""
    sizes = range(ITEMS_MIN, n + 1)
    return sum(math.comb(n, k) for k in sizes), sum(k * math.comb(n, k) for k in sizes)


def subsets(maximal: list[list[int]]) -> tuple[int, int, bool]:
    """Return all sets below these: how many, their items together, and whether that is all of them."""
    if sum(1 << min(len(one), 64) for one in maximal) > SUBSETS_MAX:
        return *of_one(max(map(len, maximal))), False
    places = {item: place for place, item in enumerate(sorted({item for one in maximal for item in one}))}
    masks_seen: set[int] = set()
    for one in maximal:
        masks = [0]
        for item in one:
            masks += [mask | 1 << places[item] for mask in masks]
        masks_seen.update(masks)
    sizes = [size for size in map(int.bit_count, masks_seen) if size >= ITEMS_MIN]
    return len(sizes), sum(sizes), True


class Count:
    """Patterns and their items so far."""

    def __init__(self) -> None:
        """None yet."""
        self.sets = self.items = 0
        self.is_all = True

    def add(self, sets: int, of_them: int, *, is_all: bool = True) -> None:
        """Add a window."""
        self.sets += sets
        self.items += of_them
        self.is_all &= is_all

    def text(self, seen: int) -> str:
        """Return patterns a window and their mean size."""
        mean = self.items / self.sets if self.sets else 0.0
        return f"{'' if self.is_all else '>'}{self.sets / seen:.3g} ({mean:.2f})"


def main() -> None:
    """Print a row for each length of a transaction and each kind of item."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("trace")
    parser.add_argument("--windows", type=int, default=200, metavar="N", help="windows to look at, about")
    options = parser.parse_args()
    seen = list(windows(options.trace, options.windows))
    print(f"{options.trace}: {len(seen)} windows")
    for pages in (False, True):
        for length in LENGTHS:
            counts = {kind: Count() for kind in ("all", "closed", "maximal")}
            for writes in seen:
                brought = [items(write, pages=pages) for write in writes]
                runs = [brought[at : at + length] for at in range(0, len(brought), length)]
                rows = [[item for one in run for item in one] for run in runs]
                for kind in ("closed", "maximal"):
                    try:
                        sets_mined = [
                            one for one, _ in mine(rows, SUPPORT, items_min=ITEMS_MIN, closed=kind == "closed")
                        ]
                    except RunError:
                        counts[kind].is_all = counts["all"].is_all = False
                        continue
                    counts[kind].add(len(sets_mined), sum(map(len, sets_mined)))
                    if kind == "maximal" and sets_mined:
                        sets, of_them, is_all = subsets([list(one) for one in sets_mined])
                        counts["all"].add(sets, of_them, is_all=is_all)
            texts = ", ".join(f"{kind} {count.text(len(seen))}" for kind, count in counts.items())
            print(f"  {'page ' if pages else 'start'} {length:>2} a transaction: {texts}")


if __name__ == "__main__":
    main()
