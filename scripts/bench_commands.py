"""Time of whole commands, from start to last line, as a user waits for them: part of `make bench`.

Each command reads a recorded trace in `traces/`, mostly that of pgbench. A command that needs more memory than
is free is skipped.
"""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_history import ROOT, append, context, figure, selection
from bench_memory import available_gib, line

TITLE = "Whole commands on recorded traces, pgbench unless named"
PGBENCH = "pgbench-ext4.nbdkit-log.zst"
SQLITE = "sqlite-updates.parquet"
EIGHT = "boot-480g,ufs-256g,client-tlc-1t,client-tlc-hmb-1t,client-qlc-1t,client-tlc-2t,slc-p5810-800g,ent-tlc-mu-1t6"
SIZES = ["--capacities", "1GiB,2GiB,4GiB,8GiB", "--throttles", "none,static,ready-optimistic"]
THROTTLES = "none,static,dynamic,ready-pessimistic,ready-optimistic,qos,incremental"
POINTS = ["--capacities", "256MiB,1GiB", "--throttles", THROTTLES, "--target", "5"]
GIB = 2**30


@dataclass(frozen=True)
class Command:
    """A command that is timed."""

    key: str
    options: list[str]
    limit_s: float
    needs_gib: float = 2.0
    trace: str = PGBENCH


COMMANDS = [
    *(
        Command(f"{name}/{drive}", [name, "--drive", drive], limit_s)
        for name in ("lifetime", "run")
        for drive, limit_s in (("boot-480g", 20.0), ("client-tlc-1t", 20.0), ("ent-tlc-ri-1t92", 40.0))
    ),
    Command("plan/8-drives", ["plan", "--drives", EIGHT], 60.0, needs_gib=5.0),
    Command("plan/4-sizes-3-throttles", ["plan", "--drive", "mlc-20nm", *SIZES], 40.0),
    Command("plan/sqlite-2-sizes-7-throttles", ["plan", "--drive", "mlc-20nm", *POINTS], 20.0, trace=SQLITE),
]


def timed(command: Command, shared: dict[str, Any], history: Path | None) -> None:
    """Run a command, print its time beside its limit, and keep it."""
    free = available_gib()
    if free < command.needs_gib:
        print(
            f"    {command.key}: skipped, {free:.1f} GiB of memory are free and {command.needs_gib:.0f} GiB are needed"
        )
        return
    program = Path(sys.executable).with_name("floatgate")
    trace = ROOT / "traces" / command.trace
    words = [str(program), *command.options, "--trace", str(trace), "--quiet", "--no-report", "--json", "-"]
    begin = time.monotonic()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    took_s = time.monotonic() - begin
    more = {"unit": "s", "better": "lower", "at_most": command.limit_s}
    row = figure("commands", TITLE, f"commands/{command.key}", [took_s], build={}, **more)
    line(f"{command.key}, s", row, 1)
    if history:
        append(history, shared, [row])


def main() -> int:
    """Measure; 0 if the commands worked."""
    options = selection(__doc__ or "", "command", [command.key for command in COMMANDS])
    shared = context(options.history) if options.history else {}
    print(TITLE, flush=True)
    for command in COMMANDS:
        if not options.names or command.key in options.names:
            timed(command, shared, options.history)
    return 0


if __name__ == "__main__":
    sys.exit(main())
