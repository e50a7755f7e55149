"""SQL of a sales database for the sqlite3 shell: its rows, or the questions of those who look at sales.

Usage: sqlite-queries.py load ORDERS | ask ORDERS QUESTIONS PAUSE SEED. The same arguments give the same text. Rows are
those of decision-support.py. Most questions are about the last quarter, a fifth of the orders; some about a customer,
some about all that was ever sold. PAUSE is the mean time between two of them, seconds.
"""

from __future__ import annotations

import importlib.util
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

TABLES = {
    "part": "part INTEGER PRIMARY KEY, name TEXT, brand TEXT, size INT, price INT",
    "customer": "customer INTEGER PRIMARY KEY, name TEXT, segment TEXT, nation INT, balance INT",
    "orders": "orders INTEGER PRIMARY KEY, customer INT, status TEXT, total INT, day TEXT, clerk TEXT, note TEXT",
    "lineitem": (
        "orders INT, line INT, part INT, quantity INT, price INT, discount INT, returned TEXT, shipped TEXT, "
        "received TEXT, note TEXT, PRIMARY KEY (orders, line)) WITHOUT ROWID"
    ),
}
QUARTER = 5
"""One in QUARTER orders is of the last quarter."""
ANSWERS_KEPT = 10
"""One in ANSWERS_KEPT answers is kept in a table."""


def rows_of() -> ModuleType:
    """Load decision-support.py, whose name cannot be imported."""
    path = Path(__file__).with_name("decision-support.py")
    spec = importlib.util.spec_from_file_location("decision_support", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"error: {path}: cannot be read")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load(count: int) -> Iterator[str]:
    """Yield the tables with ``count`` orders."""
    yield "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
    yield "BEGIN;"
    made = rows_of().TABLES
    for name, columns in TABLES.items():
        yield f"CREATE TABLE {name} ({columns}{'' if columns.endswith('ROWID') else ')'};"
        make, share = made[name]
        for number in range(count // share):
            for row in make(number, count):
                values = ", ".join(str(value) if isinstance(value, int) else f"'{value}'" for value in row)
                yield f"INSERT INTO {name} VALUES ({values});"
    yield "CREATE INDEX orders_customer ON orders (customer);"
    yield "CREATE TABLE answer (question INTEGER PRIMARY KEY, figure INT);"
    yield "COMMIT;"


def question(rng: random.Random, count: int) -> str:
    """Return a SELECT that gives one figure."""
    draw = rng.random()
    if draw < 0.7:
        quarter, brand = count - count // QUARTER, rng.randint(1, 25)
        return (
            "SELECT sum(l.price * (100 - l.discount)) FROM lineitem l JOIN part p USING (part) "
            f"WHERE l.orders >= {quarter} AND p.brand = 'brand{brand}' AND l.note <> ''"
        )
    if draw < 0.93:
        customer = int(count // 10 * rng.random() ** 2)
        return (
            "SELECT sum(l.quantity) FROM orders o JOIN lineitem l USING (orders) "
            f"WHERE o.customer BETWEEN {customer} AND {customer + 4} AND o.note <> ''"
        )
    return f"SELECT sum(price) FROM lineitem WHERE quantity > {rng.randint(1, 50)} AND note <> ''"


def main() -> int:
    what, count = sys.argv[1], int(sys.argv[2])
    if what == "load":
        for line in load(count):
            print(line)
        return 0
    questions, pause, rng = int(sys.argv[3]), float(sys.argv[4]), random.Random(int(sys.argv[5]))
    # A cache of 3 MB holds the parts, and few of the sales: these are read from the file again.
    print("PRAGMA cache_size = 400;")
    for number in range(questions):
        query = question(rng, count)
        kept = number % ANSWERS_KEPT == 0
        print(f"INSERT INTO answer VALUES ({number}, ({query}));" if kept else f"{query};")
        sys.stdout.flush()
        time.sleep(rng.expovariate(1 / pause))
    return 0


if __name__ == "__main__":
    sys.exit(main())
