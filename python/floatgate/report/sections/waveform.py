"""The capture of Ready/Busy pins that a timed run has written (``docs/rb-explorer.md``)."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.report.sections import section
from floatgate.results.result_view import look

_MULTI_PLANE = ("multi_plane", "multi_plane")
_SUSPENDED = ("program_suspend", "program_suspends")
"""Flash commands, and how often the run used them."""


def line(result: Mapping[str, Any]) -> str | None:
    """Format as ``a.vcd: 1204 low phases of die 0 in 2.0 s``."""
    table = result.get("waveform")
    if table is None:
        return None
    pins = "all dies" if table["die"] is None else f"die {table['die']}"
    span = units.span(table["until_s"] - table["from_s"])
    return f"{table['file']}: {table['low_phases']} low phases of {pins} in {span}"


def command(result: Mapping[str, Any]) -> str | None:
    """Return the command that measures the capture."""
    table = result.get("waveform")
    if table is None:
        return None
    shape = dict(table["shape"])
    blocks = look(dict(result), "config", "drive", "geometry", "blocks_per_plane")
    if blocks is not None:
        shape["blocks_per_plane"] = blocks
    pages = _multi_page(result)
    if pages is not None:
        shape["multi_page"] = pages
    options = " ".join(f"--{key.replace('_', '-')} {value}" for key, value in shape.items())
    return f"floatgate rb measure {shlex.quote(table['file'])} {options} --host-bytes {table['host_bytes']}"


def doubts(result: Mapping[str, Any]) -> list[str]:
    """Say why that command measures another write amplification than that of the run: flash commands that it used."""
    table = result.get("waveform")
    if table is None:
        return []
    texts, pages = [], _pages_per_low_phase(table)
    several, pieces = _used(result, *_MULTI_PLANE), _used(result, *_SUSPENDED)
    if several and _multi_page(result) is None:
        texts.append("multi-plane programs write several pages in one low phase; counted as one, WAF is too low")
    if pieces:
        mean = "" if several or not pages or pages >= 1 else f" ({1 / pages:.4g} on average)"
        texts.append(f"a suspended program is several low phases{mean}; each counts as a program, WAF is too high")
    if _used(result, "erase_suspend", "erase_suspends"):
        texts.append("a suspended erase is several low phases, which may be as short as programs and count as these")
    if _used(result, "cache_program", "cache_programs"):
        texts.append(
            "a cache program is low only until the array takes its data; its length may be that of a read, and it then "
            "counts as one"
        )
    mean = "multi-plane programs write several pages in one low phase: --multi-page is their mean in this run"
    known = [mean] if several and _multi_page(result) is not None else []
    return [*known, *(f"rb measure will be off: {text}" for text in texts)]


def _multi_page(result: Mapping[str, Any]) -> str | None:
    """Return the pages per program for the command; None where a die has one plane or the run does not show them."""
    table = result["waveform"]
    planes = table["shape"]["planes"]
    if planes == 1:
        return None
    if not _used(result, *_MULTI_PLANE):
        return "1"
    pages = _pages_per_low_phase(table)
    # Suspended programs are several low phases, whose mean says nothing of the planes.
    return None if not pages or _used(result, *_SUSPENDED) else f"{min(max(pages, 1.0), planes):.3f}"


def _used(result: Mapping[str, Any], key: str, counter: str) -> bool:
    """Return whether the drive has a flash command and used it in the run."""
    whole = dict(result)
    has = look(whole, "config", "drive", "commands", key) not in (None, False, "none")
    return has and look(whole, "commands", counter) != 0


def _pages_per_low_phase(table: Mapping[str, Any]) -> float | None:
    """Return the pages that the drive programmed / low phases of programs, a captured die standing for all."""
    shape = table["shape"]
    dies = 1 if table["die"] is None else shape["channels"] * shape["chips"] * shape["dies"]
    return table["flash"]["programs"] / dies / table["programs"] if table["programs"] else None


def lines(result: Mapping[str, Any]) -> list[section.Line]:
    """Return what was written, the command that measures it, and why its figure will be off."""
    return [("waveform", line(result)), ("", command(result)), *(("", text) for text in doubts(result))]


SECTION = section.Section("waveform", lines=lambda _, result: lines(result))
