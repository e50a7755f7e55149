"""The maker's rating of a drive: the rated bytes, and when the host has written them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.report.sections import growing, lifetime_headline, section
from floatgate.report.sections.lifetime_headline import tbw_text
from floatgate.results.result_view import look

Facts = Mapping[str, Any] | None
"""A result or a forecast."""

_DAYS = 365.0
"""Days per year, as makers and the core count them."""
SECONDS_PER_YEAR = _DAYS * 86_400.0
_ALIKE = 0.02
"""Lives that differ by less count as equal, given their errors."""


def tbw_bytes(result: Facts) -> float | None:
    """Return the rated bytes of the drive as it is, which may be scaled; None where its maker promises none."""
    value: float | None = look(result, "drive", "rated", "visible_tbw_bytes")
    return value


def years(result: Facts) -> float | None:
    """Return the years until the host has written the rated bytes, at the workload's rate; None if unknown."""
    rated, a_year = tbw_bytes(result), bytes_per_year(result)
    if not rated or not a_year:
        return None
    after = growing.years_of(rated / a_year, result)
    return None if math.isinf(after) else after


def bytes_per_year(result: Facts) -> float | None:
    """Return what the host writes per year at the workload's rate, before it grows; None if that is not known."""
    writes_a_day, visible = look(result, "lifetime", "dwpd"), look(result, "drive", "logical_bytes")
    if writes_a_day is not None and visible is not None:
        return float(writes_a_day * visible * _DAYS)
    # A forecast: bytes programmed until the target, over write amplification.
    written, waf = look(result, "lifetime", "w_work_bytes"), look(result, "waf_bytes")
    target = look(result, "lifetime", "target_years")
    if written is not None and waf and target:
        return float(written / waf / target / growing.written_of(target, result))
    # One that programs nothing, as a buffer holds all that is written: the demand, as far as it is served.
    of_pass, span_s = look(result, "workload", "write_bytes"), look(result, "pass", "span_s")
    if not of_pass or not span_s:
        return None
    return float(of_pass / span_s * SECONDS_PER_YEAR * (look(result, "throttle", "demand_share") or 1.0))


def line(result: Facts, flash_years: float | None) -> str | None:
    """Format as ``292 TBW are written after 1.4 years, before the flash is worn out``, or None."""
    rated, after = tbw_bytes(result), years(result)
    if rated is None or after is None:
        return None
    sold = look(result, "drive", "rated", "tbw_bytes")
    other = f" ({tbw_text(sold)} {_whose(result)})" if sold is not None and abs(sold / rated - 1.0) > _ALIKE else ""
    text = f"{tbw_text(rated)}{other} are written after {units.life(after, look(result, 'lifetime', 'target_years'))}"
    return text if flash_years is None else f"{text}, {_order(after, flash_years)}"


def _whose(result: Facts) -> str:
    """Name the drive that the maker's rating is of, where this one has another capacity."""
    preset = look(result, "config", "drive", "preset")
    return "as rated" if preset is None else f"for {preset} as sold"


def first_to_end(result: Facts, flash_years: float | None) -> float | None:
    """Return when the rated bytes are written, if that is before the flash is worn out; None elsewhere."""
    after = years(result)
    return after if after is not None and (flash_years is None or after < flash_years) else None


def _order(rated_years: float, flash_years: float) -> str:
    if abs(rated_years / flash_years - 1.0) < _ALIKE:
        return "when the flash is worn out"
    return f"{'before' if rated_years < flash_years else 'after'} the flash is worn out"


def cards(result: Facts) -> list[section.Card]:
    """Return when the rating is used up."""
    rated, after = tbw_bytes(result), years(result)
    target = look(result, "lifetime", "target_years")
    return [] if rated is None or after is None else [("rating used up", units.life(after, target), tbw_text(rated))]


def cell(result: Facts) -> str:
    """Format as ``1.4 years``."""
    after = years(result)
    return "-" if after is None else units.life(after)


SECTION = section.Section(
    "rating",
    lines=lambda _, result: [("rating", line(result, lifetime_headline.years(result)))],
    cards=cards,
    columns=[section.Columns(["rating"], lambda result, _: [cell(result)], lambda result: years(result) is not None)],
)
