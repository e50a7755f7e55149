"""The answer of a query, batch by batch, from a thread of its own.

DuckDB and Arrow return to Python only with a batch, and some queries take hours for one. Python handles signals in its
main thread, which must therefore wait for the batches and not compute them.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from floatgate.base import interruption
from floatgate.base.errors import input_error

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_AHEAD = 2
"""Batches that wait for their reader."""
_AGAIN_S = 0.02
"""Interval between interrupts of a query that has to end: one that has not started yet ignores them."""
_LOOK_S = 1.0
"""Interval between looks for a signal that DuckDB has dropped."""

Answer = Any
"""The output of the thread: the schema, batches, None at the end, or the error."""


class Batches:
    """The batches of an answer, to be read once, and their ``schema``, whose names are unique."""

    def __init__(self, answers: queue.Queue[Answer]) -> None:
        """Use :func:`interruptible`."""
        self._answers = answers
        self.schema: pa.Schema = self._next()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches that are left."""
        while (batch := self._next()) is not None:
            yield batch

    def _next(self) -> Any:
        while True:
            with contextlib.suppress(queue.Empty):
                answer = self._answers.get(timeout=_LOOK_S)
                break
            interruption.check()
        if isinstance(answer, BaseException):
            raise answer
        return answer


@contextlib.contextmanager
def interruptible(connection: duckdb.DuckDBPyConnection, sql: str, rows_per_batch: int) -> Iterator[Batches]:
    """Run a query and yield its answer; the end of the block stops it.

    Raises:
        InputError: the query gives no rows.
        duckdb.Error: it fails, here or as its batches are read.
    """
    answers: queue.Queue[Answer] = queue.Queue(_AHEAD)
    phase = _Phase()

    def work() -> None:
        phase.begun.set()
        try:
            if not phase.unwanted.is_set():
                _run(connection, sql, rows_per_batch, answers, phase.unwanted)
        finally:
            phase.over.set()

    try:
        # A signal may raise KeyboardInterrupt inside of start(), when the thread runs already.
        threading.Thread(target=work, name="floatgate query", daemon=True).start()
        yield Batches(answers)
    finally:
        phase.unwanted.set()
        while phase.begun.is_set() and not phase.over.is_set():
            connection.interrupt()
            with contextlib.suppress(queue.Empty):
                answers.get_nowait()
            phase.over.wait(_AGAIN_S)


@dataclass(frozen=True)
class _Phase:
    """How far the thread is. It looks at ``unwanted`` after it has set ``begun``, its reader the other way round."""

    begun: threading.Event = field(default_factory=threading.Event)
    unwanted: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)


def _run(
    connection: duckdb.DuckDBPyConnection, sql: str, rows: int, answers: queue.Queue[Answer], unwanted: threading.Event
) -> None:
    """Put the answer, or the error, into the queue."""
    import duckdb
    import pyarrow as pa

    try:
        relation = connection.sql(sql)
        if relation is None:
            raise input_error("SQL: the query gives no rows; expected a SELECT")
        read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
        with read(rows) as reader:
            schema = _unique(reader.schema)
            answers.put(schema)
            for batch in reader:
                answers.put(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
                if unwanted.is_set():
                    return
        answers.put(None)
    except (pa.ArrowException, OSError) as error:
        # Errors of DuckDB after the first batch, which come through Arrow.
        answers.put(duckdb.Error(str(error)))
    except BaseException as error:  # noqa: BLE001 - it belongs to the reader
        answers.put(error)


def _unique(schema: pa.Schema) -> pa.Schema:
    """Number the names that stand there twice, as DuckDB does in tables: ``a``, ``a_1``."""
    import pyarrow as pa

    names: list[str] = []
    for name in schema.names:
        candidates = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(1)))
        names.append(next(one for one in candidates if one not in names))
    return pa.schema([field.with_name(name) for field, name in zip(schema, names, strict=True)])
