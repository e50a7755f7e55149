r"""The history of `make bench`: JSON lines, one object per figure.

Each row holds the run (an id, its date in UTC, commit, machine), how the program was compiled, the figure, its
yardstick (what a ratio refers to), and its target. The figure is group, title, key, value, unit, which way is better,
and the values of all rounds. `crates/bench/src/report.rs` writes such rows too; it takes what all rows of a run share
from the environment:

    FLOATGATE_BENCH_HISTORY=bench/history.jsonl FLOATGATE_BENCH_CONTEXT="$(scripts/bench_history.py context)" \
        floatgate-bench timed

`context --join FILE` continues the last run of FILE if commit and machine are the same.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
HISTORY = ROOT / "bench" / "history.jsonl"
# What a bench itself changes does not make its tree another one.
MADE_BY_BENCH = ["bench/history.jsonl", "docs/performance.md"]
SHARED = ("run", "date", "commit", "dirty", "machine")
NEEDED = {
    "run": str,
    "date": str,
    "commit": str,
    "dirty": bool,
    "machine": dict,
    "build": dict,
    "group": str,
    "key": str,
    "value": int | float | None,
    "unit": str,
    "rounds": list,
}


class HistoryError(Exception):
    """An unusable history: place, cause, and what was expected."""


@dataclass
class Run:
    """The rows of one bench."""

    number: int
    shared: dict[str, Any]
    rows: dict[str, dict[str, Any]]

    @property
    def name(self) -> str:
        """Number, date, commit."""
        tree = ", with changes" if self.shared["dirty"] else ""
        return f"run {self.number} of {self.shared['date']}, commit {self.shared['commit'][:12]}{tree}"

    @property
    def machine(self) -> str:
        """Processor, cores, memory."""
        machine = self.shared["machine"]
        return f"{machine.get('cpu')}, {machine.get('cores')} cores, {machine.get('memory_gib')} GiB"

    @property
    def builds(self) -> set[str]:
        """The build profiles of its rows, those of peers left out."""
        return {build_name(row["build"]) for row in self.rows.values() if "lto" in row["build"]}


def build_name(build: dict[str, Any]) -> str:
    """Format as `release, link-time optimization fat`."""
    lto = build.get("lto", "unknown")
    without = lto in {"off", "false"}
    lto = "no link-time optimization" if without else f"link-time optimization {lto}"
    return f"{build.get('profile', 'unknown')}, {lto}"


def _git(*command: str) -> str:
    try:
        done = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def _machine() -> dict[str, Any]:
    """Processor, cores and memory; no name and no path."""
    models = [line.split(":", 1)[1] for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    total = next((line.split()[1] for line in _lines("/proc/meminfo") if line.startswith("MemTotal:")), "0")
    cpu = " ".join(models[0].split()) if models else "unknown"
    return {"cpu": cpu, "cores": len(os.sched_getaffinity(0)), "memory_gib": round(int(total) / 2**20)}


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text("utf-8").splitlines()
    except OSError:
        return []


def context(join: Path | None = None) -> dict[str, Any]:
    """Return the fields that all rows of a run share: of the environment, of the last run of a history, or new."""
    shared = os.environ.get("FLOATGATE_BENCH_CONTEXT")
    if shared:
        return dict(json.loads(shared))
    commit = _git("rev-parse", "HEAD") or "unknown"
    outside = [f":!{path}" for path in MADE_BY_BENCH]
    dirty = bool(_git("status", "--porcelain", "--untracked-files=no", "--", ".", *outside))
    date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    new = {"run": f"{date}-{commit[:8]}", "date": date, "commit": commit, "dirty": dirty, "machine": _machine()}
    if join is not None and join.exists() and join.stat().st_size > 0:
        last = read(join)[-1].shared
        if all(last[key] == new[key] for key in ("commit", "dirty", "machine")):
            return last
    return new


def figure(group: str, title: str, key: str, rounds: list[float], **more: Any) -> dict[str, Any]:
    """Return a row without the fields that all rows of a run share.

    Args:
        group: first part of the key.
        title: of the group.
        key: the rest of the key.
        rounds: one value a round; their median counts.
        more: `unit`, `better` ("higher" or "lower"), `build`, `yardstick` (name, value, unit), `at_least`, `at_most`.
    """
    value = float(f"{statistics.median_high(rounds):.4e}")
    least, most = more.get("at_least"), more.get("at_most")
    target: dict[str, Any] | None = None
    if least is not None:
        target = {"bound": "least", "value": least}
    elif most is not None:
        target = {"bound": "most", "value": most}
    return {
        "build": more.get("build", {}),
        "group": group,
        "title": title,
        "key": f"{group}/{key}",
        "value": value,
        "unit": more.get("unit", ""),
        "better": more.get("better"),
        "rounds": [float(f"{one:.4e}") for one in rounds],
        "yardstick": more.get("yardstick"),
        "asked": target,
        "met": None if target is None else (value >= least if least is not None else value <= float(most)),
    }


def append(path: Path, shared: dict[str, Any], rows: Iterable[dict[str, Any]]) -> None:
    """Append whole lines with one write: an interrupted bench leaves no half line."""
    text = "".join(json.dumps({**shared, **row}, separators=(",", ":")) + "\n" for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    # A line that lost its end stays alone.
    torn = path.exists() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
    with path.open("ab", buffering=0) as file:
        file.write((("\n" if torn else "") + text).encode())


def _row(line: bytes, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        raise HistoryError(f"{place}: no JSON; expected a row of a bench, remove the line") from None
    if not isinstance(row, dict):
        raise HistoryError(f"{place}: no JSON object; expected a row of a bench, remove the line")
    for key, kind in NEEDED.items():
        if key not in row or not isinstance(row[key], kind):
            raise HistoryError(f"{place}: no valid {key!r}; expected a row of a bench, remove the line")
    if not all(isinstance(value, int | float | None) for value in row["rounds"]):
        raise HistoryError(f"{place}: 'rounds' are no numbers; expected a row of a bench, remove the line")
    return row


def read(path: Path) -> list[Run]:
    """Return the runs of a history in the order of the file; of a figure measured twice in a run the later one counts.

    Raises:
        HistoryError: the file is missing, empty or damaged.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise HistoryError(f"{path}: {error.strerror}; expected the history of `make bench`") from None
    runs: dict[str, Run] = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            row = _row(line, f"{path}:{number}")
            shared = {key: row[key] for key in SHARED}
            run = runs.setdefault(row["run"], Run(len(runs) + 1, shared, {}))
            run.rows[row["key"]] = row
    if not runs:
        raise HistoryError(f"{path}: no rows; expected the history of `make bench`")
    return list(runs.values())


