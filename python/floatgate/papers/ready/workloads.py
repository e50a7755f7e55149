"""READY's proxy by the paper's Table 1, and twins whose bursts are shorter or longer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from floatgate.base.errors import input_error
from floatgate.run.experiment import Overrides
from floatgate.trace import library

PROXY = Path(__file__).parent / "proxy.toml"
TWIN_FOLDER = library.FOLDER.parent / "configs" / "twins"
BURSTS = ("1", "10", "100")
"""Requests of a burst; 750 in the twins."""
SMALLER = 64
"""Twins with bursts at one instant, and their drives, are so many times smaller. Bursts come as often and hold as much
of the drive as in the twins, in so many times fewer requests; the gaps between these are what a burst takes."""
CAPACITY_MIB = {"proj": 32 * 1024, "exchange": 128 * 1024}
"""Table 1."""


def prepare(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    """Name the twins by their files; a trace of the user's takes the place of its workload."""
    made: dict[str, Overrides] = {}
    for name in workloads:
        if name in traces:
            continue
        trace, _, burst = name.partition("-burst-")
        source = TWIN_FOLDER / f"{trace}.toml"
        if burst == "instant":
            made[name] = at_one_instant(source, folder)
        elif burst:
            settings = {"burst_requests": lambda _, burst=burst: burst}
            made[name] = [("workload.twin", str(changed(source, settings, burst, folder)))]
        elif name == "proxy":
            made[name] = [("workload.twin", str(PROXY))]
    return made


def at_one_instant(source: Path, folder: Path) -> Overrides:
    """Make the twin of a file smaller, with bursts of as many bytes at nearly one instant, for a smaller drive."""
    settings: dict[str, Callable[[str], str]] = {
        "written_gib_per_hour": lambda value: str(float(value) / SMALLER),
        "footprint_bytes": lambda value: str(int(value) // SMALLER),
        "burst_requests": lambda value: str(round(float(value) / SMALLER)),
    }
    capacity = CAPACITY_MIB[source.stem] // SMALLER
    file = changed(source, settings, "instant", folder)
    return [("workload.twin", str(file)), ("drive.capacity", f'"{capacity} MiB"')]


def changed(source: Path, settings: Mapping[str, Callable[[str], str]], suffix: str, folder: Path) -> Path:
    """Write the twin of a file with other values into a folder.

    Args:
        source: the twin.
        settings: new values by key, made from the old ones.
        suffix: of the new file's name.
        folder: where it goes.

    Raises:
        InputError: the twin is not there, or lacks a key.
    """
    if not source.is_file():
        raise input_error(f"{source}: the twin is not there; expected floatgate to be installed from its checkout")
    text = source.read_text("utf-8")
    for key, value in settings.items():
        old = re.findall(rf"^{key} = (\S+)$", text, flags=re.MULTILINE)
        if len(old) != 1:
            raise input_error(f"{source}: {key} is not there once; expected a twin that has it")
        text = re.sub(rf"^{key} = \S+$", f"{key} = {value(old[0])}", text, flags=re.MULTILINE)
    file = folder / f"{source.stem}-burst-{suffix}.toml"
    file.write_text(text, "utf-8")
    return file
