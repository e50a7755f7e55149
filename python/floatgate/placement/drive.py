"""The drive on which placements are tried: one for all runs on a recording."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floatgate import _core
from floatgate.base.errors import input_error
from floatgate.run.experiment import Experiment, Overrides

SEPARATOR = "ftl.separate."
DRIVE = """
seed = 1
[drive.geometry]
channels = 1
pages_per_block = 32
[drive.endurance]
pe_cycles = 1000000
[ftl]
precondition = "none"
spare_factor = 0.15
[workload]
warmup_passes = 1
repeat = 2
"""
"""The default drive: the trace's data fill 85 % of it, or less if they are few."""
ISOLATIONS = ("persistent", "persistent-apart", "initial")
SPARE_BLOCKS = 6
"""Spare blocks of such a drive, in addition to one per open block of the host and of collection."""
SEPBIT_STREAMS = 6
FREE_SHARE = 0.002
"""Share of its blocks, beyond those, that is set aside: collection keeps more free on a large drive."""
_PAGES_PER_BLOCK = "drive.geometry.pages_per_block"


@dataclass(frozen=True)
class Wanted:
    """The user's settings of the drive.

    Attributes:
        handles: number of placement handles, handle 0 included.
        isolation: which unit a moved page joins (``host-given``).
        reclaim_unit_kib: size of a reclaim unit; None for the drive's.
        overrides: settings.
    """

    handles: int = 8
    isolation: str = ISOLATIONS[0]
    reclaim_unit_kib: int | None = None
    overrides: Overrides | None = None

    @property
    def settings(self) -> Overrides:
        """Those of the drive itself."""
        return [one for one in self.overrides or [] if not one[0].startswith(SEPARATOR)]

    @property
    def parameters(self) -> Overrides:
        """The parameters of separators, meant for the one that makes the table."""
        return [one for one in self.overrides or [] if one[0].startswith(SEPARATOR)]


def collection_units(handles: int, isolation: str) -> int:
    """Open reclaim units for data that collection moves, in addition to those of the handles."""
    return {"persistent": 0, "persistent-apart": handles, "initial": 1}[isolation]


def workload(file: Path) -> Overrides:
    """Return the settings that run a trace."""
    return [("workload.file", str(file)), ("workload.format", "parquet")]


def drive_for(plain: Path, distinct_pages: int, wanted: Wanted) -> Experiment:
    """Return the drive: sized to the pages that are written and to the open units, unless the settings say its size.

    Args:
        plain: the trace, of dense pages.
        distinct_pages: that it writes.
        wanted: the user's settings.

    Raises:
        InputError: a setting is not usable, or there is no reclaim unit of that size.
    """
    base = Experiment(DRIVE, "placement").with_overrides(wanted.settings)
    config = _resolved(base, plain)
    if wanted.reclaim_unit_kib is not None:
        pages = _pages_per_block(config, wanted, wanted.reclaim_unit_kib)
        base = base.with_overrides([(_PAGES_PER_BLOCK, str(pages))])
        config["drive"]["geometry"]["pages_per_block"] = pages
    if {key for key, _ in wanted.settings} & {"drive.preset", "drive.capacity", "drive.geometry.blocks_per_plane"}:
        return base
    geometry, spare = config["drive"]["geometry"], config["ftl"]["spare_factor"]
    filled = max(1, int(geometry["pages_per_block"] * (1 - spare)))
    blocks = -(-distinct_pages // (filled * _planes(geometry)))
    if spare > FREE_SHARE:
        # In each plane an open block for each handle and for what is moved, and some free ones; as many for SepBIT.
        own = wanted.handles + max(collection_units(wanted.handles, one) for one in {wanted.isolation, "persistent"})
        blocks = max(blocks, math.ceil((max(own, SEPBIT_STREAMS) + SPARE_BLOCKS) / (spare - FREE_SHARE)))
    return base.with_overrides([("drive.geometry.blocks_per_plane", str(blocks + 1))])


def _resolved(base: Experiment, plain: Path) -> dict[str, Any]:
    return tomllib.loads(_core.check(base.toml, base.path, [*base.overrides, *workload(plain)]))


def _planes(geometry: dict[str, Any]) -> int:
    return math.prod(geometry[level] for level in ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die"))


def unit_bytes(config: dict[str, Any]) -> int:
    """Return the size of an erase unit of a resolved experiment: a block, or a superblock."""
    geometry = config["drive"]["geometry"]
    blocks = _planes(geometry) if config["ftl"]["collect"]["scope"] == "superblock" else 1
    return int(geometry["pages_per_block"] * geometry["page_bytes"] * blocks)


def _pages_per_block(config: dict[str, Any], wanted: Wanted, kib: int) -> int:
    """Return the pages per block with which a block, or a superblock, is a reclaim unit of the requested size."""
    if _PAGES_PER_BLOCK in {key for key, _ in wanted.settings}:
        raise input_error(
            f"--reclaim-unit-kib {kib}: {_PAGES_PER_BLOCK} says the size of a unit, too; expected one of the two"
        )
    size = kib << 10
    page_of_all: int = unit_bytes(config) // config["drive"]["geometry"]["pages_per_block"]
    if size <= 0 or size % page_of_all:
        raise input_error(
            f"--reclaim-unit-kib {kib}: a page of each block of a unit makes {page_of_all >> 10} KiB on this drive; "
            "expected a multiple of that"
        )
    return size // page_of_all
