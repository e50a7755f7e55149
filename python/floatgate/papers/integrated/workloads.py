"""The paper's workloads as twins, made smaller together with the drive; recorded programs; pages of one ratio each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from floatgate.base.errors import input_error
from floatgate.lab import content_trace
from floatgate.lab.content import Pages
from floatgate.run.experiment import Overrides, trace_overrides
from floatgate.trace import library
from floatgate.trace.dense_traces import dense

MIB = 1 << 20
GIB = 1 << 30
SMALLER = 32
"""Twins, traffic and drive are made smaller by this; the span of a pass, the target and epochs stay."""
CHUNK_TIMEOUT_MS = 1000
"""How long a chunk waits at full size. Pages come so many times more rarely as the traffic is smaller."""
WKSN = {"written_gib_per_hour": "1.896", "duplicate_share": "0.13", "compressed_share": "0.39"}
"""WKSN's traffic and content, fitted on the drive by the rules that the page states."""
FILL: Overrides = [("ftl.precondition", '"sequential"'), ("ftl.spare_factor", "0.22")]
"""WKSN's drive: three quarters of it hold data before the trace begins, as many as the twin has addresses."""
AS_ASSUMED: dict[str, Overrides] = {
    "new": [("ftl.precondition", '"none"'), ("ftl.spare_factor", "0.07")],
    "full": [("ftl.precondition", '"sequential"'), ("ftl.spare_factor", "0.07")],
}
"""Batches with the twin of WKSN as the catalogue has it, whose content was fitted as if collection were free."""
BATCHES = ("lives", "steady", *AS_ASSUMED, *(f"seed-{seed}" for seed in (2, 3, 4, 5, "2-integrated", "3-integrated")))
COMPRESSING = ("compression", "integrated")
DRIVE_BYTES = 64 * GIB
TWINS = ("wksn", "media", "dvmt")
STEADY = {"daily_swing": "0.0", "noise": "0.0"}
"""Twins whose demand hardly changes from hour to hour."""
TWIN_FOLDER = library.FOLDER.parent / "configs" / "twins"

REAL_TARGET_YEARS = {"sqlite-content": 0.016, "build-content": 0.05, "media-content": 0.025}
"""Half as long again as the baseline lives on a drive of 64 MiB (calibrated): recordings write without a pause."""
REAL: Overrides = [
    ("drive.capacity", '"64 MiB"'),
    ("drive.geometry.channels", "1"),
    ("drive.geometry.pages_per_block", "32"),
]

PAGES = 20_000
"""Pages of a workload of one ratio."""
PAGE_BYTES = 4096


def prepare(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    """Make the twins smaller and the traces, and size the drives; a trace of the user's gets the whole drive."""
    made: dict[str, Overrides] = {}
    for name in workloads:
        if name in traces:
            made[name] = [*trace_overrides(traces[name]), *_drive(1), ("workload.beyond", '"wrap"')]
            made |= {f"{batch}.{name}": drive for batch, drive in AS_ASSUMED.items()}
        elif name in TWINS:
            fitted = WKSN if name == "wksn" else {}
            twin = _twin(name, folder, "", fitted)
            made[name] = [("workload.kind", '"twin"'), ("workload.twin", str(twin)), *_drive(SMALLER)]
            made[name] += FILL if fitted else []
            made |= _batches(name, folder)
        elif name in REAL_TARGET_YEARS:
            trace = dense(library.path(name), folder / f"{name}.parquet", trims=True)
            target = ("lifetime.throttle.target_years", str(REAL_TARGET_YEARS[name]))
            made[name] = [*trace_overrides(str(trace.file)), *REAL, target, ("ftl.precondition", '"sequential"')]
        else:
            made[name] = [*trace_overrides(str(_of_one_ratio(name, folder))), ("drive.capacity", '"1 GiB"')]
            made[name].append(("workload.repeat", "1"))
    return made


def _batches(name: str, folder: Path) -> dict[str, Overrides]:
    """Return the settings of a twin's batches: chunks that wait as many pages as at full size, other twins."""
    made: dict[str, Overrides] = {f"steady.{name}": [("workload.twin", str(_twin(name, folder, "-steady", STEADY)))]}
    for batch, drive in AS_ASSUMED.items():
        made[f"{batch}.{name}"] = [("workload.twin", str(_twin(name, folder, "-assumed", {}))), *drive]
    wait = ("lifetime.reduce.chunk_timeout_ms", str(CHUNK_TIMEOUT_MS * SMALLER))
    return made | {f"{batch}.{name}.{variant}": [wait] for batch in BATCHES for variant in COMPRESSING}


def _drive(smaller: int) -> Overrides:
    return [("drive.capacity", f'"{DRIVE_BYTES // smaller // MIB} MiB"')]


def _twin(name: str, folder: Path, suffix: str, settings: Mapping[str, str]) -> Path:
    """Write a twin with other settings, made smaller, into a folder."""
    source = TWIN_FOLDER / f"{name}.toml"
    if not source.is_file():
        raise input_error(f"{source}: the twin is not there; expected floatgate to be installed from its checkout")
    text = source.read_text("utf-8")
    for key, value in settings.items():
        text = _replaced(source, text, key, value)
    traffic, addresses = (_value(source, text, key) for key in ("written_gib_per_hour", "footprint_bytes"))
    text = _replaced(source, text, "written_gib_per_hour", str(float(traffic) / SMALLER))
    text = _replaced(source, text, "footprint_bytes", str(int(addresses) // SMALLER))
    file = folder / f"{name}{suffix}.toml"
    file.write_text(text, "utf-8")
    return file


def _value(source: Path, text: str, key: str) -> str:
    values = re.findall(rf"^{key} = (\S+)$", text, flags=re.MULTILINE)
    if len(values) != 1:
        raise input_error(f"{source}: {key} is not there once; expected a twin that has it")
    return str(values[0])


def _replaced(source: Path, text: str, key: str, value: str) -> str:
    _value(source, text, key)
    return re.sub(rf"^{key} = \S+$", f"{key} = {value}", text, flags=re.MULTILINE)


def ratio_of(name: str) -> tuple[str, float]:
    """Format as ``compressed-25``: the kind, and the share that compression takes off, or of pages that are copies."""
    kind, _, percent = name.rpartition("-")
    return kind, int(percent) / 100


def _of_one_ratio(name: str, folder: Path) -> Path:
    """Make pages that all compress to the same size, or of which a share are copies of an earlier one."""
    kind, ratio = ratio_of(name)
    prints = np.arange(1, PAGES + 1, dtype="u8")
    sizes = np.full(PAGES, PAGE_BYTES, dtype="u2")
    if kind == "duplicate":
        # Spread evenly; a copy has the content of the last page that is no copy.
        copies = np.floor(np.arange(1, PAGES + 1) * ratio) > np.floor(np.arange(PAGES) * ratio)
        prints = np.maximum.accumulate(np.where(copies, 0, prints)).astype("u8")
        prints[prints == 0] = 1
    else:
        sizes[:] = round(PAGE_BYTES * (1 - ratio))
    pages = Pages(prints.tobytes(), sizes.tobytes(), np.array([PAGES], dtype="u4").tobytes())
    file = folder / f"{name}.parquet"
    content_trace.write(str(file), pages, 1.0)
    return file
