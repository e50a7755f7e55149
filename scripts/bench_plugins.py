"""Speed of policies from outside beside floatgate's own that decide the same: part of `make bench`.

The policies are those of `tests/python/policies/copies_of_the_core.py`. Compiled ones need Numba, and are skipped
without it.
"""

from __future__ import annotations

import statistics
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import floatgate
from bench_history import ROOT, append, context, figure, selection
from bench_memory import line

TITLE = "Policies in Python beside the core's own, 8 GiB drive, uniform writes, programs per CPU second"
COPIES = ROOT / "tests" / "python" / "policies" / "copies_of_the_core.py"
DRIVE: dict[str, Any] = {
    "drive.capacity": "8 GiB",
    "drive.geometry.pages_per_block": 256,
    "ftl.spare_factor": 0.07,
    "ftl.precondition": "random",
}
WRITES, WRITES_SLOW = 4_000_000, 200_000
ROUNDS = 3
COMPILED = [
    ("ftl.collect.policy", "greedy", 0.8),
    ("ftl.collect.policy", "fifo", 0.8),
    ("ftl.collect.policy", "cost-benefit", 0.8),
    ("ftl.separate.policy", "dac", 0.5),
    ("ftl.separate.policy", "sepbit", 0.5),
]
"""Key, policy, and the share of the core's speed that is asked."""
INTERPRETED = [
    ("ftl.collect.policy", "greedy", 1.0),
    ("ftl.collect.policy", "cost-benefit", 1.0),
    ("ftl.separate.policy", "dac", None),
]
"""Key, policy, and the M programs per CPU second that are asked."""


def declare(*, compiled: bool) -> None:
    """Declare the copies."""
    text = COPIES.read_text("utf-8").replace(")\nclass", f", compiled={compiled})\nclass").replace("(, ", "(")
    exec(compile(text, str(COPIES), "exec"), {"__name__": "copies"})


def rate(key: str, policy: str, writes: int) -> float:
    """Return M programs per CPU second of a run."""
    result = floatgate.run({**DRIVE, "workload.requests": writes, key: policy}).result.to_dict()
    return float(result["run"]["programs_per_cpu_s"]) / 1e6


def compiled(key: str, policy: str, at_least: float) -> dict[str, Any]:
    """Measure a compiled policy and the core's in turns; return the row of their ratio."""
    pairs = [(rate(key, f"{policy}-here", WRITES), rate(key, policy, WRITES)) for _ in range(ROUNDS)]
    core = statistics.median(own for _, own in pairs)
    yardstick = {"name": policy, "value": core, "unit": "M programs/s"}
    ratios = [own / other for own, other in pairs]
    more = {"better": "higher", "yardstick": yardstick, "at_least": at_least}
    return figure("plugins", TITLE, f"compiled/{policy}", ratios, **more)


def interpreted(key: str, policy: str, at_least: float | None) -> dict[str, Any]:
    """Measure a policy under the interpreter; return the row of its rate."""
    writes = WRITES_SLOW if key == "ftl.separate.policy" else WRITES
    rates = [rate(key, f"{policy}-here", writes) for _ in range(ROUNDS)]
    return figure("plugins", TITLE, f"interpreted/{policy}", rates, unit="M/s", better="higher", at_least=at_least)


def measure(history: Path | None) -> None:
    """Measure all policies, print their figures, and keep them."""
    shared = context(history) if history else {}
    rows = []
    print(TITLE, flush=True)
    if find_spec("numba") is None:
        print("    compiled ones skipped: Numba is not installed")
    else:
        declare(compiled=True)
        for case in COMPILED:
            rows.append(compiled(*case))
            line(f"{rows[-1]['key']}, of the core's", rows[-1])
    declare(compiled=False)
    for key, policy, at_least in INTERPRETED:
        rows.append(interpreted(key, policy, at_least))
        line(f"{rows[-1]['key']}, M programs/s", rows[-1])
    if history:
        append(history, shared, rows)


def main() -> int:
    """Measure; 0 if the runs worked."""
    measure(selection(__doc__ or "", "policy", [policy for _, policy, _ in COMPILED]).history)
    return 0


if __name__ == "__main__":
    sys.exit(main())
