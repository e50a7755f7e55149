"""A recorded trace, and runs of it on a drive of its size."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from floatgate.base.errors import FloatgateError, InputError, input_error, reading
from floatgate.base.parallel import at_once
from floatgate.placement.drive import Wanted, drive_for, workload
from floatgate.placement.keys import EXPECTED, NOBODY
from floatgate.placement.lives import lives_of
from floatgate.run.experiment import Overrides
from floatgate.run.run import execute
from floatgate.trace.dense_traces import dense

HOST_STREAMS = "host-given"


class TrialRun(NamedTuple):
    """A run.

    Attributes:
        name: the key of its result.
        separator: of the drive.
        more: parameters of the separator.
        handle: for ``host-given``, the handle of each row of the recording.
        must: whether there is no answer without it; a run that need not be may be refused by the drive.
    """

    name: str
    separator: str
    more: Overrides
    handle: Any = None
    must: bool = True


class Refused(NamedTuple):
    """The reason why a drive cannot do a run."""

    why: str


Results = Mapping[str, "dict[str, Any] | Refused"]


def result_of(results: Results, name: str) -> dict[str, Any]:
    """Return the result of a run that must be.

    Raises:
        InputError: the drive refuses it.
    """
    result = results[name]
    if isinstance(result, Refused):
        raise input_error(result.why)
    return result


class Trial:
    """A recording on its drive.

    Args:
        trace: the recording.
        folder: for files of ours; is made.
        wanted: of the drive.

    Raises:
        InputError: the recording writes nothing, or settings are not usable.
    """

    def __init__(self, trace: Path, folder: Path, wanted: Wanted) -> None:
        """Write the trace with dense pages, and size the drive."""
        import pyarrow.parquet as pq

        folder.mkdir()
        self.trace, self.wanted, self._folder = trace, wanted, folder
        self._plain = folder / "plain.parquet"
        with reading(trace, EXPECTED):
            size = dense(trace, self._plain, trims=True, contexts=False)
            self.rows = size.rows
            self._table = pq.read_table(self._plain)
            self.lives = lives_of(self._table)
            times = pq.read_table(trace, columns=["time_ns"])["time_ns"].to_numpy()
            self.span_s = float(times.max() - times.min()) / 1e9 if len(times) else 0.0
            # Where page writes lie on the recorder's drive.
            moved = pq.read_table(trace, columns=["offset"])["offset"].combine_chunks().to_numpy(zero_copy_only=False)
            there = np.asarray(self._table["offset"], dtype=np.int64) // 4096
            first = moved[self.rows].astype(np.int64) // 4096
            self.address = self.lives.page - there[self.lives.row] + first[self.lives.row]
        try:
            self.base = drive_for(self._plain, size.distinct_pages, wanted)
        except FloatgateError as error:
            raise self._named(error) from None

    @property
    def page_writes(self) -> int:
        """Page writes of the trace."""
        return len(self.lives.row)

    @property
    def table(self) -> Any:
        """The trace as it is run: writes, and trims of written pages; page numbers without gaps."""
        return self._table

    def key_of(self, of_row: Any) -> Any:
        """Return the key of each page write, of the keys of the recording's rows."""
        return of_row[self.rows][self.lives.row]

    def handle_of(self, of_row: Any, handle: Any) -> Any:
        """Return the handle of each row of the trace: that of its key, 0 where it has none."""
        key = of_row[self.rows]
        return np.where(key == NOBODY, 0, np.append(handle, 0)[key]).astype(np.uint32)

    def run(self, runs: Sequence[TrialRun]) -> dict[str, dict[str, Any] | Refused]:
        """Do the runs; the result of each, or why the drive refuses it."""

        def one(number: int) -> dict[str, Any] | Refused:
            run = runs[number]
            file = self._plain if run.handle is None else self._with_handles(number, run.handle)
            chosen = [*workload(file), ("ftl.separate.policy", run.separator), *run.more]
            try:
                return execute(self.base.with_overrides(chosen)).result.to_dict()
            except FloatgateError as error:
                named = self._named(error)
                if run.must or not isinstance(error, InputError):
                    raise named from None
                return Refused(str(named))

        results = at_once(one, len(runs), threading.Event())
        return {run.name: result for run, result in zip(runs, results, strict=True)}

    def _with_handles(self, number: int, handle: Any) -> Path:
        import pyarrow as pa
        import pyarrow.parquet as pq

        file = self._folder / f"handles-{number}.parquet"
        bare = self._table.select([one for one in self._table.schema.names if one != "stream"])
        pq.write_table(bare.append_column("stream", pa.array(handle)), file, compression="zstd")
        return file

    def _named(self, error: FloatgateError) -> FloatgateError:
        # The user knows the trace, not our copies of it, whose rows are others.
        ours = re.escape(str(self._folder)) + r"/[\w-]+\.parquet"
        return type(error)(re.sub(rf"{ours}(:\d+)?", lambda _: str(self.trace), str(error)))
