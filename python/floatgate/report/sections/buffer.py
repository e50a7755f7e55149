"""The DRAM buffer of a run."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.report.sections import section
from floatgate.results.result_view import look


def is_modelled(config: Any) -> bool:
    """Return whether a resolved experiment gives the drive a DRAM buffer."""
    return look(config, "drive", "buffer", "capacity") not in (None, "none", "0 B")


def line(result: dict[str, Any]) -> str | None:
    """Format as ``32 MiB: 61 % of page writes hit, 40 % of page reads hit, 5 % of page writes never reached flash``."""
    facts = look(result, "buffer")
    if not facts:
        return None
    written = (facts.get("write_hits") or 0) + (facts.get("write_misses") or 0)
    parts = []
    for kind in ("write", "read"):
        ratio = facts.get(f"{kind}_hit_ratio")
        if ratio is not None:
            parts.append(f"{units.share(ratio)} of page {kind}s hit")
    if written:
        spared = (facts.get("pages_merged") or 0) + (facts.get("pages_dropped") or 0)
        parts.append(f"{units.share(spared / written)} of page writes never reached flash")
    return f"{units.binary_bytes(facts['capacity_bytes'])}: {', '.join(parts) or 'nothing read or written'}"


SECTION = section.Section("buffer", lines=lambda _, result: [("buffer", line(result))])
