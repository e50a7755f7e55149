"""A volume smaller than its drive: the space that no host writes is over-provisioning."""

from __future__ import annotations

import tomllib

from floatgate.base import units
from floatgate.base.errors import input_error
from floatgate.run.experiment import Experiment, Overrides
from floatgate.run.model_share import share_of
from floatgate.run.needs import flash_bytes
from floatgate.run.run import check

SPARE_MAX = 0.95
"""The largest spare factor of a drive."""
_ALIKE = 1e-3
"""A volume that exceeds the visible capacity by less is the whole drive: sizes as sold are rounded."""


def volume_of(base: Experiment, volume_bytes: int | None, option: str = "--volume") -> Overrides:
    """Return the settings with which a drive shows only a volume; its flash, and its rated bytes, stay.

    Args:
        base: the experiment with its drive.
        volume_bytes: the size of the volume; None for the whole drive.
        option: what errors call it.

    Raises:
        InputError: the drive shows less, the volume is a small part of it, or the experiment is unusable.
    """
    if volume_bytes is None:
        return []
    resolved = check(base)
    settings = tomllib.loads(resolved)
    flash, spare = flash_bytes(settings) / share_of(base, resolved), float(settings["ftl"]["spare_factor"])
    visible = flash * (1.0 - spare)
    shown, wanted, least = map(units.decimal_bytes, (visible, volume_bytes, flash * (1.0 - SPARE_MAX)))
    if volume_bytes > visible * (1.0 + _ALIKE):
        raise input_error(f"{option}: {wanted} is more than the drive shows ({shown}); expected a volume that it holds")
    left = max(1.0 - volume_bytes / flash, spare)
    if left > SPARE_MAX:
        raise input_error(
            f"{option}: {wanted} is a small part of the drive; expected {least} or more, or another drive"
        )
    return [("ftl.spare_factor", f"{left:.9g}")]
