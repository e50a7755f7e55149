"""Reproduce papers and keep what came out in docs/data/reproductions.json, which docs/reproduce.md tabulates.

`python scripts/reproductions.py ready pds` reproduces these two in full and with --quick; without names all of them,
which takes an hour or two. Then `make docs` renews the table.
"""

from __future__ import annotations

import argparse
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


def reproduced(name: str, *options: str) -> tuple[dict[str, Any], float]:
    """Returns what `reproduce.json` says after one reproduction, and its CPU time."""
    before = cpu_s()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        command = [sys.executable, "-m", "floatgate", "reproduce", name, "--out", str(out), "--no-report", *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads((out / "reproduce.json").read_text("utf-8")), cpu_s() - before


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="papers; all without a name")
    kept = json.loads(FILE.read_text("utf-8"))
    for name in parser.parse_args().names or paper.names():
        full, seconds = reproduced(name)
        _, quick_seconds = reproduced(name, "--quick")
        kept[name] = {
            "measured": dt.date.today().isoformat(),
            **{count: full[count] for count in COUNTS},
            "cpu_s": round(seconds),
            "quick_cpu_s": round(quick_seconds),
        }
        FILE.write_text(json.dumps(dict(sorted(kept.items())), indent=2) + "\n", "utf-8")
        print(name, json.dumps(kept[name]), flush=True)
    return STATUS_DONE


if __name__ == "__main__":
    sys.exit(main())
