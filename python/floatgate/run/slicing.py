"""A smaller drive of the same make: fewer dies rather than dies with a handful of blocks."""

from __future__ import annotations

import tomllib
from typing import Any

from floatgate._core import InputError
from floatgate.run.experiment import Experiment, Overrides, toml_value
from floatgate.run.run import check

BLOCKS_MIN = 256
"""Blocks per plane below which open and free blocks take a share of the spare space that no real drive gives them."""

_FIRST = ("dies_per_chip", "chips_per_channel", "channels", "planes_per_die")
"""Parts of which smaller drives have fewer, in the order of their removal."""


def slice_of(base: Experiment, capacity: str) -> Overrides:
    """Return the settings that make the drive of ``base`` one of this capacity.

    Chips, channels and planes are divided until each plane has :data:`BLOCKS_MIN` blocks, or as many as before. Spare
    factor, blocks and times stay; a drive with fewer dies does fewer operations at a time. If ``base`` cannot be
    resolved without them, only the capacity is set.
    """
    overrides: Overrides = [("drive.capacity", toml_value("drive.capacity", capacity))]
    try:
        geometry = _geometry(base)
    except InputError:
        return overrides
    least = min(BLOCKS_MIN, geometry["blocks_per_plane"])
    counts = {name: int(geometry[name]) for name in _FIRST}
    while True:
        shape: Overrides = [(f"drive.geometry.{name}", str(n)) for name, n in counts.items() if n != geometry[name]]
        try:
            enough = _geometry(base.with_overrides(shape + overrides))["blocks_per_plane"] >= least
        except InputError:
            # Less than a block per plane, or too few to run at all.
            enough = False
        name = next((name for name in _FIRST if counts[name] > 1), None)
        if enough or name is None:
            return shape + overrides
        counts[name] //= _smallest_prime(counts[name])


def _geometry(experiment: Experiment) -> dict[str, Any]:
    geometry: dict[str, Any] = tomllib.loads(check(experiment))["drive"]["geometry"]
    return geometry


def _smallest_prime(number: int) -> int:
    return next(divisor for divisor in range(2, number + 1) if number % divisor == 0)
