"""Compares the last run of `make bench` with an earlier one, figure by figure.

    make bench-compare                          # the one before on the same machine
    make bench-compare AGAINST=0f3c21           # the last one of a commit; also a run's number, or a date

The spread of a figure is the least and the greatest of its rounds. A word follows only where the spreads of then and
now do not touch: better or worse, or changed where neither direction is better. A figure of a single round has no
spread, and no word. Status 0: compared; 1: the JSON could not be written; 2: a history or a run is unusable.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from bench_history import HISTORY, HistoryError, Run, find, read


def before(runs: list[Run]) -> Run:
    """Return the run before the last one on the same machine."""
    now = runs[-1]
    for run in reversed(runs[:-1]):
        if run.shared["machine"] == now.shared["machine"]:
            return run
    other = "no earlier run" if len(runs) == 1 else f"{len(runs) - 1} earlier runs, but none on this machine"
    raise HistoryError(f"{other}; expected one, or AGAINST=RUN (--against) for another machine's ({now.machine})")


def spread(row: dict[str, Any]) -> tuple[float, float] | None:
    """Return the least and the greatest round, if there are several."""
    values = [value for value in row["rounds"] if value is not None]
    return (min(values), max(values)) if len(values) > 1 else None


def word(then: dict[str, Any], now: dict[str, Any]) -> str:
    """Return what to say of a change beyond the spread."""
    old, new = spread(then), spread(now)
    if old is None or new is None or (new[0] <= old[1] and old[0] <= new[1]):
        return ""
    if now.get("better") not in {"higher", "lower"}:
        return "changed"
    return "better" if (new[0] > old[1]) == (now["better"] == "higher") else "worse"


def change(then: float | None, now: float | None) -> float | None:
    """Return the change in percent of ``then``."""
    return None if now is None or not then else (now / then - 1) * 100


def compare(then: Run, now: Run) -> dict[str, Any]:
    """Compare two runs; return the figures and warnings as JSON."""
    warnings = []
    if then.shared["machine"] != now.shared["machine"]:
        warnings.append(f"machines differ: {then.machine} then, {now.machine} now")
    if then.builds != now.builds:
        old, new = (" and ".join(sorted(run.builds)) or "unknown" for run in (then, now))
        warnings.append(f"build profiles differ: {old} then, {new} now")
    figures = []
    for key, new in now.rows.items():
        old_row = then.rows.get(key)
        if old_row is None:
            continue
        if build_of(old_row) != build_of(new) and not warnings:
            warnings.append(f"build profiles differ: {key} was compiled in another way")
        figures.append(
            {
                "key": key,
                "unit": new["unit"],
                "then": old_row["value"],
                "now": new["value"],
                "change_percent": change(old_row["value"], new["value"]),
                "spread_then": spread(old_row),
                "spread_now": spread(new),
                "word": word(old_row, new),
            }
        )
    return {
        "then": {"number": then.number, **then.shared, "builds": sorted(then.builds)},
        "now": {"number": now.number, **now.shared, "builds": sorted(now.builds)},
        "warnings": warnings,
        "figures": figures,
        "only_then": [key for key in then.rows if key not in now.rows],
        "only_now": [key for key in now.rows if key not in then.rows],
    }


def build_of(row: dict[str, Any]) -> Any:
    """Return the build settings of its program, as far as they are known."""
    return row["build"].get("lto")


def number(value: float | None) -> str:
    """Format with four digits."""
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def range_of(ends: tuple[float, float] | None) -> str:
    """Return the least and the greatest, once if they are the same."""
    if ends is None:
        return "-"
    low, high = map(number, ends)
    return low if low == high else f"{low} to {high}"


def as_text(comparison: dict[str, Any], then: Run, now: Run) -> str:
    """Return the table."""
    lines = [f"then   {then.name}", f"now    {now.name}", f"on     {now.machine}"]
    lines += [f"note   {warning}" for warning in comparison["warnings"]]
    head = ["figure", "unit", "then", "now", "change", "spread then", "spread now", ""]
    table = [head]
    for row in comparison["figures"]:
        percent = row["change_percent"]
        table.append(
            [
                row["key"],
                row["unit"],
                number(row["then"]),
                number(row["now"]),
                "-" if percent is None else f"{percent:+.1f} %",
                range_of(row["spread_then"]),
                range_of(row["spread_now"]),
                row["word"],
            ]
        )
    widths = [max(len(line[i]) for line in table) for i in range(len(head))]
    right = {2, 3, 4}
    for line in table:
        cells = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    words = [row["word"] for row in comparison["figures"] if row["word"]]
    counts = ", ".join(f"{words.count(one)} {one}" for one in ("better", "worse", "changed") if one in words)
    lines.append(f"{len(comparison['figures'])} figures: {counts or 'none changed'} beyond the spread")
    for name, keys in (("then", comparison["only_then"]), ("now", comparison["only_now"])):
        if keys:
            lines.append(f"only {name}: {', '.join(keys)}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--history", type=Path, default=HISTORY, help="the file; default: bench/history.jsonl")
    parser.add_argument("--against", default="", help="number, date or commit of a run; default: the one before")
    parser.add_argument("--json", metavar="FILE", nargs="?", const="-", help="write JSON; '-' is standard output")
    arguments = parser.parse_args()
    try:
        runs = read(arguments.history)
        now = runs[-1]
        then = find(runs, arguments.against) if arguments.against else before(runs)
        if then is now:
            raise HistoryError(f"run {arguments.against!r} is the last one; expected an earlier run")
    except HistoryError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    comparison = compare(then, now)
    print(as_text(comparison, then, now), file=sys.stderr if arguments.json == "-" else sys.stdout)
    text = json.dumps(comparison, indent=2) + "\n"
    if arguments.json == "-":
        sys.stdout.write(text)
    elif arguments.json is not None:
        try:
            Path(arguments.json).write_text(text, "utf-8")
        except OSError as error:
            print(f"error: {arguments.json}: {error.strerror}; expected a file that can be written", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
