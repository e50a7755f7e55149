"""The traces of a leaderboard: writes alone, with pages numbered without gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floatgate.base.errors import input_error, quote, reading, repeated
from floatgate.base.json_in import Node
from floatgate.study.leaderboard.drives import SMALLEST, STREAMS
from floatgate.trace import conversion, library
from floatgate.trace.dense_traces import PAGE_BYTES, Dense, dense

FOLDER = "leaderboard-traces"
"""The folder of traces within that of a leaderboard."""
ONE_WRITE = ".one-write.parquet"
"""The trace with which the memory of policies is measured; no other has a name with a dot in front."""
PASSES = 2
"""Passes over a trace that are measured; one pass before them is not."""
LONG_PAGE_WRITES = 1_000_000
"""Page writes from which on one pass is enough."""
_COLUMNS = {"op", "offset", "bytes"}


@dataclass(frozen=True)
class Entry:
    """A trace of a leaderboard.

    Attributes:
        name: in tables.
        source: where it came from.
        file: the writes of it, with dense pages; the path is relative to the folder of the leaderboard.
        pages: of 4 KiB that it writes, each counted once.
        page_writes: of one pass.
        passes: that are measured.
    """

    name: str
    source: str
    file: str
    pages: int
    page_writes: int
    passes: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``leaderboard.json`` keeps it."""
        return dict(vars(self))

    @classmethod
    def from_kept(cls, kept: Node) -> Entry:
        """Read what :meth:`to_dict` has made; raises InputError where it is damaged."""
        name, source, file = (kept[key].text() for key in ("name", "source", "file"))
        pages, page_writes, passes = (kept[key].whole(1) for key in ("pages", "page_writes", "passes"))
        return cls(name, source, file, pages, page_writes, passes)


@dataclass(frozen=True)
class LeftOut:
    """A trace that cannot be part of a leaderboard, with the reason."""

    name: str
    reason: str


def shipped() -> list[str]:
    """Return the names of all traces that come with the project."""
    return [*library.CONTEXTS, *library.SMALL_CACHES, *library.READS, *library.BLOCKS]


def named(sources: Sequence[str]) -> dict[str, Path]:
    """Return the files of traces by the names that tables give them.

    Args:
        sources: files, or names of shipped traces; all shipped ones without any.

    Raises:
        InputError: two have the same name, or one is no file and no shipped trace.
    """
    if not sources:
        return {name: library.path(name) for name in shipped()}
    every = list(sources)
    names = [_name(source) for source in every]
    twice = repeated(names)
    if twice:
        raise input_error(f"{quote(twice[0])}: two traces of this name; expected different names of files")
    return {name: _file(source) for name, source in zip(names, every, strict=True)}


def _file(source: str) -> Path:
    """Return the file of a trace; what looks like the name of a file is one, there or not."""
    is_file = Path(source).is_file() or Path(source).name != source or "." in source
    return Path(source) if is_file else library.path(source)


def _name(source: str) -> str:
    return Path(source).name.split(".")[0] or source


def prepared(name: str, source: Path, folder: Path) -> Entry | LeftOut:
    """Write a trace as a leaderboard needs it.

    Args:
        name: of the trace.
        source: its file.
        folder: where ``NAME.parquet`` is written.

    Raises:
        InputError: it cannot be read, or has several devices.
    """
    target = folder / f"{name}.parquet"
    converted = target.with_suffix(".converted")
    try:
        trace = _dense(source, target, converted)
    finally:
        converted.unlink(missing_ok=True)
    if trace is None or trace.distinct_pages < SMALLEST:
        target.unlink(missing_ok=True)
        wrote = 0 if trace is None else trace.distinct_pages
        return LeftOut(
            name, f"writes {wrote:,} different pages of 4 KiB; a drive that holds {STREAMS} streams has {SMALLEST:,}"
        )
    passes = PASSES if trace.page_writes < LONG_PAGE_WRITES else 1
    place = f"{FOLDER}/{target.name}"
    return Entry(name, str(source), place, trace.distinct_pages, trace.page_writes, passes)


def one_write(folder: Path) -> Path:
    """Write a trace of one page with every hint that a policy can need, and return its file.

    Args:
        folder: where it is written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    hints = {name: pa.array([1], pa.uint32()) for name in ("context", "process", "predicted_life")}
    row = {
        "time_ns": pa.array([0], pa.int64()),
        "op": pa.array(["write"]),
        "offset": pa.array([0], pa.int64()),
        "bytes": pa.array([PAGE_BYTES], pa.int64()),
        **hints,
    }
    target = folder / ONE_WRITE
    pq.write_table(pa.table(row), target)
    return target


def _dense(source: Path, target: Path, converted: Path) -> Dense | None:
    """Write the dense trace; None where the source writes nothing."""
    import pyarrow.parquet as pq

    direct = source.suffix == ".parquet" and source.is_file()
    if direct:
        with reading(source, "expected a trace"):
            direct = set(pq.read_schema(source).names) >= _COLUMNS
    if not direct:
        written = conversion.convert(str(source), str(converted), conversion.PARQUET, {"op": "write"})
        if not written["requests"]:
            return None
    used = source if direct else converted
    with reading(used, "expected a trace"):
        table = pq.read_table(used, columns=[name for name in ("op", "device") if name in pq.read_schema(used).names])
    if "write" not in table["op"].cast("string").unique().to_pylist():
        return None
    devices = table["device"].unique().to_pylist() if "device" in table.column_names else []
    if len(devices) > 1:
        raise input_error(
            f"{source}: has {len(devices)} devices; expected the trace of one, as 'floatgate trace convert --device' "
            "writes it"
        )
    return dense(used, target, contexts=False)
