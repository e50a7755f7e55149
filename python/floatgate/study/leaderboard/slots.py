"""The slots that have leaderboards: separators and victim policies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from floatgate import _core
from floatgate.base.errors import input_error, meant, quote
from floatgate.run.experiment import Overrides

KNOWING = ("fk", "ora", "predicted")
"""Separators that know the future, or what was predicted: no drive can have them, so they have no rank."""


@dataclass(frozen=True)
class Slot:
    """A slot of a leaderboard.

    Attributes:
        name: of the option.
        table: the slot in an experiment.
        what: its policies in words.
        baseline: the policy that all others are compared with.
        knowing: policies without a rank.
        settings: what all runs set.
        params: parameters of single policies, as ``--param`` takes them.
    """

    name: str
    table: str
    what: str
    baseline: str
    knowing: tuple[str, ...] = ()
    settings: Overrides = field(default_factory=list)
    params: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The key that selects a policy."""
        return f"{self.table}.policy"

    def policies(self) -> list[str]:
        """Return the names of all policies of the slot, loaded ones included."""
        rows = json.loads(_core.catalogue(["policies"]))["policies"][self.table]
        return [row["name"] for row in rows]


SLOTS = {
    one.name: one
    for one in (
        Slot(
            "separator",
            "ftl.separate",
            "separators",
            "none",
            KNOWING,
            # The collector with which SepBIT was evaluated (Wang et al., FAST 2022).
            [("ftl.collect.policy", "cost-benefit-sqrt")],
            # Blocks here are far smaller than the segments of SFS; without the column there is nothing to go by.
            {"sfs.quantize_every_blocks": "32", "predicted.lives": "column"},
        ),
        Slot("collector", "ftl.collect", "victim policies", "greedy"),
    )
}
"""By the value of ``--slot``."""


def slot_of(name: str) -> Slot:
    """Return a slot by its name.

    Raises:
        InputError: there is no leaderboard of it.
    """
    if name not in SLOTS:
        raise input_error(f"--slot {quote(name)}: no leaderboard of this slot; {meant(name, SLOTS)}")
    return SLOTS[name]
