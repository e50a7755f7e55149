"""Features of the writes of a trace, and lives that a predictor makes of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import floatgate
from floatgate.trace.features import FEATURES, HISTORY, TARGETS, write_features

PAGE = 4096
Request = tuple[float, str, int, int]


def requests_of(seed: int, count: int = 400) -> list[Request]:
    """Reads, writes and TRIMs of few pages, some of parts of pages, one after the other or apart."""
    rng = random.Random(seed)
    made: list[Request] = []
    end = 0
    for n in range(count):
        op = rng.choices(("write", "read", "trim"), (8, 2, 2))[0]
        offset = end if rng.random() < 0.3 else rng.randrange(0, 40 * PAGE, 512)
        size = rng.choice((512, PAGE, PAGE, 3 * PAGE, 8 * PAGE + 512))
        end = offset + size if op == "write" else end
        made.append((n * 0.25, op, offset, size))
    return made


def file_of(requests: list[Request], path: Path) -> Path:
    """The requests as a trace."""
    time, op, offset, size = zip(*requests, strict=True)
    frame = {"time_s": time, "op": op, "offset": offset, "bytes": size}
    floatgate.trace_from(frame, path)
    return path


def by_hand(requests: list[Request]) -> Iterator[dict[str, Any]]:
    """The rows of all writes, from plain lists of events of each page."""
    clock, events = 0, []
    for number, (_, op, offset, size) in enumerate(requests):
        first, end = offset // PAGE, -(-(offset + size) // PAGE)
        if op == "trim":
            first, end = -(-offset // PAGE), (offset + size) // PAGE
        for page in range(first, end) if op != "read" else ():
            events.append((page, number, clock, op))
            clock += op == "write"
    previous: tuple[int, int] | None = None
    for number, (_, op, offset, size) in enumerate(requests):
        if op != "write":
            continue
        lives, rows = [], []
        for page, own, at, _ in (event for event in events if event[1] == number):
            of_page = [event for event in events if event[0] == page]
            here = of_page.index((page, own, at, "write"))
            before = [event for event in of_page[:here] if event[3] == "write"]
            after = of_page[here + 1][2] - at if here + 1 < len(of_page) else None
            history = [event[2] for event in (*before, of_page[here])][::-1]
            rows.append(
                {
                    "page_write": at,
                    "update": here > 0 and of_page[here - 1][3] == "write",
                    "writes_before": len(before),
                    "age": at - before[0][2] if before else 0,
                    "life": after,
                    **{
                        f"interval_{n}": history[n - 1] - history[n] if n < len(history) else None
                        for n in range(1, HISTORY + 1)
                    },
                }
            )
            lives.append(after)
        dead = [life for life in lives if life is not None]
        gap = None if previous is None else offset - previous[0]
        run = (previous[1] if previous is not None and gap == 0 else 0) + -(-size // PAGE)
        previous = (offset + size, run)
        yield rows[0] | {
            "request": number,
            "pages": len(rows),
            "gap": gap,
            "sequential_pages": run,
            "life_min": min(dead, default=None),
            "life_max": max(dead, default=None),
            "dies": len(dead),
        }


@pytest.mark.parametrize("seed", range(6))
def test_features_and_lives_are_those_of_plain_lists(seed: int, tmp_path: Path) -> None:
    requests = requests_of(seed)
    trace = file_of(requests, tmp_path / "trace.parquet")
    counts = write_features(trace, tmp_path / "features.parquet")
    table = pq.read_table(tmp_path / "features.parquet")
    assert table.schema.names == [*FEATURES, *TARGETS]
    expected = list(by_hand(requests))
    assert counts["writes"] == len(expected) == table.num_rows
    for row, own in zip(table.to_pylist(), expected, strict=True):
        assert {key: row[key] for key in own} == own, (seed, own["request"])


def test_a_trace_without_writes_is_refused(tmp_path: Path) -> None:
    trace = file_of([(0.0, "read", 0, PAGE)], tmp_path / "trace.parquet")
    with pytest.raises(floatgate.InputError, match="writes nothing; expected at least one write"):
        write_features(trace, tmp_path / "features.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["trace.parquet"]


def test_predictions_become_a_column(tmp_path: Path) -> None:
    requests = requests_of(7)
    trace = file_of(requests, tmp_path / "trace.parquet")
    seen: list[pa.RecordBatch] = []

    def predictor(batch: pa.RecordBatch) -> list[float | None]:
        seen.append(batch)
        return [None if n % 3 == 0 else n + 0.4 for n in batch.column("request").to_pylist()]

    made = floatgate.predict_lives(trace, predictor, tmp_path / "predicted.parquet")
    assert [batch.schema.names for batch in seen] == [list(FEATURES)]
    table = pq.read_table(made)
    writes = np.array([op == "write" for _, op, _, _ in requests])
    expected = [n if write and n % 3 else 0 for n, write in enumerate(writes.tolist())]
    assert table["predicted_life"].to_pylist() == expected
    assert table.drop_columns(["predicted_life"]).equals(pq.read_table(trace))
    # A file with the column gets another one.
    again = floatgate.predict_lives(made, lambda batch: [9] * batch.num_rows, tmp_path / "again.parquet")
    assert pq.read_table(again)["predicted_life"].to_pylist() == [9 * int(write) for write in writes]


@pytest.mark.parametrize(
    ("answer", "message"),
    [([1.0], "returned 1 numbers for"), (["x"] * 400, "expected a number for each write"), (3, "expected a number")],
)
def test_predictors_that_return_no_numbers_are_refused(answer: Any, message: str, tmp_path: Path) -> None:
    trace = file_of(requests_of(1), tmp_path / "trace.parquet")
    with pytest.raises(floatgate.InputError, match=message):
        floatgate.predict_lives(trace, lambda _: answer, tmp_path / "predicted.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["trace.parquet"]


def test_exact_lives_as_a_column_equal_exact_lives(tmp_path: Path) -> None:
    """A predictor that knows the lives separates as the oracle does."""
    requests = [(n * 0.001, "write", (n * n % 97) * PAGE, PAGE) for n in range(20_000)]
    trace = file_of(requests, tmp_path / "trace.parquet")
    write_features(trace, tmp_path / "features.parquet")
    lives = pq.read_table(tmp_path / "features.parquet")["life"].to_pylist()
    made = floatgate.predict_lives(
        trace, lambda batch: [lives[n] for n in batch.column("request").to_pylist()], tmp_path / "predicted.parquet"
    )
    drive = {"drive.capacity": "64 MiB", "ftl.spare_factor": 0.5, "ftl.separate.policy": "predicted"}
    exact, column = (
        floatgate.run({**drive, "ftl.separate.lives": lives}, trace=made).result.to_dict()
        for lives in ("exact", "column")
    )
    assert exact["separate"]["streams"] == column["separate"]["streams"]
