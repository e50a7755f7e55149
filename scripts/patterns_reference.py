"""Hold the miner of patterns to pyfim (all sets) and to mlxtend (maximal sets), whichever is installed.

Neither is needed for anything else: `pip install pyfim mlxtend` beside floatgate, in an environment of its own.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
from collections.abc import Iterator
from typing import Any

from floatgate.trace.patterns import mine

Sets = list[tuple[tuple[int, ...], int]]

ALONE = 10**6
"""Two transactions of an item of their own: pyfim leaves out a set that all transactions have."""


def transactions(draw: random.Random) -> list[list[int]]:
    """Draw random items, groups that come together, equal long transactions, overlapping chains, all items but one."""
    universe, count = draw.choice([5, 10, 20, 40, 80]), draw.randrange(1, 40)
    groups = [draw.sample(range(universe), min(universe, draw.randrange(2, 7))) for _ in range(5)]
    if (style := draw.randrange(5)) == 0:
        made = [draw.sample(range(universe), min(universe, 8)) for _ in range(count)]
    elif style == 1:
        made = [[*{*draw.choice(groups), *draw.choice(groups), draw.randrange(universe)}] for _ in range(count)]
    elif style == 2:
        made = [list(range(universe))] * count + [draw.sample(range(universe), universe // 2) for _ in range(3)]
    elif style == 3:
        made = [list(range(i % universe, min(universe, i % universe + 10))) for i in range(count)]
    else:
        made = [[item for item in range(min(universe, 12)) if item != i % 12] for i in range(count)]
    return [*made, [ALONE], [ALONE + 1]]


def by_pyfim(fim: Any, rows: list[list[int]], support: int, closed: bool) -> Sets:
    """Return what pyfim finds."""
    sets = fim.fpgrowth(list(map(tuple, rows)), target="c" if closed else "m", supp=-support, zmin=1, report="a")
    return [(tuple(sorted(items)), count) for items, count in sets]


def by_mlxtend(frequent: Any, rows: list[list[int]], support: int) -> Sets:
    """Return what mlxtend's fpmax finds."""
    if support > len(rows):
        return []
    import pandas as pd

    items = sorted({item for row in rows for item in row})
    table = pd.DataFrame([[item in row for item in items] for row in rows], columns=items)
    sets = frequent.fpmax(table, min_support=(support - 1e-6) / len(rows), use_colnames=True)
    if not len(sets):
        return []
    shares = zip(sets.itemsets, sets.support, strict=True)
    return [(tuple(sorted(items)), round(share * len(rows))) for items, share in shares]


def references() -> Iterator[tuple[str, Any]]:
    """Yield those that are installed."""
    for name in ("fim", "mlxtend.frequent_patterns"):
        try:
            yield name, importlib.import_module(name)
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    cases = parser.parse_args().cases
    tried = 0
    for name, module in references():
        compared, sets = 0, 0
        for seed in range(cases):
            draw = random.Random(seed)
            rows, items_min = transactions(draw), draw.randrange(1, 5)
            support = draw.randrange(2, 6)
            for closed in (False, True) if name == "fim" else (False,):
                theirs = by_pyfim(module, rows, support, closed) if name == "fim" else by_mlxtend(module, rows, support)
                wanted = [one for one in theirs if len(one[0]) >= items_min]
                wanted.sort(key=lambda one: (-len(one[0]), one[0]))
                ours = [
                    (tuple(items), count) for items, count in mine(rows, support, items_min=items_min, closed=closed)
                ]
                if ours != wanted:
                    print(f"{name}: seed {seed} differs: support {support}, closed {closed}, {rows}")
                    return 1
                compared, sets = compared + 1, sets + len(ours)
        print(f"{name}: {compared} results equal, {sets} sets")
        tried += 1
    return 0 if tried else 2


if __name__ == "__main__":
    sys.exit(main())
