"""The shipped traces: small enough, as documented, and free of traces of the machine that recorded them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import floatgate
from floatgate.base.errors import InputError
from floatgate.trace import context_updates, library
from validation import read_counts

ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT / "traces"
ALL = sorted(TRACES.glob("*.parquet"))
SMALL = [path for path in ALL if path.stem in library.SMALL_CACHES]
LIBRARY = [path for path in ALL if path.stem not in (*library.READS, *library.SMALL_CACHES)]
READS = [path for path in ALL if path.stem in library.READS]
NAMES = {
    *("gcc-build", "cscope", "rendering", "two-at-once", "three-at-once"),
    *("sqlite-updates", "sqlite-content", "postgres-updates", "decision-support"),
    *("build-content", "media-content"),
}
LARGEST_BYTES = 20_000_000

# As docs/recording.md says under "The file".
SCHEMA = {
    "time_ns": pa.int64(),
    "device": pa.dictionary(pa.int32(), pa.string()),
    "op": pa.dictionary(pa.int8(), pa.string()),
    "offset": pa.uint64(),
    "bytes": pa.uint64(),
    "context": pa.uint64(),
    "fingerprints": pa.list_(pa.uint64()),
    "compressed_bytes": pa.list_(pa.uint16()),
}


def metadata(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(pq.ParquetFile(path).metadata.metadata[b"floatgate"])
    return document


def counted_tables() -> dict[str, dict[str, str]]:
    """The rows of the table in traces/README.md, by trace and column."""
    lines = (TRACES / "README.md").read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("| trace | bytes |"))
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[start:] if line.startswith("|")]
    rows: dict[str, dict[str, str]] = {}
    for row in cells[2:]:
        name = row[0].strip("`")
        if name not in NAMES or name in rows:
            break
        rows[name] = dict(zip(cells[0], row, strict=True))
    return rows


def number(text: str) -> float:
    return float(text.replace(",", "").removesuffix("%").strip())


def test_all_are_there_and_small() -> None:
    assert {path.stem for path in LIBRARY} == NAMES == set(library.CONTEXTS)
    assert {path.stem for path in READS} == set(library.READS)
    assert {path.stem for path in SMALL} == set(library.SMALL_CACHES)
    assert sum(path.stat().st_size for path in TRACES.iterdir()) <= LARGEST_BYTES
    for name in (*NAMES, *library.READS, *library.SMALL_CACHES):
        assert (ROOT / "scripts" / "library" / f"{name}.sh").exists()


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.stem)
def test_schema_is_the_documented_one(path: Path) -> None:
    table = pq.read_table(path)
    assert dict(zip(table.schema.names, table.schema.types, strict=True)) == SCHEMA
    times, offsets = table["time_ns"].to_pylist(), table["offset"].to_pylist()
    assert times[0] == 0
    assert times == sorted(times)
    assert all(offset % 4096 == 0 for offset in offsets)
    described = metadata(path)
    assert described["schema"] == "floatgate.trace/1"
    present = {str(context) for context in table["context"].to_pylist() if context is not None}
    assert present == set(described["contexts"])
    writes = [op == "write" for op in table["op"].to_pylist()]
    sizes = table["bytes"].to_pylist()
    for column in ("fingerprints", "compressed_bytes"):
        pages = table[column].to_pylist()
        assert all(
            (len(values) * 4096 == size) if write else values is None
            for values, size, write in zip(pages, sizes, writes, strict=True)
        )


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.stem)
def test_the_readme_says_what_is_in_the_file(path: Path) -> None:
    row, updates = counted_tables()[path.stem], context_updates.read(path)
    assert number(row["bytes"]) == path.stat().st_size
    assert number(row["requests"]) == updates.requests == pq.ParquetFile(path).metadata.num_rows
    assert number(row["trims"]) == updates.trims
    assert number(row["pages written"]) == updates.pages
    assert number(row["distinct pages"]) == updates.distinct_pages
    assert number(row["contexts"]) == updates.writing == len(metadata(path)["contexts"])
    share = updates.top_share()
    assert share is not None
    assert number(row["top five"]) == pytest.approx(100 * share, abs=0.05)
    assert number(row["updates"]) == pytest.approx(100 * updates.updates / updates.pages, abs=0.05)
    assert number(row["live updates"]) == pytest.approx(100 * updates.live_updates / updates.pages, abs=0.05)
    assert number(row["lost events"]) == metadata(path)["recorder"]["lost_events"]
    assert updates.updates == len(updates.sequence) == updates.by_context.total()


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_small_caches_say_who_wrote(path: Path) -> None:
    table = pq.read_table(path)
    writers = {"process": pa.uint32(), "thread": pa.uint32(), "fd": pa.int32(), "file": pa.uint32()}
    expected = {name: kind for name, kind in SCHEMA.items() if name not in ("fingerprints", "compressed_bytes")}
    assert dict(zip(table.schema.names, table.schema.types, strict=True)) == expected | writers
    described, rows = metadata(path), table.to_pydict()
    for column in ("process", "thread", "fd"):
        assert all((value is not None) == (op == "write") for value, op in zip(rows[column], rows["op"], strict=True))
    assert {str(process) for process in rows["process"] if process is not None} == set(described["processes"])
    assert {str(number) for number in rows["file"]} == set(described["files"])
    assert all(about["name"] for about in described["processes"].values())
    recorder = described["recorder"]
    assert recorder["lost_events"] == 0
    assert recorder["cache"]["writeback"] == ("linux" if path.stem == "rocksdb-compaction" else "lru")
    pages = sum(size for size, op in zip(rows["bytes"], rows["op"], strict=True) if op == "write") // 4096
    assert 10_000 <= pages <= 40_000  # as the dissertation's (table 10)


@pytest.mark.parametrize("path", READS, ids=lambda path: path.stem)
def test_those_that_read_hardly_write_and_are_small(path: Path) -> None:
    table = pq.read_table(path)
    without_content = {name: kind for name, kind in SCHEMA.items() if name not in ("fingerprints", "compressed_bytes")}
    assert dict(zip(table.schema.names, table.schema.types, strict=True)) == without_content
    counts = read_counts.read(path)
    assert counts.reads > 0.99 * counts.requests > 30_000
    assert counts.metadata["recorder"]["lost_events"] == 0
    assert path.stat().st_size < 2_000_000
    # Pages are read again and again, some far more often than others.
    assert counts.pages > 4 * counts.distinct_pages
    assert counts.busiest_tenth > 0.2


def test_reads_are_counted_by_pages(tmp_path: Path) -> None:
    rows = [("read", 0, 8192), ("write", 0, 4096), ("read", 4096, 4096), ("read", 6144, 4096), ("read", 40960, 4096)]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(("op", "offset", "bytes"))}
    described = {b"floatgate": b'{"schema": "floatgate.trace/1"}'}
    path = tmp_path / "few.parquet"
    pq.write_table(pa.table(columns).replace_schema_metadata(described), path)
    counts = read_counts.read(path)
    # Pages 0, 1, 1, 1, 2, 10.
    assert (counts.requests, counts.reads, counts.pages, counts.distinct_pages) == (5, 4, 6, 4)
    assert counts.busiest_tenth == 0.5


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_nothing_tells_of_the_machine(path: Path) -> None:
    described = metadata(path)
    assert described["recorder"]["command"] == f"scripts/library/{path.stem}.sh"
    text = json.dumps(described)
    # Modules are base names; the one path is that of the command.
    assert re.findall(r"(?<![\w.])/\w+/[\w./-]*", text) == []
    assert "record_library" not in text  # the name of the temporary folder
    assert described["recorder"]["exit_status"] == 0
    assert described["recorder"]["malformed_lines"] == 0
    raw = pq.ParquetFile(path).metadata.metadata
    assert set(raw) <= {b"floatgate", b"ARROW:schema"}


@pytest.mark.parametrize(
    ("trace", "programs"),
    [
        ("rendering", ["povray", "png.so", "ffmpeg"]),
        ("three-at-once", ["cscope", "cc1", "povray", "png.so", "ffmpeg"]),
    ],
)
def test_every_program_of_a_trace_wrote_under_contexts_of_its_own(trace: str, programs: list[str]) -> None:
    # png.so is montage's: what calls it lies beyond the copied stack.
    path = TRACES / f"{trace}.parquet"
    written = {
        str(context)
        for context in pq.read_table(path, columns=["context"])["context"].to_pylist()
        if context is not None
    }
    for program in programs:
        own = [
            number
            for number, about in metadata(path)["contexts"].items()
            if any(frame.startswith(f"{program}+") for frame in about["frames"])
        ]
        assert written & set(own), program


def test_renderings_are_written_once() -> None:
    updates = context_updates.read(TRACES / "rendering.parquet")
    assert updates.updates < updates.pages / 10
    assert updates.live_updates < updates.pages / 100


@pytest.mark.parametrize(
    ("trace", "contents", "duplicates", "compressed"),
    [("sqlite-content", 10_000, 0.09, 0.55), ("build-content", 3000, 0.83, 0.54), ("media-content", 8000, 0.26, 0.99)],
)
def test_traces_that_know_the_content_of_their_page_writes(
    trace: str, contents: int, duplicates: float, compressed: float
) -> None:
    path = TRACES / f"{trace}.parquet"
    recorded = metadata(path)["recorder"]["content"]
    prints = [value for row in pq.read_table(path)["fingerprints"].to_pylist() for value in row or ()]
    # The index of a write-ahead log is a shared mapping, for one: what is written into its file is unknown.
    assert (recorded["pages_known"] + recorded["pages_unknown"], recorded["pages_unknown"]) == (
        len(prints),
        prints.count(None),
    )
    assert prints.count(None) < len(prints) / 1000
    assert len(set(prints)) > contents
    content = floatgate.trace_info(path).content
    assert content.duplicate_share == pytest.approx(duplicates, abs=0.02)
    assert content.compressed_share == pytest.approx(compressed, abs=0.02)


def test_updates_are_counted_as_the_dissertation_draws_them(tmp_path: Path) -> None:
    # Context 7 writes pages 0 and 1, context 8 replaces page 0, page 1 is trimmed and then written by 9, and 9 replaces
    # page 0 again: the data replaced was 7's, 7's (not live any more) and 8's.
    rows = [("write", 0, 8192, 7), ("write", 0, 4096, 8), ("trim", 4096, 4096, None), ("write", 4096, 4096, 9)]
    rows.append(("write", 0, 4096, 9))
    columns = {name: [row[place] for row in rows] for place, name in enumerate(("op", "offset", "bytes", "context"))}
    path = tmp_path / "few.parquet"
    pq.write_table(pa.table(columns), path)
    updates = context_updates.read(path)
    assert (updates.requests, updates.trims, updates.pages, updates.distinct_pages) == (5, 1, 5, 2)
    assert (updates.updates, updates.live_updates) == (3, 2)
    assert updates.sequence == [7, 7, 8]
    assert dict(updates.live_by_context) == {7: 1, 8: 1}
    assert updates.top_share(top=1) == pytest.approx(2 / 3)
    marks = context_updates.marks(updates, bins=3)
    assert [(mark["row"], mark["from"], mark["to"], mark["rank"]) for mark in marks] == [(1, 0, 2, 1), (2, 2, 3, 2)]
    drawn = json.dumps(context_updates.figure(updates, "few").to_dict())
    assert "1. context, 67%" in drawn
    assert "2. context, 33%" in drawn


def test_a_trace_without_contexts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plain.parquet"
    pq.write_table(pa.table({"op": ["write"], "offset": [0], "bytes": [4096]}), path)
    with pytest.raises(InputError, match="no column 'context'; expected a trace"):
        context_updates.read(path)


@pytest.mark.long
def test_the_pages_are_current() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "library_docs.py"), "--check"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
