"""The journal of a sweep: one line of JSON for each run that has ended, and the flat table that is made from it.

A line is written whole or not at all for whoever reads it later: what a killed sweep or a full disk has left half
written at the end is cut off when the sweep goes on. The table is written from the lines in the order of the runs, a
few thousand at a time, so that a sweep of any size takes little memory and the same runs give the same bytes.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.errors import FloatgateError, InputError, input_error, reading
from floatgate.folder import replacing
from floatgate.sweeps.columns import arrow_type, kind_of, written
from floatgate.sweeps.figures import CONTRACT, order
from floatgate.sweeps.work import DONE, Answer

if TYPE_CHECKING:
    import pyarrow as pa

FILE = "journal.jsonl"
TABLE = "sweep.parquet"
GROUP = 2_500
"""Rows of a row group."""


class Journal:
    """What has been done so far, on disk and as an index in memory.

    Attributes:
        path: the file.
        counts: how many runs have each status.
    """

    def __init__(self, path: Path, keys: list[str]) -> None:
        """Open the journal of a sweep over ``keys``; a line that is not complete is cut off.

        Raises:
            InputError: it cannot be read or written, or is damaged.
        """
        self.path, self.keys = path, keys
        self.counts: dict[str, int] = {}
        self._places: dict[int, int] = {}
        self._types: dict[str, set[type]] = {}
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            self._end = self._read()
            os.ftruncate(self._descriptor, self._end)
        except OSError as error:
            raise _no_room(path, error) from None

    def _read(self) -> int:
        """Read what is there; the length of what is complete."""
        place = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    break
                with reading(f"{self.path}:{number}", "expected a line of a sweep's journal"):
                    self._note(json.loads(line), place)
                place += len(line)
        return place

    def _note(self, entry: dict[str, Any], place: int) -> None:
        if entry["run"] in self._places:
            return
        self._places[entry["run"]] = place
        self.counts[entry["status"]] = self.counts.get(entry["status"], 0) + 1
        for table in (entry["set"], entry["figures"]):
            for key, value in table.items():
                if value is not None:
                    self._types.setdefault(key, set()).add(kind_of(value))

    def __contains__(self, number: int) -> bool:
        return number in self._places

    def __len__(self) -> int:
        return len(self._places)

    @property
    def failed(self) -> int:
        """How many runs have no result."""
        return len(self) - self.counts.get(DONE, 0)

    def add(self, answer: Answer, settings: dict[str, Any]) -> None:
        """Write down what came of a run.

        Raises:
            InputError: there is no room.
        """
        entry = {
            "run": answer.number,
            "status": answer.status,
            "error": answer.error,
            "set": settings,
            "figures": answer.figures,
            "spent": answer.spent,
        }
        line = json.dumps(entry, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        try:
            written = 0
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._end)
            raise _no_room(self.path, error) from None
        self._note(entry, self._end)
        self._end += len(line)

    def entries(self) -> Iterator[dict[str, Any]]:
        """What is written of each run, in the order of their numbers."""
        with self.path.open("rb") as file:
            for number in sorted(self._places):
                file.seek(self._places[number])
                yield json.loads(file.readline())

    def first(self, status: str) -> dict[str, Any] | None:
        """The first run in order that has a status."""
        if not self.counts.get(status):
            return None
        return next((entry for entry in self.entries() if entry["status"] == status), None)

    def write_table(self, target: Path) -> None:
        """Write the flat table of what has been done.

        Raises:
            InputError: there is no room.
        """
        import pyarrow.parquet as pq

        schema = self.schema()
        try:
            with (
                replacing(target) as temporary,
                pq.ParquetWriter(temporary, schema, compression="zstd") as writer,
            ):
                for rows in self._groups():
                    writer.write_table(written(rows, schema), row_group_size=GROUP)
        except FloatgateError:
            raise
        except OSError as error:
            raise _no_room(target, error) from None

    def _groups(self) -> Iterator[list[dict[str, Any]]]:
        rows: list[dict[str, Any]] = []
        for entry in self.entries():
            head = {key: entry[key] for key in ("run", "status", "error")}
            rows.append({**entry["figures"], **entry["set"], **head})
            if len(rows) == GROUP:
                yield rows
                rows = []
        if rows or not len(self):
            yield rows

    def schema(self) -> pa.Schema:
        """Columns and types: run and settings, what became of it, then the figures, the leading ones first."""
        import pyarrow as pa

        fixed = {"run": pa.int64(), "status": pa.string(), "error": pa.string(), "config_hash": pa.string()}
        kinds = {key: {kind} for key, kind in CONTRACT.items()} | self._types
        varied = list(dict.fromkeys([*self.keys, "seed"]))
        rest = sorted((key for key in kinds if key not in fixed and key not in varied), key=order)
        names = ["run", *varied, "status", "error", "config_hash", *rest]
        return pa.schema([(name, fixed.get(name) or arrow_type(kinds.get(name, set()))) for name in names])

    def close(self) -> None:
        """Close the file; once is enough."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _no_room(path: Path, error: OSError) -> InputError:
    reason = error.strerror or str(error)
    return input_error(
        f"{path}: {reason}; expected room for the results; make some, then go on with --resume (what was done is kept)"
    )
