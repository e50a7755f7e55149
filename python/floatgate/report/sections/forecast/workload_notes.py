"""What the trace of a forecast leaves open: signs that its stamps are no clock, and the units that are assumed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.report import timestamp_warning
from floatgate.results.result_view import look

Forecast = Mapping[str, Any] | None


def suspicions(result: Forecast) -> list[str]:
    """Return the signs of another unit of time or of stamps that are no clock; lives mean little if they are right."""
    return list(look(result, "workload", "suspicions") or [])


def remarks(result: Forecast) -> list[str]:
    """Return the warning about stamps that run backwards, and what was assumed of the trace."""
    kept: list[str] | None = look(result, "workload", "notes")
    if kept is not None:
        return kept
    backwards = timestamp_warning.remark(dict(look(result, "workload") or {}))
    return [*([] if backwards is None else [backwards]), *(look(result, "workload", "assumed") or [])]
