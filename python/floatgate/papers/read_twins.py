"""Twins of read-mostly traces made smaller, drives for them, and how these respond.

A twin made smaller by ``k`` has a k-th of the addresses, of the range of its loops, and of the requests of a pass;
sizes of requests, clusters and all shares stay. It runs on a drive of a k-th of the blocks, with a k-th of the buffer.
A block is then read as often in a pass, and as much is written per reclaim, as at full size.

The drive is full but for a fifth: beside the twin's addresses it holds cold data, which nobody reads or writes. On a
mostly free drive (``mostly_free``) nothing else is stored, and all other blocks are free.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floatgate.base.errors import input_error
from floatgate.papers.judge import Findings
from floatgate.run.experiment import Overrides
from floatgate.trace import library

CHANNELS = 8
BLOCK_BYTES = 192 * 8192
SPARE_FACTOR = 0.2
"""Of the drive that cold data fill."""
FOLDER = library.FOLDER.parent / "configs" / "twins"
TRAFFIC = "written_gib_per_hour"


@dataclass(frozen=True)
class ReadTwin:
    """A twin made smaller.

    Attributes:
        file: its TOML.
        requests: in a pass; 0 where the twin has its traffic by the hour.
        footprint_bytes: the addresses that it goes over.
    """

    file: Path
    requests: int
    footprint_bytes: int


def smaller(name: str, by: int, folder: Path, *, as_busy: bool = False) -> ReadTwin:
    """Write the twin ``name`` of the catalogue to ``folder``, ``by`` times smaller.

    ``as_busy`` also divides the span of time: as many requests arrive per second as in the whole twin. The smaller
    drive has as many dies, and they are as busy.

    Raises:
        InputError: there is no catalogue, because floatgate was not installed from its checkout.
    """
    source = FOLDER / f"{name}.toml"
    if not source.is_file():
        raise input_error(f"{source}: the twin is not there; expected floatgate to be installed from its checkout")
    text = source.read_text("utf-8")
    whole = tomllib.loads(text)
    # Addresses come in whole MiB.
    scaled = [("requests", 1), ("footprint_bytes", 1 << 20), *([("duration_s", 1)] if as_busy else [])]
    if TRAFFIC in whole:
        scaled = scaled[1:]
        hourly = whole[TRAFFIC] / (1 if as_busy else by)
        text = re.sub(rf"^{TRAFFIC} = .+$", f"{TRAFFIC} = {hourly!r}", text, count=1, flags=re.MULTILINE)
    for key, step in scaled:
        value = -(-whole[key] // (by * step)) * step
        text = re.sub(rf"^{key} = \d+$", f"{key} = {value}", text, flags=re.MULTILINE)
    loops = re.search(r"^loops = .*$", text, flags=re.MULTILINE)
    if loops is not None:
        shrunk = re.sub(r"\[(\d+),", lambda match: f"[{int(match[1]) // by},", loops[0])
        text = text.replace(loops[0], shrunk)
    file = folder / f"{name}{'-as-busy' if as_busy else ''}.toml"
    file.write_text(text, "utf-8")
    table = tomllib.loads(text)
    return ReadTwin(file, table.get("requests", 0), table["footprint_bytes"])


def as_busy(batches: Iterable[str], name: str, by: int, folder: Path) -> dict[str, Overrides]:
    """Return what runs in time have of a workload: the twin as busy as the whole one; by ``BATCH.WORKLOAD``."""
    twin = smaller(name, by, folder, as_busy=True)
    return {f"{batch}.{name}": [("workload.twin", str(twin.file))] for batch in batches}


def drive(blocks: int) -> Overrides:
    """Return a drive of about this many blocks; the host's addresses behind the twin's hold cold data."""
    return [
        ("drive.geometry.blocks_per_plane", str(blocks // CHANNELS)),
        ("ftl.spare_factor", str(SPARE_FACTOR)),
    ]


def mostly_free(twin: ReadTwin, blocks: int) -> Overrides:
    """Return the same drive, which shows its host only the twin's addresses."""
    shown = twin.footprint_bytes / (blocks // CHANNELS * CHANNELS * BLOCK_BYTES)
    # A thousandth more than the addresses, for the last page.
    return [("ftl.spare_factor", f"{1 - 1.001 * shown:.6f}")]


def of(twin: ReadTwin, passes: int = 1) -> Overrides:
    """Return the workload: ``passes`` over the twin."""
    return [
        ("workload.kind", '"twin"'),
        ("workload.twin", str(twin.file)),
        ("workload.requests", str(passes * twin.requests)),
    ]


def response_ms(findings: Findings, run: str, name: str) -> dict[str, Any]:
    """Return response times of a run's reads around reclaims in milliseconds: ``during.p50.NAME`` and others."""
    made: dict[str, Any] = {}
    for when in ("during", "otherwise"):
        for what in ("mean", "p50", "p99", "max"):
            time_us = findings.figure(f"{run}.reclaim.response_us.{when}.{what}")
            made[f"{when}.{what}.{name}"] = None if time_us is None else time_us / 1000
    return made


def response_steps(findings: Findings, run: str) -> list[tuple[float, float]]:
    """Return the distribution of response times during reclaims, milliseconds with shares; empty without reclaims."""
    cdf = findings.look(f"{run}.reclaim.response_us.during.cdf") or {"us": [], "share": []}
    return [(time_us / 1000, share) for time_us, share in zip(cdf["us"], cdf["share"], strict=True)]
