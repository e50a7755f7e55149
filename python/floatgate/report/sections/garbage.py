"""Collection by garbage (``ftl.collect.garbage_share``): whether the drive reached the share at all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.report.sections import section
from floatgate.results.result_view import look

KEY = "ftl.collect.garbage_share"


def share(result: Mapping[str, Any]) -> float | None:
    """Return the share of garbage from which a run collects; None where it goes by free blocks alone."""
    value = look(result, *["config", *KEY.split(".")])
    return float(value) if isinstance(value, int | float) else None


def dead_share(result: Mapping[str, Any]) -> float | None:
    """Return the dead pages as a share of all written pages, on average; None where it is not known.

    The effective spare factor leaves free and open pages out: of the written pages the host may read the rest.
    """
    effective, spare = look(result, "drive", "effective_spare_factor"), look(result, "drive", "spare_factor")
    return None if effective is None or spare is None else effective / (effective + 1.0 - spare)


def limit(result: Mapping[str, Any]) -> float | None:
    """Return the share below which collection by garbage acts, where a run did not or hardly reach its own; else None.

    Where garbage rules, the average is less than one block below the share. Until it rules the drive fills its spare
    space, which lowers the average of a short run; where free blocks rule, the average stays further below.
    """
    wanted, dead = share(result), dead_share(result)
    drive, levels = look(result, "drive") or {}, look(result, "config", "ftl", "collect") or {}
    programs, trigger = look(result, "flash", "programs", "total"), levels.get("trigger_free_blocks")
    if wanted is None or dead is None or not programs or trigger is None:
        return None
    blocks, domains, spare = drive["blocks"], drive["planes"], drive["spare_factor"]
    written_max = max(1.0 - trigger * domains / blocks, 1.0 - spare)
    if wanted >= 1.0 - (1.0 - spare) / written_max:
        return dead
    unit = (domains if levels.get("scope") == "superblock" else 1) / blocks
    filling = wanted * spare * blocks * drive["pages_per_block"] / programs
    return dead if wanted - dead > unit + filling else None


def _rule(wanted: float, dead: float, where: str = "") -> str:
    below = math.floor(1000.0 * dead) / 1000.0
    return (
        f"{KEY} = {wanted:g} is hardly ever reached, if at all{where}: collection goes by free blocks, with "
        f"{units.percent1(dead)} of the written pages dead on average; expected less than {below:g}"
    )


def remarks(result: dict[str, Any]) -> list[str]:
    """Note that a run did not reach its share of garbage."""
    wanted, dead = share(result), limit(result)
    return [] if wanted is None or dead is None else [_rule(wanted, dead)]


def notes(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return for each share of garbage the settings that did not reach it.

    Args:
        results: by the labels of the settings.
    """
    reached: dict[float, dict[str, float]] = {}
    for label, result in results.items():
        wanted, dead = share(result), limit(result)
        if wanted is not None and dead is not None:
            reached.setdefault(wanted, {})[label] = dead
    return [
        f"{_rule(wanted, min(each.values()), ' under ' + ', '.join(each))} (docs/separation.md)."
        for wanted, each in reached.items()
    ]


SECTION = section.Section("garbage", remarks=remarks, notes=notes)
"""Remarks on collection by garbage."""
