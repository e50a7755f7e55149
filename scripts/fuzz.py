"""Damage the inputs that floatgate reads in Python, and draw random queries; only errors of ours may result.

Each surface (``fuzz_*.py``) gets ``--seconds``; a failure prints the seed of its round, and damaged
input is left in a file.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import fuzz_files
import fuzz_hints
import fuzz_json
import fuzz_query
from fuzz_surface import Surface

KINDS = {"files": fuzz_files, "json": fuzz_json, "query": fuzz_query, "hints": fuzz_hints}


def fuzz(surface: Surface, seconds: float | None, rounds_max: int | None) -> int:
    """Run rounds within the time; without one a fixed number."""
    ends = None if seconds is None else time.monotonic() + seconds
    fixed = surface.rounds if rounds_max is None else min(surface.rounds, rounds_max)
    rounds = 0
    while rounds < fixed if ends is None else time.monotonic() < ends:
        surface.one_round(rounds)
        rounds += 1
    return rounds


def main() -> None:
    """Test all surfaces."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}; all where none is named")
    parser.add_argument("--seconds", type=float, help="for each surface; without it a fixed number of rounds")
    parser.add_argument("--rounds", type=int, help="without --seconds: at most so many rounds")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if unknown := set(options.kinds) - set(KINDS):
        parser.error(f"unknown kind {', '.join(sorted(unknown))}; expected {', '.join(KINDS)}")
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds or KINDS:
            for surface in KINDS[kind].surfaces(Path(folder), options.seed):
                rounds = fuzz(surface, options.seconds, options.rounds)
                print(f"{surface.name}: {rounds} rounds from seed {options.seed}", flush=True)


if __name__ == "__main__":
    main()
