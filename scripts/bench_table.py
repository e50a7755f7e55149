"""Writes the tables of docs/performance.md from the last run of the history of `make bench`.

A table stands between `<!-- bench: PREFIX... -->` and `<!-- end -->`: a line for each figure whose key begins with one
of the prefixes. `<!-- bench: run -->` is where the run itself is named. `--check` only says whether the page is up to
date.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

from bench_compare import number, range_of, spread
from bench_history import HISTORY, ROOT, HistoryError, Run, find, read

PAGE = ROOT / "docs" / "performance.md"
BLOCK = re.compile(r"(<!-- bench: ([^>]*?) -->\n).*?(<!-- end -->)", re.S)
HEAD = ["figure", "median", "unit", "least to greatest", "yardstick", "asked", ""]


def target(row: dict[str, Any]) -> tuple[str, str]:
    """Return the target, and whether it is met."""
    if row.get("asked") is None:
        return "", ""
    sign = "at most " if row["asked"]["bound"] == "most" else ""
    return sign + number(row["asked"]["value"]), "met" if row["met"] else "**not met**"


def yardstick(row: dict[str, Any]) -> str:
    """Return what a ratio is a ratio to, with its own value."""
    entry = row.get("yardstick")
    return f"{entry['name']}: {number(entry['value'])} {entry['unit']}" if entry else ""


def table(run: Run, prefixes: list[str]) -> str:
    """Return the figures whose keys begin so."""
    rows = [HEAD, ["---"] * len(HEAD)]
    missing = []
    for prefix in prefixes:
        matching = [row for key, row in run.rows.items() if key.startswith(prefix)]
        missing += [] if matching else [f"`{prefix}`"]
        for row in matching:
            figure = [f"`{row['key']}`", number(row["value"]), row["unit"] or "ratio", range_of(spread(row))]
            rows.append([*figure, yardstick(row), *target(row)])
    text = "".join("| " + " | ".join(row) + " |\n" for row in rows) if len(rows) > 2 else ""
    # Large drives are skipped where memory is small, and peers where they are not built.
    return text + (f"\nNot measured in this run: {', '.join(missing)}.\n" if missing else "")


def described(run: Run) -> str:
    """Return the run in a sentence."""
    builds = " and ".join(sorted(run.builds)) or "an unknown profile"
    tree = " (with changes)" if run.shared["dirty"] else ""
    return f"Commit {run.shared['commit'][:12]}{tree}, {run.shared['date']}, {run.machine}; compiled as {builds}.\n"


def render(page: str, run: Run) -> str:
    """Return the page with the tables of a run."""

    def block(match: re.Match[str]) -> str:
        prefixes = match[2].split()
        return match[1] + (described(run) if prefixes == ["run"] else table(run, prefixes)) + match[3]

    return BLOCK.sub(block, page)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--history", type=Path, default=HISTORY, help="the file; default: bench/history.jsonl")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page; default: docs/performance.md")
    parser.add_argument("--run", default="", help="number, date or commit of a run; default: the last one")
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if the page is out of date")
    arguments = parser.parse_args()
    try:
        runs = read(arguments.history)
        page = arguments.page.read_text("utf-8")
        new = render(page, find(runs, arguments.run) if arguments.run else runs[-1])
    except HistoryError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {arguments.page}: {error.strerror}; expected the page of the tables", file=sys.stderr)
        return 2
    if arguments.check:
        if new != page:
            print(f"{arguments.page}: out of date; run scripts/bench_table.py", file=sys.stderr)
        return int(new != page)
    arguments.page.write_text(new, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
