"""Forecasts of drives that the catalogue models with a share of their blocks, as forecasts of the drives as sold.

The map cannot number all pages of the largest drives. Their model has all dies, but a share of the blocks. A forecast
lets it live under that share of the workload's rate, so each block wears as on the drive as sold. Years, write
amplification and drive writes are the same then; bytes are the model's divided by the share. The close-up has the whole
rate, since the model has all dies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.report.sections import drive
from floatgate.report.sections.forecast import entry
from floatgate.results.result_view import look

KEY = "modelled_share"
"""Key of the share in ``lifetime.json``."""
_BYTES = (
    ("drive", ("physical_bytes", "logical_bytes")),
    ("lifetime", ("c_ssd_bytes", "c_ssd_recovered_bytes", "w_work_bytes")),
)
"""Bytes of the model, by table."""
_COURSES = ("series", "detail")
"""Tables of columns over time, of which those in bytes are the model's."""


def as_sold(result: dict[str, Any], share: float) -> dict[str, Any]:
    """Return the forecast of a model as one of the drive as sold.

    Args:
        result: the forecast of the core, at this share of the workload's rate.
        share: the share of the drive that is modelled.
    """
    made = {**result, KEY: share}
    if share == 1.0:
        return made
    for name, keys in _BYTES:
        made[name] = {**made[name], **{key: _whole(made[name][key], share) for key in keys if key in made[name]}}
    rated = made["drive"].get("rated")
    if rated is not None:
        made["drive"]["rated"] = {**rated, "visible_tbw_bytes": _whole(rated["visible_tbw_bytes"], share)}
    one = made["pass"]
    # The model takes longer for a pass.
    made["pass"] = {**one, "span_s": one["span_s"] * share, "passes": _whole(one["passes"], share)}
    for name in _COURSES:
        made[name] = _course(made.get(name), share)
    return made


def _course(columns: dict[str, Any] | None, share: float) -> dict[str, Any] | None:
    if columns is None:
        return None
    return {
        key: [_whole(one, share) for one in values] if key.endswith("_bytes") else values
        for key, values in columns.items()
    }


def _whole(value: float | None, share: float) -> float | None:
    """Return the figure of the whole drive, as whole a number as that of the model."""
    if value is None:
        return None
    return round(value / share) if isinstance(value, int) else value / share


def remark(result: Mapping[str, Any] | None, name: str | None = None) -> str | None:
    """Say that a drive is modelled with a share of its blocks; None for a drive that has them all.

    Args:
        result: a forecast, or the part of one that a plan keeps.
        name: the drive; None for the name that the forecast has.
    """
    share = entry.modelled_share(result)
    if result is None or share == 1.0:
        return None
    part = f"1/{round(1 / share)}"
    text = (
        f"{name or drive.name(result) or 'the drive'} is modelled with {part} of its blocks under {part} of the "
        "workload's rate; years and bytes are those of the drive as sold"
    )
    if entry.throttled(result):
        text += f"; delays of the throttle are those of the model, about {round(1 / share)} times as long"
    if entry.waf_is_set(result) or look(result, "workload", "kind") == "synthetic":
        return text
    return f"{text}; WAF is that of the model, and {part} of the spare space gives no lower one"
