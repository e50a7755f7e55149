"""Reproduce papers and keep what came out in docs/data/reproductions.json, which docs/reproduce.md tabulates.

`python scripts/reproductions.py ready pds` reproduces these two in full and with --quick; without names all of them,
which takes an hour or two. Then `make docs` renews the table. With `--out DIR` a second call continues what the first
has begun; the CPU time is that of the last call alone.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from floatgate.base.errors import STATUS_DONE
from floatgate.papers import paper

FILE = Path(__file__).resolve().parent.parent / "docs/data/reproductions.json"
COUNTS = ("holds", "fails", "not_judged", "calibrated")


def cpu_s() -> float:
    """Returns the CPU time of all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def reproduced(name: str, out: Path, *options: str) -> tuple[dict[str, Any], float]:
    """Returns what `reproduce.json` says after one reproduction into a folder, and its CPU time."""
    before = cpu_s()
    resume = ["--resume"] if (out / "unfinished").exists() else []
    command = [sys.executable, "-m", "floatgate", "reproduce", name, "--out", str(out), *resume, *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return json.loads((out / "reproduce.json").read_text("utf-8")), cpu_s() - before


def otherwise(full: dict[str, Any], quick: dict[str, Any]) -> list[str]:
    """Returns the claims that a quick reproduction judges otherwise than the full one."""
    holds = {one["id"]: one["holds"] for one in full["claims"]}
    return [one["id"] for one in quick["claims"] if one["holds"] not in (None, holds[one["id"]])]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="papers; all without a name")
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep the pages there; default: a temporary folder")
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        out = arguments.out or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        keep(arguments.names or paper.names(), out)
    return STATUS_DONE


def keep(names: list[str], out: Path) -> None:
    """Writes what comes out of each paper to the file."""
    kept = json.loads(FILE.read_text("utf-8"))
    for name in names:
        full, seconds = reproduced(name, out / name)
        quick, quick_seconds = reproduced(name, out / f"{name}-quick", "--quick")
        for one in otherwise(full, quick):
            print(f"{name}: {one} is judged otherwise with --quick; expected quick = false", file=sys.stderr)
        kept[name] = {
            "measured": dt.date.today().isoformat(),
            **{count: full[count] for count in COUNTS},
            "cpu_s": round(seconds),
            "quick_cpu_s": round(quick_seconds),
            "topics": full["topics"],
            "failing": {one["id"]: one.get("why", "") for one in full["claims"] if one["holds"] is False},
        }
        FILE.write_text(json.dumps(dict(sorted(kept.items())), indent=2) + "\n", "utf-8")
        print(name, json.dumps(kept[name]), flush=True)


if __name__ == "__main__":
    sys.exit(main())
