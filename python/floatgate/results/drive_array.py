"""The array of flash of a drive: its channels, dies and planes, of an experiment or of the catalogue."""

from __future__ import annotations

import functools
import json
import tomllib
from collections.abc import Mapping, Sequence
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
def entries_of_catalogue() -> Sequence[dict[str, Any]]:
    """Return the drives of the catalogue, as ``floatgate drives --json`` has them; the core takes long to list them."""
    entries: list[dict[str, Any]] = json.loads(_core.catalogue(("drives",)))["drives"]
    return entries


@functools.cache
def settings_of(name: str | None) -> Mapping[str, Any]:
    """Return what a drive of the catalogue states; empty without a name, or for an unknown one."""
    toml = "" if name is None else next((one["toml"] for one in entries_of_catalogue() if one["name"] == name), "")
    return tomllib.loads(toml)


def of_drive(name: str | None) -> DriveArray | None:
    """Return the array of a drive of the catalogue; None without a name, or for an unknown one."""
    settings = settings_of(name)
    return DriveArray.of(settings["drive"]["geometry"]) if settings else None


def of_catalogue() -> Mapping[str, DriveArray]:
    """Return the arrays of the drives of the catalogue, by name."""
    names = [str(one["name"]) for one in entries_of_catalogue()]
    return {name: array for name in names if (array := of_drive(name)) is not None}
