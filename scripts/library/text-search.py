"""SQL of a search engine on SQLite's full-text index: its documents, or its searches.

Usage: text-search.py load DOCUMENTS | ask DOCUMENTS SEARCHES RATE SEED. The same arguments give the same text. Words of
documents and of searches follow Zipf's law over one vocabulary, in which the commonest words are not searched for. RATE
is the number of searches per second.
"""

from __future__ import annotations

import itertools
import random
import sys
import time
from collections.abc import Iterator

VOCABULARY = 30_000
NOT_SEARCHED = 60
"""The NOT_SEARCHED commonest words appear in no search."""
LOGGED = 200
"""One in LOGGED searches is written to a log."""
SYLLABLES = ("ba", "co", "di", "fu", "ge", "ha", "ki", "lo", "mu", "ne", "po", "ra", "si", "tu", "ve", "zo")


def word(rank: int) -> str:
    """Return the word of a rank; common words are short."""
    out = SYLLABLES[rank % 16]
    while rank := rank // 16:
        out += SYLLABLES[(rank - 1) % 16]
    return out


def weights(first: int) -> list[float]:
    """Return running sums of Zipf's law over the words from ``first`` on."""
    return list(itertools.accumulate(1 / (rank + 1) for rank in range(first, VOCABULARY)))


def load(count: int) -> Iterator[str]:
    """Format as ``count`` documents of 40 to 300 words and their index."""
    rng, words, sums = random.Random(1), [word(rank) for rank in range(VOCABULARY)], weights(0)
    yield "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
    yield "CREATE VIRTUAL TABLE page USING fts5(title, body);"
    yield "CREATE TABLE log (search INTEGER PRIMARY KEY, words TEXT);"
    yield "BEGIN;"
    for number in range(count):
        text = " ".join(rng.choices(words, cum_weights=sums, k=rng.randint(40, 300)))
        yield f"INSERT INTO page VALUES ('{word(number % VOCABULARY)} {number}', '{text}');"
    yield "COMMIT;"
    yield "INSERT INTO page(page) VALUES ('optimize');"


def main() -> int:
    what, count = sys.argv[1], int(sys.argv[2])
    if what == "load":
        for line in load(count):
            print(line)
        return 0
    searches, rate, rng = int(sys.argv[3]), float(sys.argv[4]), random.Random(int(sys.argv[5]))
    words, sums = [word(rank) for rank in range(NOT_SEARCHED, VOCABULARY)], weights(NOT_SEARCHED)
    print("PRAGMA cache_size = 64;")
    due = time.monotonic()
    for number in range(searches):
        wanted = " ".join(rng.choices(words, cum_weights=sums, k=rng.randint(1, 3)))
        print(f"SELECT title, length(body) FROM page WHERE page MATCH '{wanted}' ORDER BY rank LIMIT 20;")
        if number % LOGGED == 0:
            print(f"INSERT INTO log VALUES ({number}, '{wanted}');")
        sys.stdout.flush()
        due += 1 / rate
        time.sleep(max(0.0, due - time.monotonic()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
