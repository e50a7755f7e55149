"""Rows of a table of the decision-support database, for COPY: parts, customers, orders and their lines.

Usage: decision-support.py TABLE FIRST END ORDERS. FIRST and END bound the numbers of the orders; parts and customers
are made in proportion to ORDERS. Each row follows from its number alone, so any range gives the same rows again.

The shape (a sales schema with one large table of lines) is that of the common benchmarks; no code or text of theirs is
used, and the figures are no benchmark's results.
"""

from __future__ import annotations

import datetime as dt
import random
import sys
from collections.abc import Callable, Iterator

DAY_ONE = dt.date(1995, 1, 1)
WORDS = [
    "amber",
    "brass",
    "copper",
    "dusk",
    "ember",
    "flint",
    "grain",
    "harbour",
    "iron",
    "jade",
    "kettle",
    "linen",
    "marble",
    "north",
    "oak",
    "pearl",
    "quartz",
    "river",
    "slate",
    "timber",
    "umber",
    "velvet",
    "willow",
    "yarrow",
]


def _rng(table: str, number: int) -> random.Random:
    return random.Random(f"{table} {number}")


def _text(rng: random.Random, least: int, most: int) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(least, most)))


def _day(number: int, rng: random.Random) -> dt.date:
    """Orders come day by day, some late."""
    return DAY_ONE + dt.timedelta(days=number // 20 + rng.randint(0, 30))


def part(number: int, _orders: int) -> Iterator[tuple[object, ...]]:
    rng = _rng("part", number)
    yield number, _text(rng, 3, 5), f"brand{rng.randint(1, 25)}", rng.randint(1, 50), rng.randint(100, 9999)


def customer(number: int, _orders: int) -> Iterator[tuple[object, ...]]:
    rng = _rng("customer", number)
    segment = rng.choice(("home", "office", "garden", "works"))
    yield number, _text(rng, 2, 3), segment, rng.randint(0, 24), rng.randint(-999, 9999)


def orders(number: int, count: int) -> Iterator[tuple[object, ...]]:
    rng = _rng("orders", number)
    day, buyer = _day(number, rng), int(count // 10 * rng.random() ** 2)
    status = rng.choice("OFP")
    yield number, buyer, status, rng.randint(1000, 400000), day, f"clerk{rng.randint(1, 500)}", _text(rng, 4, 10)


def lineitem(number: int, count: int) -> Iterator[tuple[object, ...]]:
    rng = _rng("lineitem", number)
    day = _day(number, rng)
    for line in range(1, rng.randint(2, 8)):
        shipped = day + dt.timedelta(days=rng.randint(1, 120))
        received = shipped + dt.timedelta(days=rng.randint(1, 30))
        quantity, price = rng.randint(1, 50), rng.randint(100, 9999)
        returned = rng.choice("NNRA")
        yield (
            *(number, line, rng.randrange(count // 8), quantity, quantity * price, rng.randint(0, 10), returned),
            *(shipped, received, _text(rng, 3, 7)),
        )


TABLES: dict[str, tuple[Callable[[int, int], Iterator[tuple[object, ...]]], int]] = {
    "part": (part, 8),
    "customer": (customer, 10),
    "orders": (orders, 1),
    "lineitem": (lineitem, 1),
}
"""By table, what makes the rows of a number, and how many orders there are to one number."""


def main() -> int:
    table, first, end, count = sys.argv[1], *map(int, sys.argv[2:5])
    make, share = TABLES[table]
    for number in range(first // share, end // share):
        for row in make(number, count):
            print("\t".join(map(str, row)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
