"""READY's proxy by the paper's Table 1, and twins whose bursts are shorter or longer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from floatgate.base.errors import input_error
from floatgate.run.experiment import Overrides
from floatgate.trace import library

PROXY = Path(__file__).parent / "proxy.toml"
TWIN_FOLDER = library.FOLDER.parent / "configs" / "twins"
BURSTS = ("1", "10", "100", "10000", "1000000")
"""Requests of a burst; 750 in the twins. The longest has nearly all requests of a window of ten minutes at once."""


def prepare(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    """Name the twins by their files; a trace of the user's takes the place of its workload."""
    made: dict[str, Overrides] = {}
    for name in workloads:
        trace, _, burst = name.partition("-burst-")
        if name in traces:
            continue
        if burst:
            made[name] = [("workload.twin", str(with_bursts(TWIN_FOLDER / f"{trace}.toml", burst, folder)))]
        elif name == "proxy":
            made[name] = [("workload.twin", str(PROXY))]
    return made


def with_bursts(source: Path, requests: str, folder: Path) -> Path:
    """Write the twin of a file with bursts of so many ``requests`` into a folder.

    Raises:
        InputError: the twin is not there, or has no bursts.
    """
    if not source.is_file():
        raise input_error(f"{source}: the twin is not there; expected floatgate to be installed from its checkout")
    key = "burst_requests"
    text, count = re.subn(rf"^{key} = \S+$", f"{key} = {requests}", source.read_text("utf-8"), flags=re.MULTILINE)
    if count != 1:
        raise input_error(f"{source}: {key} is not there once; expected a twin with bursts")
    file = folder / f"{source.stem}-burst-{requests}.toml"
    file.write_text(text, "utf-8")
    return file
