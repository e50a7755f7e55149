"""The format of a trace as headlines name it: with the unit of time, where the content of the trace decided it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# The core's note on a unit that differs from the format's own (crates/trace/src/time_unit.rs).
_CORRECTED = re.compile(r"(time in \w+): in \w+ the trace would begin with ")


def named(form: Any, facts: Mapping[str, Any]) -> str:
    """Format as ``cloudphysics``, or ``cloudphysics, time in s`` if its times cannot be in the format's own unit.

    Args:
        form: name of the format.
        facts: with ``assumed``, the notes on what the trace leaves open.
    """
    corrected = next(filter(None, map(_CORRECTED.match, facts.get("assumed") or [])), None)
    return f"{form}, {corrected[1]}" if corrected else str(form)
