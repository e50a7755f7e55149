"""SQL of the trace load-beside-updates, for the sqlite3 shell.

Usage: load-beside-updates.py shop ITEMS | updates ITEMS TRANSACTIONS RATE SEED | load ROWS RATE. The same arguments
give the same text; RATE is in transactions or rows per second. Items are updated in place, half of the updates in an
eighth of the items, which are scattered over the table. Loaded rows come in ascending order, so the loader writes a
page when it is full and seldom again.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator

_ITEMS_A_TRANSACTION = 8
_ROWS_A_BATCH = 3000
_ROWS_A_STEP = 50
_STEP = 7919
"""Scatters neighbouring numbers over the table."""


def _filler(number: int, length: int) -> str:
    return random.Random(number).randbytes(length // 2).hex()


def shop(items: int) -> Iterator[str]:
    """Yield the table, filled."""
    yield "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; BEGIN;"
    yield "CREATE TABLE item (id INTEGER PRIMARY KEY, amount INTEGER, note TEXT);"
    for number in range(items):
        yield f"INSERT INTO item VALUES ({number}, 1000, '{_filler(number, 280)}');"
    yield "COMMIT;"


def updates(items: int, transactions: int, rate: float, seed: int) -> Iterator[str]:
    """Yield transactions that change amounts; the table's pages are its file's, with a rollback journal that stays."""
    rng = random.Random(seed)
    yield "PRAGMA journal_mode = PERSIST; PRAGMA cache_size = 40;"
    began = time.monotonic()
    for number in range(transactions):
        time.sleep(max(0.0, began + number / rate - time.monotonic()))
        yield "BEGIN;"
        for _ in range(_ITEMS_A_TRANSACTION):
            item = rng.randrange(items // 8) if rng.random() < 0.5 else rng.randrange(items)
            yield f"UPDATE item SET amount = amount - {rng.randint(1, 5)} WHERE id = {item * _STEP % items};"
        yield "COMMIT;"


def load(rows: int, rate: float) -> Iterator[str]:
    """Yield rows in batches, without a journal, as loaders do it."""
    yield "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = 100;"
    yield "CREATE TABLE archive (id INTEGER PRIMARY KEY, note TEXT);"
    began = time.monotonic()
    yield "BEGIN;"
    for number in range(rows):
        if number % _ROWS_A_STEP == 0:
            yield "" if number % _ROWS_A_BATCH else "COMMIT; BEGIN;"
            time.sleep(max(0.0, began + number / rate - time.monotonic()))
        yield f"INSERT INTO archive VALUES ({number}, '{_filler(-number - 1, 1240)}');"
    yield "COMMIT;"


def main() -> int:
    kind, *numbers = sys.argv[1:]
    first, *rest = map(int, numbers)
    lines = {"shop": shop, "updates": updates, "load": load}[kind](first, *rest)
    waiting: list[str] = []
    for line in lines:
        waiting.append(line)
        # A write to the pipe counts for perf, too.
        if line in ("", "COMMIT;") or len(waiting) == 500:
            print("\n".join(waiting), flush=True)
            waiting.clear()
    print("\n".join(waiting), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
