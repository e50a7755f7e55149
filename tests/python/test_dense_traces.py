"""Recorded traces as the papers on data separation use them: pages all over a drive, and processes as streams."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import floatgate
from floatgate.base.errors import InputError
from floatgate.trace import context_updates
from floatgate.trace.dense_traces import PAGE_BYTES, Dense, dense, scattered
from floatgate.trace.parquet_trace import ParquetReader


def _write(path: Path, rows: list[tuple[int, int, int]], **columns: Any) -> Path:
    """A recording of writes: first page, pages, context."""
    table = pa.table(
        {
            "time_ns": pa.array(range(len(rows)), pa.int64()),
            "op": pa.array(["write"] * len(rows)).dictionary_encode(),
            "offset": pa.array([first * PAGE_BYTES for first, _, _ in rows], pa.uint64()),
            "bytes": pa.array([pages * PAGE_BYTES for _, pages, _ in rows], pa.uint64()),
            "context": pa.array([context for _, _, context in rows], pa.uint64()),
            **columns,
        }
    )
    pq.write_table(table, path)
    return path


def _pages(path: Path) -> list[tuple[int, int]]:
    """Page and context of every page write, in order."""
    table = pq.read_table(path)
    rows = zip(*(table[name].to_pylist() for name in ("offset", "bytes", "context")), strict=True)
    return [
        (page, context)
        for offset, length, context in rows
        for page in range(offset // PAGE_BYTES, (offset + length) // PAGE_BYTES)
    ]


def test_clusters_stay_whole_and_go_all_over_the_drive(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    rows = [(int(rng.integers(0, 500)), int(rng.integers(1, 40)), int(rng.integers(1, 5))) for _ in range(300)]
    trace = dense(_write(tmp_path / "t.parquet", rows), tmp_path / "dense.parquet")
    before = _pages(trace.file)
    places: dict[int, list[int]] = {}
    for seed in (1, 2):
        after = _pages(scattered(trace, tmp_path / f"{seed}.parquet", 5000, seed))
        # The same writes in the same order by the same contexts; each page has one place, none has two.
        assert [context for _, context in after] == [context for _, context in before]
        moved = {old: new for (old, _), (new, _) in zip(before, after, strict=True)}
        assert [moved[old] for old, _ in before] == [new for new, _ in after]
        assert len(set(moved.values())) == len(moved) == trace.distinct_pages
        assert all(new % 16 == old % 16 and new - moved[old - old % 16] == old % 16 for old, new in moved.items())
        places[seed] = sorted(moved.values())
        # Chance puts them into the lower and the upper half alike.
        assert 0.3 < sum(place < 2500 for place in places[seed]) / len(places[seed]) < 0.7
    assert places[1] != places[2]
    again = scattered(trace, tmp_path / "again.parquet", 5000, 1)
    assert again.read_bytes() == (tmp_path / "1.parquet").read_bytes()


def test_a_request_is_cut_where_its_cluster_ends(tmp_path: Path) -> None:
    trace = dense(_write(tmp_path / "t.parquet", [(0, 40, 9)]), tmp_path / "dense.parquet")
    table = pq.read_table(scattered(trace, tmp_path / "s.parquet", 4096, 3))
    pages = [length // PAGE_BYTES for length in table["bytes"].to_pylist()]
    assert Counter(pages) == {16: 2, 8: 1}
    assert set(table["time_ns"].to_pylist()) == {0}


def test_a_drive_must_have_room_for_all_clusters(tmp_path: Path) -> None:
    trace = Dense(dense(_write(tmp_path / "t.parquet", [(0, 33, 1)]), tmp_path / "d.parquet").file, 33, 33)
    scattered(trace, tmp_path / "fits.parquet", 48, 1)
    with pytest.raises(InputError, match="has 3 clusters of 16 pages, and the drive room for 2; expected a larger"):
        scattered(trace, tmp_path / "no.parquet", 47, 1)


def test_the_process_of_a_recording_is_its_stream(tmp_path: Path) -> None:
    rows = [(page, 1, 1) for page in range(5)]
    process = pa.array([4200, None, 17, 4200, 9], pa.uint32())
    path = _write(tmp_path / "t.parquet", rows, process=process)
    reader = ParquetReader("t", str(path))
    assert reader.optional == ["context", "stream", "process"]
    batch = reader.next()
    # Numbered from 0 in the order of their first write; what nobody is known to have written is of stream 0.
    assert batch is not None
    assert batch["stream"].tolist() == [0, 0, 1, 0, 2]
    # What the host itself named comes before.
    named = _write(tmp_path / "n.parquet", rows, process=process, stream=pa.array([5, 6, 7, 8, 9], pa.uint32()))
    reader = ParquetReader("n", str(named))
    assert reader.optional == ["context", "stream"]
    batch = reader.next()
    assert batch is not None
    assert batch["stream"].tolist() == [5, 6, 7, 8, 9]


def test_numbers_of_processes_last_from_batch_to_batch(tmp_path: Path) -> None:
    count = (1 << 16) + 10
    process = np.full(count, 70, "u4")
    process[3], process[-2:] = 60, (60, 50)
    path = _write(tmp_path / "t.parquet", [(page, 1, 1) for page in range(count)], process=pa.array(process))
    reader = ParquetReader("t", str(path))
    parts = [rows["stream"] for rows in iter(reader.next, None)]
    streams = np.concatenate(parts)
    assert len(parts) > 1
    assert streams[3] == 1
    assert streams[-3:].tolist() == [0, 1, 2]


def test_a_drive_separates_by_process(tmp_path: Path) -> None:
    """Two processes that write in turn, one over and over, one once: apart, nothing needs to be copied."""
    rng = np.random.default_rng(1)
    rows, writers = [], []
    for turn in range(3000):
        rows.append((int(rng.integers(0, 64)), 1, 1))
        writers.append(11)
        if turn % 4 == 0 and turn // 4 < 600:
            rows.append((64 + turn // 4, 1, 1))
            writers.append(22)
    path = _write(tmp_path / "t.parquet", rows, process=pa.array(writers, pa.uint32()))
    drive: dict[str, Any] = {
        "drive": {"geometry": {"blocks_per_plane": 32, "pages_per_block": 32}, "endurance": {"pe_cycles": 1000000}},
        "ftl": {"precondition": "none", "spare_factor": 0.25},
    }

    def waf(separate: dict[str, Any]) -> dict[str, Any]:
        settings = {**drive, "ftl": {**drive["ftl"], "separate": separate}}
        return floatgate.run(settings, trace=str(path)).result.to_dict()

    mixed, apart = waf({"policy": "none"}), waf({"policy": "host-given", "handles": 2})
    assert [stream["host_pages"] for stream in apart["separate"]["streams"]] == [3000, 600]
    assert mixed["gc"]["copied_pages"] > 4 * apart["gc"]["copied_pages"]


def _updates_one_by_one(rows: list[tuple[str, int, int, int | None]]) -> dict[str, Any]:
    """The counts of a trace, page by page, by the rules of ``floatgate.trace.context_updates``."""
    writer: dict[int, int] = {}
    trimmed: set[int] = set()
    updates: list[tuple[int, int]] = []
    live = []
    for op, first, count, context in rows:
        for page in range(first, first + count):
            if op == "trim":
                trimmed.add(page)
            elif op == "write":
                before, writer[page] = writer.get(page), -1 if context is None else context
                if before is None:
                    continue
                updates.append((page, before))
                if page in trimmed:
                    trimmed.remove(page)
                else:
                    live.append(before)
    follows = {two[1] for one, two in itertools.pairwise(updates) if two[0] == one[0] + 1}
    sequence = [before for _, before in updates]
    return {
        "pages": sum(count for op, _, count, _ in rows if op == "write"),
        "distinct_pages": len(writer),
        "sequence": sequence,
        "sequential": follows,
        "by_context": list(Counter(sequence).items()),
        "live_by_context": list(Counter(live).items()),
        "writing": len({context for op, _, _, context in rows if op == "write" and context is not None}),
    }


@pytest.mark.parametrize("seed", range(30))
def test_updates_of_contexts_are_those_of_a_count_page_by_page(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    contexts = [None, 0, 3, 2**64 - 1]
    rows = [
        (str(rng.choice(["write", "write", "write", "trim", "read"])), int(rng.integers(30)), int(rng.integers(1, 9)))
        for _ in range(int(rng.integers(1, 120)))
    ]
    named = [(*row, contexts[int(rng.integers(4))]) for row in rows]
    columns = {
        "op": pa.array([op for op, *_ in rows]).dictionary_encode(),
        "offset": pa.array([first * PAGE_BYTES for _, first, _ in rows], pa.uint64()),
        "bytes": pa.array([count * PAGE_BYTES for *_, count in rows], pa.uint64()),
        "context": pa.array([context for *_, context in named], pa.uint64()),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=50)
    counted = context_updates.read(tmp_path / "t.parquet")
    assert {
        "pages": counted.pages,
        "distinct_pages": counted.distinct_pages,
        "sequence": counted.sequence,
        "sequential": counted.sequential,
        "by_context": list(counted.by_context.items()),
        "live_by_context": list(counted.live_by_context.items()),
        "writing": counted.writing,
    } == _updates_one_by_one(named)
    assert (counted.updates, counted.live_updates) == (counted.by_context.total(), counted.live_by_context.total())
