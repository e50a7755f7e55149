"""redFTL's hot pages and replicas in the core against an independent model (:mod:`redftl_model`)."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import floatgate
from redftl_model import RedFtl, Shape

PAGE_BYTES = 4096
REQUESTS = 40_000


def requests(seed: int, logical: int) -> list[tuple[str, int]]:
    """Reads of a hot fifth of the pages, unevenly, and of all others; some overwrites."""
    rng = random.Random(seed)
    hot = rng.sample(range(logical), logical // 5)
    made = []
    for _ in range(REQUESTS):
        kind = rng.random()
        anywhere, within = rng.randrange(logical), hot[int(len(hot) * rng.random() ** 2)]
        made.append(("Write", anywhere) if kind < 0.003 else ("Read", within if kind < 0.75 else anywhere))
    return made


def core(shape: Shape, logical: int, served: list[tuple[str, int]], folder: Path) -> dict[str, Any]:
    """Run the core on the same drive and requests, and return its table ``reclaim``."""
    trace = folder / "requests.csv"
    lines = (
        f"{10**17 + 10**4 * i},h,0,{kind},{lpn * PAGE_BYTES},{PAGE_BYTES},0\n" for i, (kind, lpn) in enumerate(served)
    )
    trace.write_text("".join(lines), "utf-8")
    settings = {
        **{f"drive.geometry.{one}": 1 for one in ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die")},
        "drive.geometry.blocks_per_plane": shape.blocks,
        "drive.geometry.pages_per_block": shape.pages,
        "drive.geometry.page_bytes": PAGE_BYTES,
        "drive.disturb.model": "uniform",
        "drive.disturb.max_reads": shape.max_reads,
        "ftl.spare_factor": 1 - logical / (shape.blocks * shape.pages),
        "ftl.precondition": "sequential",
        "ftl.reclaim.policy": "redftl",
        "ftl.reclaim.replica_pages": shape.tail,
        "ftl.reclaim.hot_factor": shape.hot_factor,
        "workload.kind": "trace",
        "workload.file": str(trace),
        "workload.format": "msr",
    }
    result = floatgate.run(settings).result.to_dict()
    assert result["drive"]["logical_bytes"] == logical * PAGE_BYTES
    assert result["gc"]["victims"] == 0
    table: dict[str, Any] = result["reclaim"]
    return table


# With small factors hot pages are more than healthy blocks take: the order of the blocks decides who gets a replica.
@pytest.mark.parametrize("hot_factor", [0.3, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_the_core_makes_the_replicas_of_the_model(hot_factor: float, seed: int, tmp_path: Path) -> None:
    shape, logical = Shape(hot_factor=hot_factor), 832
    served = requests(seed, logical)
    counts = RedFtl(shape, logical).run(served)
    assert min(counts[one] for one in ("made", "refused", "promoted", "reclaims", "died_by_update")) > 0
    table = core(shape, logical, served, tmp_path)
    replicas = table["replicas"]
    ours = {
        "reclaims": table["on_demand"],
        "moved": table["moved_pages"],
        "replications": replicas["jobs"],
        **{one: replicas[one] for one in ("made", "refused", "promoted", "died_by_update", "died_by_erase")},
    }
    assert ours == {name: counts[name] for name in ours}, f"seed {seed}"
