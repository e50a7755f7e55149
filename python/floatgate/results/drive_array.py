"""The array of flash of a drive: its channels, dies and planes, of an experiment or of the catalogue."""

from __future__ import annotations

import functools
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from floatgate import _core


@dataclass(frozen=True)
class DriveArray:
    """What works at the same time in a drive.

    Attributes:
        channels: channels of the drive.
        dies_per_channel: dies per channel, on all its chips.
        planes_per_die: planes per die.
    """

    channels: int
    dies_per_channel: int
    planes_per_die: int

    @classmethod
    def of(cls, geometry: Mapping[str, Any]) -> DriveArray:
        """Return the array of a resolved ``drive.geometry``."""
        dies = geometry["chips_per_channel"] * geometry["dies_per_chip"]
        return cls(geometry["channels"], dies, geometry["planes_per_die"])

    @property
    def dies(self) -> int:
        """All dies."""
        return self.channels * self.dies_per_channel

    def words(self) -> str:
        """Return it as ``4 channels x 1 die, 2 planes each``."""
        channels, dies, planes = (
            f"{count} {noun}{'' if count == 1 else 's'}"
            for count, noun in (
                (self.channels, "channel"),
                (self.dies_per_channel, "die"),
                (self.planes_per_die, "plane"),
            )
        )
        return f"{channels} x {dies}, {planes} each"

    def product(self) -> str:
        """Return it as a table has it: ``4 x 1 x 2``."""
        return f"{self.channels} x {self.dies_per_channel} x {self.planes_per_die}"


@functools.cache
def settings_of_catalogue() -> Mapping[str, Mapping[str, Any]]:
    """Return what the drives of the catalogue state, by name."""
    entries = json.loads(_core.catalogue(("drives",)))["drives"]
    return {entry["name"]: tomllib.loads(entry["toml"]) for entry in entries}


@functools.cache
def of_catalogue() -> Mapping[str, DriveArray]:
    """Return the arrays of the drives of the catalogue, by name."""
    drives = settings_of_catalogue().items()
    return {name: DriveArray.of(settings["drive"]["geometry"]) for name, settings in drives}
