"""The keys by which writes of a recording are placed, and their names.

A key is a program context, a file, a pattern of paths, a process, a thread or a descriptor. Across recordings a key is
identified by its ``name``; a context by its number. Files and patterns are named by their paths. Processes, threads and
descriptors are counted in the order in which they first write (``postgres #2``), since their numbers are new each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from floatgate.base.errors import input_error, reading
from floatgate.placement import paths
from floatgate.placement.extents import stand_ins
from floatgate.trace.metadata import described

BY = ("context", "file", "path-pattern", "process", "thread", "fd")
EXPECTED = "expected a trace as floatgate trace record writes it"
RECORD_AGAIN = "expected a recording of this or a later version: record the program again with floatgate trace record"
NOBODY = -1
"""The key of a write that has none."""
NO_STACK = "(no stack)"


@dataclass(frozen=True)
class Keys:
    """The keys of a recording.

    Attributes:
        by: their kind.
        of_row: for each row of the recording the number of its key in ``names``, or :data:`NOBODY`.
        names: what keys are called.
        numbers: of contexts, their numbers; of other keys, their places in ``names``.
        frames: of contexts, their stacks; of other keys, nothing.
        stand_ins: whether extents stand for files that the recording does not name.
        paths: of files, their whole paths; None where the recording does not say from which folder a name counts.
    """

    by: str
    of_row: Any
    names: list[str]
    numbers: list[int]
    frames: list[list[str]]
    stand_ins: bool = False
    paths: list[str | None] | None = None

    def identities(self) -> list[int | str]:
        """Return what identifies each key in another recording."""
        return list(self.numbers) if self.by == "context" else list(self.names)


def keys_of(source: Path, by: str, patterns: list[str] | None = None) -> Keys:
    """Return the keys of a recording's rows.

    Args:
        source: the recording.
        by: one of :data:`BY`.
        patterns: with ``path-pattern``, those of another recording's table, in place of its own.

    Raises:
        InputError: the recording lacks the columns of these keys.
    """
    table, about = _read(source)
    with reading(source, EXPECTED):
        if by == "context":
            return _contexts(source, table, about)
        if by == "file":
            return _files(table, about)
        if by == "path-pattern":
            return _patterns(source, table, about, patterns)
        return _writers(source, table, about, by)


def _read(source: Path) -> tuple[Any, dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    recorded = "expected a trace that 'floatgate trace record' wrote"
    if not source.is_file():
        raise input_error(f"{source}: {'is not a file' if source.exists() else 'no such file'}; {recorded}")
    with reading(source, EXPECTED):
        try:
            names = pq.read_schema(source).names
            wanted = ["op", "offset", "bytes", "context", "file", "process", "thread", "fd"]
            table = pq.read_table(source, columns=[name for name in wanted if name in names])
            metadata = pq.read_metadata(source).metadata
        except (pa.ArrowInvalid, OSError) as error:
            raise input_error(f"{source}: {str(error).splitlines()[0]}; {recorded}") from None
    return table, described(metadata, source)


def _numbers(table: Any, column: str) -> Any:
    """Return a column of whole numbers, with :data:`NOBODY` for nulls."""
    values = table[column].combine_chunks()
    there = values.is_valid().to_numpy(zero_copy_only=False)
    return np.where(there, values.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64), NOBODY)


def _known(source: Path, table: Any, column: str, what: str) -> Any:
    if column not in table.schema.names:
        raise input_error(f"{source}: does not say {what} (no column '{column}'); {RECORD_AGAIN}")
    return _numbers(table, column)


def _by_first(values: Any) -> tuple[list[int], Any]:
    """Return the distinct values from 0 on in the order in which they first occur, and the place of each value."""
    known, first, place = np.unique(values, return_index=True, return_inverse=True)
    order = [int(one) for one in np.argsort(first, kind="stable") if known[one] >= 0]
    rank = np.full(len(known), NOBODY)
    rank[order] = np.arange(len(order))
    return [int(known[one]) for one in order], rank[place]


def _merged(names: list[str], place: Any) -> tuple[list[str], Any]:
    """Merge keys of one name."""
    numbers: dict[str, int] = {}
    of = np.array([numbers.setdefault(name, len(numbers)) for name in names] or [NOBODY])
    return list(numbers), np.where(place >= 0, of[place], NOBODY)


def _contexts(source: Path, table: Any, metadata: Mapping[str, Any]) -> Keys:
    recorded = "expected a trace that 'floatgate trace record' wrote"
    if "context" not in table.schema.names:
        raise input_error(f"{source}: no column 'context'; {recorded}")
    context = table["context"].combine_chunks().fill_null(0).to_numpy(zero_copy_only=False).astype(np.uint64)
    known = np.unique(context[context != 0])
    if not len(known):
        raise input_error(f"{source}: no write has a context; {recorded}")
    place = np.where(context != 0, np.searchsorted(known, context), NOBODY)
    about = metadata.get("contexts", {})
    entries = [about.get(str(int(one)), {}) for one in known]
    names = [one.get("name", NO_STACK) for one in entries]
    return Keys("context", place, names, [int(one) for one in known], [one.get("frames", []) for one in entries])


def _files(table: Any, metadata: Mapping[str, Any]) -> Keys:
    if "file" not in table.schema.names:
        place, extents = stand_ins(table)
        return _named("file", place, [f"file that begins in extent {one}" for one in extents], stand_ins=True)
    known, place = _by_first(_numbers(table, "file"))
    names, place = _merged(_paths(known, metadata), place)
    named = {str(one) for one in metadata.get("files", {}).values()}
    whole = [_whole(name, metadata.get("folder")) if name in named else None for name in names]
    return replace(_named("file", place, names), paths=whole)


def _paths(files: list[int], metadata: Mapping[str, Any]) -> list[str]:
    about = metadata.get("files", {})
    return [str(about.get(str(one), f"file {one}")) for one in files]


def _whole(name: str, folder: object) -> str | None:
    """Make a whole path of a name that counts from the folder in which the program started."""
    if name.startswith("/"):
        return name
    return f"{folder.rstrip('/')}/{name}" if isinstance(folder, str) and folder.startswith("/") else None


def _patterns(source: Path, table: Any, metadata: Mapping[str, Any], wanted: list[str] | None) -> Keys:
    known, place = _by_first(_known(source, table, "file", "to which files pages belong"))
    names, place = _merged(_paths(known, metadata), place)
    patterns = wanted if wanted is not None else paths.in_order(paths.fold(name) for name in names)
    matcher = paths.Matcher(patterns)
    match_of = np.array([NOBODY if (one := matcher.first(name)) is None else one for name in names] or [NOBODY])
    return _named("path-pattern", np.where(place >= 0, match_of[place], NOBODY), patterns)


def _writers(source: Path, table: Any, metadata: Mapping[str, Any], by: str) -> Keys:
    who = "which process, thread and descriptor wrote pages"
    process = _known(source, table, "process", who)
    if not np.any(process >= 0):
        raise input_error(f"{source}: no write has a process; expected a recording of a program that writes files")
    about = metadata.get("processes", {})
    numbers, place = _by_first(process)
    names = _counted([(about.get(str(one)) or {}).get("name") or "process" for one in numbers])
    if by == "process":
        return _named(by, place, names)
    other = _known(source, table, by, who)
    both = np.where((place >= 0) & (other >= 0), place * (1 << 32) + other, NOBODY)
    pairs, of_row = _by_first(both)
    if by == "fd":
        return _named(by, of_row, [f"{names[pair >> 32]} fd {pair & 0xFFFF_FFFF}" for pair in pairs])
    return _named(by, of_row, _counted([f"{names[pair >> 32]} thread" for pair in pairs]))


def _counted(names: list[str]) -> list[str]:
    """Number equal names: ``postgres #1``, ``postgres #2``."""
    met: Counter[str] = Counter()
    counted = []
    for name in names:
        met[name] += 1
        counted.append(f"{name} #{met[name]}")
    return counted


def _named(by: str, place: Any, names: list[str], *, stand_ins: bool = False) -> Keys:
    return Keys(by, place, names, list(range(len(names))), [[] for _ in names], stand_ins)