def find(runs: list[Run], name: str) -> Run:
    """Return the run of a number, the last one of a date (or its beginning) or of a commit (or its beginning).

    Raises:
        HistoryError: no run matches.
    """
    if name.isdecimal() and 1 <= int(name) <= len(runs):
        return runs[int(name) - 1]
    for run in reversed(runs):
        if run.shared["date"].startswith(name) or (len(name) >= 4 and run.shared["commit"].startswith(name)):
            return run
    raise HistoryError(f"no run {name!r}; expected the number (1 to {len(runs)}), date or commit of one")


def selection(description: str, noun: str, known: list[str]) -> argparse.Namespace:
    """Read the command line of a benchmark: ``names`` of what to measure, all if empty, and its ``history``."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar=noun.upper(), help=f"only these: {', '.join(known)}")
    parser.add_argument(
        "--history", type=Path, default=os.environ.get("FLOATGATE_BENCH_HISTORY"), help="append to this"
    )
    options = parser.parse_args()
    wrong = set(options.names) - set(known)
    if wrong:
        parser.error(f"no {noun} {min(wrong)!r}; expected some of {', '.join(known)}")
    return options


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["context"], help="print what all rows of a run share")
    parser.add_argument("--join", metavar="FILE", type=Path, help="go on with the last run of this history")
    arguments = parser.parse_args()
    try:
        print(json.dumps(context(arguments.join)))
    except HistoryError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
