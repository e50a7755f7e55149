"""A paper with every kind of run: in stages from drives, of a prepared trace, timed, captured, forecast, looked at.

It takes seconds, and has as many runs as a study that is killed needs.
"""

from __future__ import annotations

from pathlib import Path

RUNS = 18

PAPER = """
title = "Stages"
source = "A. Nobody, 2026"
[quick]
about = "Fewer requests."
each = { even = { "workload.requests" = 2000 } }
[workload.even]
set = { "workload.pattern" = "uniform" }
[workload.made]
[variant.greedy]
set = { "ftl.collect.policy" = "greedy" }
[variant.fifo]
set = { "ftl.collect.policy" = "fifo" }
[[batch]]
name = "worn"
command = "run"
[[batch]]
name = "timed"
command = "run"
from = "worn"
responses = true
set = { mode = "timed" }
each = { even = { "workload.requests" = 4000 } }
[[batch]]
name = "pins"
command = "run"
workloads = ["even"]
from = "worn"
set = { mode = "timed", "workload.requests" = 2000 }
[batch.capture.as]
one = { dies = [0] }
[[batch]]
name = "last"
command = "run"
workloads = ["made"]
from = "timed"
[[batch]]
name = "lives"
set = { "lifetime.forecast.waf" = 2.0, "lifetime.throttle.target_years" = 0.01 }
each = { even = { "workload.requests" = 3000 } }
detail_s = [0, 2]
[[batch]]
name = "seen"
command = "patterns"
workloads = ["even"]
[[batch]]
name = "dispatched"
command = "dispatch"
workloads = ["made"]
variants = ["greedy"]
quick = false
"""
EXPERIMENT = """
[drive]
capacity = "64 MiB"
[drive.geometry]
pages_per_block = 64
[ftl]
spare_factor = 0.2
precondition = "random"
[ftl.separate]
policy = "none"
[workload]
requests = 60000
read_share = 0.2
rate_per_s = 1000.0
"""
CLAIMS = """
[[claim]]
id = "greedy-below-fifo"
text = "Greedy moves less"
where = "section 1"
judge = "order"
values = ["worn.even.greedy.waf", "worn.even.fifo.waf"]
direction = "rising"
[[claim]]
id = "lives"
text = "The drive wears out"
where = "section 2"
judge = "below"
value = "lives.made.greedy.lifetime.years"
than = 1000.0
"""
WORKLOADS = """
from floatgate.papers.patterns.workloads import Load, write
from floatgate.run.experiment import trace_overrides

def prepare(workloads, traces, folder):
    if "made" in traces:
        return {}
    return {"made": trace_overrides(write(folder / "made.parquet", Load(8000, 32, 2, 0.9, 2e4), 40000, 0.3, seed=1))}
"""


def write(folder: Path) -> Path:
    """Write the paper into a new folder."""
    folder.mkdir()
    for name, text in (
        ("paper.toml", PAPER),
        ("experiment.toml", EXPERIMENT),
        ("claims.toml", CLAIMS),
        ("workloads.py", WORKLOADS),
    ):
        (folder / name).write_text(text, "utf-8")
    return folder
