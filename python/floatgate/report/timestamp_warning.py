"""Warning about out-of-order time stamps, for every summary of a trace."""

from __future__ import annotations

from typing import Any

from floatgate.base import units


def remark(facts: dict[str, Any]) -> str | None:
    """Format as ``3 time stamps run backwards, the first in line 7, by at most 2.0 ms; ...``; None where none does.

    Args:
        facts: the JSON of a workload or a trace, with its ``stamps_backwards``.

    Returns:
        None where all stamps run forwards.
    """
    count = facts.get("stamps_backwards")
    if not count:
        return None
    text = "1 time stamp runs backwards" if count == 1 else f"{units.count(count)} time stamps run backwards"
    first, most = facts.get("stamps_backwards_first"), facts.get("stamps_backwards_s_max")
    if first is not None:
        text += f", in {first}" if count == 1 else f", the first in {first}"
    if most is not None:
        text += f", by {units.span(most)}" if count == 1 else f", by at most {units.span(most)}"
    which = "it" if count == 1 else "each"
    return f"{text}; {which} counts as arriving with the request before it"
