"""Lives that a model predicts for the writes of a trace, as the column ``predicted_life`` that separators read."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.base import unfinished_files
from floatgate.base.arguments import checked
from floatgate.base.errors import input_error, one_line
from floatgate.results.folder import must_be_file_place
from floatgate.trace.conversion import write_parquet
from floatgate.trace.features import FEATURES, write_features
from floatgate.trace.frame_trace import TraceFile

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

Predictor = Callable[["pa.RecordBatch"], Any]

COLUMN = "predicted_life"
_LIFE_MAX = 2**32 - 1
_ROWS = 1 << 16
"""Writes that a predictor gets at a time."""


@checked
def predict_lives(
    trace: str | os.PathLike[str], predictor: Callable[..., object], path: str | os.PathLike[str]
) -> TraceFile:
    """Write a trace once more, with the life that a predictor expects of each write.

    Args:
        trace: the trace, in any format.
        predictor: called with batches of writes, in order: an Arrow record batch with the columns of
            ``floatgate trace features`` that are known when a request is written. It returns a number per write, host
            page writes until its data die; 0, NaN or None where it foresees no death.
        path: the file to write, in Parquet.

    Returns:
        The new trace, for ``ftl.separate.policy = "predicted"`` with ``lives = "column"``.

    Raises:
        InputError: the trace cannot be read or writes nothing, the predictor returns no number per write, or the file
            cannot be written.
    """
    must_be_file_place(os.fspath(path), "a file that can be written, such as predicted.parquet")
    target = Path(path)
    room = unfinished_files.folder_in(target.absolute().parent)
    try:
        counts = write_features(trace, room / "features.parquet")
        write_parquet(os.fspath(trace), str(room / "trace.parquet"), {})
        predicted = _predicted(room / "features.parquet", predictor)
        _with_column(room / "trace.parquet", room / "predicted.parquet", predicted)
        (room / "predicted.parquet").replace(target)
    finally:
        shutil.rmtree(room, ignore_errors=True)
    return TraceFile(target, counts["requests"])


def _predicted(features: Path, predictor: Predictor) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint32]]]:
    """Yield the numbers of requests with their predictions, batch by batch."""
    import numpy as np
    import pyarrow.parquet as pq

    for batch in pq.ParquetFile(features).iter_batches(batch_size=_ROWS, columns=list(FEATURES)):
        answer = predictor(batch)
        try:
            lives = np.array([np.nan if life is None else life for life in answer], "f8")
        except (TypeError, ValueError) as error:
            raise input_error(f"the predictor: {one_line(str(error))}; expected a number for each write") from None
        if lives.shape != (batch.num_rows,):
            raise input_error(
                f"the predictor returned {lives.size} numbers for {batch.num_rows} writes; expected one each"
            )
        whole = np.rint(np.clip(np.nan_to_num(lives, nan=0.0, posinf=0.0, neginf=0.0), 0, _LIFE_MAX))
        yield batch.column("request").to_numpy(), whole.astype("u4")


def _with_column(source: Path, target: Path, predicted: Iterator[tuple[NDArray[np.int64], NDArray[np.uint32]]]) -> None:
    """Write a trace with the column, group of rows by group of rows."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(source)
    schema = file.schema_arrow
    if COLUMN in schema.names:
        schema = schema.remove(schema.get_field_index(COLUMN))
    writer: pq.ParquetWriter | None = None
    requests, lives = np.empty(0, "i8"), np.empty(0, "u4")
    first = 0
    try:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, columns=schema.names)
            end = first + table.num_rows
            while not requests.size or requests[-1] < end:
                more = next(predicted, None)
                if more is None:
                    break
                requests, lives = np.concatenate([requests, more[0]]), np.concatenate([lives, more[1]])
            column = np.zeros(table.num_rows, "u4")
            here = requests < end
            column[requests[here] - first] = lives[here]
            requests, lives, first = requests[~here], lives[~here], end
            table = table.append_column(COLUMN, pa.array(column)).replace_schema_metadata(schema.metadata)
            writer = writer or pq.ParquetWriter(target, table.schema, compression="zstd")
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()
