"""The visible capacity of drives that are compared: more spare space shows the host less, and generators write less."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from floatgate.base import units
from floatgate.report.sections.drive import visible_bytes
from floatgate.results.result_view import look
from floatgate.study.also_differs import SHOWN_MAX, by_value

if TYPE_CHECKING:
    from floatgate.study.compare import Comparison

Result = Mapping[str, Any]


def notes(comparison: Comparison) -> list[str]:
    """Format as ``visible capacity: 448 MiB under 0.125, 384 MiB under 0.25``; nothing where all have the same.

    Args:
        comparison: the settings.
    """
    results = [None if one.run is None else one.run.result.to_dict() for one in comparison]
    known = {size: text(result) for result in results if result and (size := visible_bytes(result))}
    if len(set(known.values())) < 2:
        return []
    shown = by_value(comparison, [text(result) if result else None for result in results])
    if len(set(known.values())) > SHOWN_MAX:
        shown = f"{known[min(known)]} to {known[max(known)]}"
    filled = all(fills(result) for result in results if result)
    follows = "; generated requests go to all of it, and the workload differs with it" if filled else ""
    return [f"visible capacity: {shown}{follows}"]


def text(result: Result) -> str | None:
    """Return the visible capacity of a result as ``448 MiB``; None where it is not known."""
    size = visible_bytes(result)
    return None if size is None else units.binary_bytes(size)


def loss(before: Result, after: Result) -> str | None:
    """Format as ``visible space fell from 448 MiB to 384 MiB``; None where a drive shows as much as the other.

    Args:
        before: the result that is changed.
        after: with the change.
    """
    sizes, texts = (visible_bytes(before), visible_bytes(after)), (text(before), text(after))
    if sizes[0] is None or sizes[1] is None or sizes[1] >= sizes[0] or texts[0] == texts[1]:
        return None
    follows = " (the generated workload with it)" if fills(before) and fills(after) else ""
    return f"visible space fell from {texts[0]} to {texts[1]}{follows}"


def fills(result: Result) -> bool:
    """Return whether a generator makes requests for all of the visible capacity."""
    workload = look(result, "config", "workload") or {}
    return workload.get("kind") == "synthetic" and not workload.get("working_set_bytes")
