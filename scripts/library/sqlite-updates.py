"""SQL of an update load for the sqlite3 shell: a shop's stock, orders and journal, with skewed updates.

Usage: sqlite-updates.py rollback|wal TRANSACTIONS RATE SEED [PART]. The same arguments give the same text, RATE
transactions per second: as fast as it can, SQLite writes more often than perf can store stacks. With PART the tables
have one row in PART.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator

PART = int(sys.argv[5]) if len(sys.argv) > 5 else 1
ITEMS = 30_000 // PART
CUSTOMERS = 10_000 // PART
SKEW = 3.0
LOAD_ROWS = 200
"""Rows loaded in the time of a transaction."""


def skewed(rng: random.Random, count: int) -> int:
    """Return a number below ``count``; small ones are likelier: half fall into the first 1 / 2**SKEW of the range."""
    return int(count * rng.random() ** SKEW)


def scattered(number: int, count: int) -> int:
    """Map a number elsewhere, to spread popular items over many pages."""
    return number * 7919 % count


def words(rng: random.Random, count: int) -> str:
    """Return text of ``count`` words that compresses about as text does."""
    syllables = ("ba", "co", "di", "fu", "ge", "ha", "ki", "lo", "mu", "ne", "po", "ra", "si", "tu", "ve")
    return " ".join("".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(count))


def load(rng: random.Random) -> Iterator[str]:
    """Yield the tables and their first rows."""
    yield "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, stock INT, price INT, note TEXT);"
    yield "CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, balance INT, address TEXT);"
    yield "CREATE TABLE sale(id INTEGER PRIMARY KEY, customer INT, item INT, amount INT, state TEXT);"
    yield "CREATE TABLE journal(id INTEGER PRIMARY KEY, at INT, line TEXT);"
    yield "BEGIN;"
    for number in range(ITEMS):
        yield (
            f"INSERT INTO item VALUES({number},'{words(rng, 3)}',{rng.randint(0, 500)},"
            f"{rng.randint(1, 9999)},'{words(rng, 12)}');"
        )
    for number in range(CUSTOMERS):
        yield f"INSERT INTO customer VALUES({number},'{words(rng, 2)}',0,'{words(rng, 8)}');"
    yield "COMMIT;"
    yield "CREATE INDEX item_name ON item(name);"
    yield "CREATE INDEX item_stock ON item(stock);"
    yield "CREATE INDEX sale_customer ON sale(customer);"
    yield "CREATE INDEX sale_state ON sale(state, item);"


def transaction(rng: random.Random, number: int) -> Iterator[str]:
    """Yield a sale of some items; now and then deliveries, new prices or a clean-up."""
    yield "BEGIN;"
    customer = scattered(skewed(rng, CUSTOMERS), CUSTOMERS)
    for _ in range(rng.randint(1, 4)):
        item, amount = scattered(skewed(rng, ITEMS), ITEMS), rng.randint(1, 5)
        yield f"UPDATE item SET stock = stock - {amount} WHERE id = {item};"
        yield f"INSERT INTO sale(customer, item, amount, state) VALUES({customer},{item},{amount},'open');"
    yield f"UPDATE customer SET balance = balance + {rng.randint(1, 99)} WHERE id = {customer};"
    yield f"INSERT INTO journal(at, line) VALUES({number},'{words(rng, 4)}');"
    yield "COMMIT;"
    if number % 40 == 39:
        yield (
            "UPDATE sale SET state = 'sent' WHERE id IN "
            "(SELECT id FROM sale WHERE state = 'open' ORDER BY item LIMIT 60);"
        )
    if number % 150 == 149:
        low = rng.randrange(ITEMS - 400)
        yield f"UPDATE item SET price = price + 1, note = '{words(rng, 12)}' WHERE id BETWEEN {low} AND {low + 399};"
    if number % 300 == 299:
        yield "DELETE FROM journal WHERE id IN (SELECT id FROM journal ORDER BY id LIMIT 250);"
        yield "DELETE FROM sale WHERE id IN (SELECT id FROM sale WHERE state = 'sent' ORDER BY id LIMIT 400);"


def main() -> int:
    mode, count, rate, seed = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    rng = random.Random(seed)
    # A cache of 40 pages makes transactions spill: pages leave in the middle of a statement, not only at its end.
    lines = ["PRAGMA page_size=4096;", "PRAGMA cache_size=40;", "PRAGMA temp_store=FILE;"]
    lines += ["PRAGMA journal_mode=WAL;", "PRAGMA wal_autocheckpoint=200;"] if mode == "wal" else []
    print("\n".join(lines))
    for number, line in enumerate(load(rng)):
        print(line)
        if number % LOAD_ROWS == 0:
            sys.stdout.flush()
            time.sleep(1 / rate)
    due = time.monotonic()
    for number in range(count):
        for line in transaction(rng, number):
            print(line)
        sys.stdout.flush()
        due += 1 / rate
        time.sleep(max(0.0, due - time.monotonic()))
    print("PRAGMA integrity_check;")
    return 0


if __name__ == "__main__":
    sys.exit(main())
