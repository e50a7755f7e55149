"""``floatgate trace convert``: what a format can hold survives; slices; nothing half-written."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import floatgate
from conftest import Cli
from floatgate import _core
from floatgate.base.errors import InputError
from floatgate.trace import conversion

OPS = ["read", "write", "trim"]
SECTOR = 512


@st.composite
def requests(draw: st.DrawFn, *, sectors: bool = False) -> dict[str, Any]:
    """One request with everything that Parquet can hold."""
    unit = SECTOR if sectors else draw(st.sampled_from([1, SECTOR, 4096]))
    size = draw(st.integers(1, 30_000 // unit)) * unit
    op = draw(st.sampled_from(OPS))
    pages = -(-size // 4096)
    known = op == "write" and draw(st.booleans())
    entries = st.lists(st.none() | st.integers(1, 2**64 - 1), min_size=pages, max_size=pages)
    sizes = st.lists(st.none() | st.integers(1, 4096), min_size=pages, max_size=pages)
    return {
        "time_ns": draw(st.integers(0, 2**61)),
        "device": draw(st.sampled_from(["8,16", "259,0", "sda", "a b"][: 2 if sectors else 4])),
        "op": op,
        "offset": draw(st.integers(0, 2**50 // unit)) * unit,
        "bytes": size,
        "context": draw(st.none() | st.sampled_from([1, 7, 2**64 - 1])),
        "stream": draw(st.integers(0, 2**32 - 1)),
        "predicted_life": draw(st.integers(0, 2**32 - 1)),
        "fingerprints": draw(entries) if known else None,
        "compressed_bytes": draw(sizes) if known else None,
    }


TYPES = {
    "time_ns": pa.int64(), "device": pa.string(), "op": pa.string(), "offset": pa.uint64(), "bytes": pa.uint64(),
    "context": pa.uint64(), "stream": pa.uint32(), "predicted_life": pa.uint32(),
    "fingerprints": pa.list_(pa.uint64()), "compressed_bytes": pa.list_(pa.uint16()),
}  # fmt: skip
CONTEXTS = {"1": {"name": "one", "frames": ["a", "b"]}, str(2**64 - 1): {"name": "last"}}
PLAIN = ("time_ns", "device", "op", "offset", "bytes")


def write(path: Path, rows: list[dict[str, Any]], columns: tuple[str, ...] = tuple(TYPES), **metadata: Any) -> None:
    """Write rows as the recorder does; stamps begin at 0, as they do in what is read."""
    rows = [{**row, "time_ns": row["time_ns"] - rows[0]["time_ns"]} for row in rows]
    schema = pa.schema([(name, TYPES[name]) for name in columns])
    described = {"schema": "floatgate.trace/1", **metadata}
    table = pa.Table.from_pylist([{name: row[name] for name in columns} for row in rows], schema)
    pq.write_table(table.replace_schema_metadata({"floatgate": json.dumps(described)}), path)


def rows_of(path: Path, columns: tuple[str, ...] = tuple(TYPES)) -> list[dict[str, Any]]:
    return [{name: row[name] for name in columns} for row in pq.read_table(path).to_pylist()]


def metadata(path: Path) -> Any:
    return json.loads((pq.read_metadata(path).metadata or {})[b"floatgate"])


@settings(max_examples=60)
@given(st.lists(requests(), min_size=1, max_size=30))
def test_parquet_keeps_all_it_can_hold(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        first, second = Path(name) / "a.parquet", Path(name) / "b.parquet"
        write(first, rows, contexts=CONTEXTS, recorder={"backend": "perf"})
        assert conversion.convert(str(first), str(second), "parquet", {}) == {"requests": len(rows)}
        assert rows_of(second) == rows_of(first)
        schema = pq.read_schema(second)
        for column, kind in TYPES.items():
            assert kind in (schema.field(column).type, getattr(schema.field(column).type, "value_type", None))
        kept = metadata(second)
        assert kept["recorder"] == {"backend": "perf"}
        known = {str(row["context"]) for row in rows if row["context"] is not None} | set(CONTEXTS)
        assert kept["contexts"] == {key: CONTEXTS.get(key, {"name": ""}) for key in known}


@settings(max_examples=60)
@given(st.lists(requests(sectors=True), min_size=1, max_size=30))
def test_a_chain_over_blkparse_keeps_requests(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        first, text, last = (Path(name) / file for file in ("a.parquet", "b.blkparse", "c.parquet"))
        # A format without signs: the first stamp is the smallest.
        rows = [{**row, "time_ns": max(row["time_ns"], rows[0]["time_ns"])} for row in rows]
        write(first, rows, PLAIN)
        report = conversion.convert(str(first), str(text), "blkparse", {})
        assert {key for key, count in report.items() if count} == {"requests"}
        conversion.convert(str(text), str(last), "parquet", {})
        assert rows_of(last, PLAIN) == rows_of(first, PLAIN)


@pytest.mark.parametrize("to", ["fio-iolog", "fio-iolog-v2", "msr", "mqsim", "blkparse"])
def test_what_texts_cannot_hold_is_counted(tmp_path: Path, to: str) -> None:
    row = {"time_ns": 0, "device": "a b", "op": "write", "offset": 0, "bytes": 5000, "context": 7, "stream": 3}
    page = {"predicted_life": 9, "fingerprints": [1, 2], "compressed_bytes": [None, 3]}
    none = {"context": None, "stream": 0, "predicted_life": 0, "fingerprints": None, "compressed_bytes": None}
    later = {**row, **none, "time_ns": 1, "op": "trim"}
    write(tmp_path / "a.parquet", [row | page, later, {**later, "op": "read"}])
    report = conversion.convert(str(tmp_path / "a.parquet"), str(tmp_path / "b"), to, {})
    lost = {key for key, count in report.items() if count and key != "requests"}
    columns = {"contexts_left_out", "streams_left_out", "predicted_lives_left_out", "contents_left_out"}
    always = {*columns, "devices_renamed"}
    assert (
        lost
        == always
        | {
            "fio-iolog": {"stamps_rounded"},
            "fio-iolog-v2": {"stamps_left_out"},
            "msr": {"stamps_rounded", "trims_left_out", "devices_renamed"},
            "mqsim": {"trims_left_out", "widened"},
            "blkparse": {"widened"},
        }[to]
    )
    assert all(report[key] == 1 for key in always)


def test_a_trace_without_times_stays_one(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.iolog").write_text("fio version 2 iolog\nsda write 0 4096\nsda read 0 4096\n")
    cli("trace", "convert", "a.iolog", "b.parquet").done()
    assert metadata(tmp_path / "b.parquet") == {"schema": "floatgate.trace/1", "has_times": False}
    assert json.loads(cli("trace", "info", "b.parquet", "--json").done())["duration_s"] is None
    cli("trace", "convert", "b.parquet", "c.iolog").done()
    assert (tmp_path / "c.iolog").read_text().startswith("fio version 2 iolog\n")
    answer = json.loads(cli("trace", "convert", "b.parquet", "c.csv", "--json").done())
    assert answer["stamps_made_up"] == 2
    cli("trace", "generate", "--pattern", "uniform", "--requests", "10", "--size", "1 MiB", "-o", "g.parquet").done()
    assert metadata(tmp_path / "g.parquet")["has_times"] is False


def test_slices(cli: Cli, trace: Path, tmp_path: Path) -> None:
    cut = ("--device", "usr_1", "--op", "write", "--from", "0.5m", "--until", "60", "--time-scale", "0.1")
    answer = json.loads(cli("trace", "convert", trace, "b.parquet", *cut, "--fold", "16 KiB", "--json").done())
    # One write in 0.2 s for usr_1, of 30 s; 11 requests in 10 steps of 0.1 s in all.
    assert answer["slice"] == {
        "requests_read": 1100, "requests_kept": 150, "left_out_by_device": 600, "left_out_by_operation": 0,
        "left_out_by_time": 350, "split": 0, "cut": 0, "contents_lost": 0,
    }  # fmt: skip
    rows = rows_of(tmp_path / "b.parquet", PLAIN)
    assert len(rows) == answer["requests"] == 150
    assert {row["device"] for row in rows} == {"usr_1"}
    assert [row["time_ns"] for row in rows[:3]] == [0, 20_000_000, 40_000_000]
    assert {row["offset"] for row in rows} == {0, 8192}
    text = cli("trace", "convert", trace, "c.csv", "--requests", "3", "--device", "usr_0", "--device", "usr_1").done()
    assert text.splitlines() == ["c.csv: 3 requests (msr)", "slice: 3 of 3 requests read"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--from", "20", "--until", "10"), "--from: '20' is not before --until '10'; expected --from before --until"),
        (("--from", "soon"), "--from: 'soon' is not a time; expected seconds since the first request"),
        (("--op", "erase"), "--op: 'erase' does not name operations; expected one or more of read,write,trim"),
        (("--fold", "5000"), "--fold: '5000' is not a multiple of 4096 bytes"),
        (("--time-scale", "0"), "--time-scale: '0' is not a factor; expected a number above 0"),
        (("--requests", "many"), "--requests: 'many' is not a number"),
        (("--device", "usr_9"), "--device: 'usr_9' is not a device of two.csv; did you mean 'usr_0' or 'usr_1'?"),
        (
            ("--op", "trim"),
            "two.csv: the slice keeps none of the 1100 requests; the trace spans 0 to 99.9 s, has operations read, ",
        ),
    ],
)
@pytest.mark.parametrize("out", ["b.parquet", "b.csv"])
def test_slices_that_cannot_be(
    cli: Cli, trace: Path, tmp_path: Path, options: tuple[str, ...], expected: str, out: str
) -> None:
    assert cli("trace", "convert", trace.name, out, *options).refused().startswith(expected)
    assert [path.name for path in tmp_path.iterdir()] == [trace.name]


def test_slices_are_described(cli: Cli, trace: Path) -> None:
    cut = ("--device", "usr_1", "--until", "10s", "--fold", "1 MiB")
    facts = json.loads(cli("trace", "info", trace, *cut, "--json").done())
    assert (facts["requests"], facts["reads"], facts["content_hash"]) == (50, 0, None)
    assert [device["name"] for device in facts["devices"]] == ["usr_1"]
    assert facts["footprint_bytes"] == 50 * 8192
    assert "a slice: kept 50 of 1100 requests" in cli("trace", "info", trace, *cut).done()
    assert "not a device" in cli("trace", "info", trace, "--device", "usr_9").refused()


def test_made_up_content_follows_a_slice(cli: Cli, trace: Path) -> None:
    options = ("--requests", "50", "--duplicate-share", "0.5", "--json")
    answer = json.loads(cli("trace", "convert", trace, "b.parquet", *options).done())
    assert answer["slice"]["requests_kept"] == answer["requests"] == 50


def test_slices_from_python(trace: Path) -> None:
    assert floatgate.trace_info(trace, from_="50", until="60", op="write").requests == 100
    with pytest.raises(InputError, match="did you mean 'format' or 'from'"):
        _core.trace_info(str(trace), {"form": "msr"})


def test_standard_output_takes_texts(cli: Cli, trace: Path, tmp_path: Path) -> None:
    done = cli("trace", "convert", trace, "-", "--to", "msr", "--requests", "2")
    assert done.out == "128166372000000000,usr,0,Write,0,8192,0\n128166372000000000,usr,0,Read,0,4096,0\n"
    assert done.err.splitlines()[-2:] == ["standard output: 2 requests (msr)", "slice: 2 of 2 requests read"]
    assert "Parquet is not written" in cli("trace", "convert", trace, "-", "--to", "parquet").refused()
    assert "expected --to FORMAT" in cli("trace", "convert", trace, "-").refused()
    assert "--json: standard output" in cli("trace", "convert", trace, "-", "--to", "msr", "--json").refused()
    assert [path.name for path in tmp_path.iterdir()] == [trace.name]


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "floatgate", "trace", "convert", *map(str, arguments)]


def test_a_pipe_that_nobody_reads_ends_quietly(trace: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(command(trace, "-", "--to", "msr"), stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (1, b"")


def test_pipes_and_devices_are_written_to_as_they_are(trace: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(command(trace, tmp_path / "pipe", "--to", "mqsim", "-q")) as writer:
        lines = (tmp_path / "pipe").read_text().splitlines()
        assert writer.wait() == 0
    assert len(lines) == 1100
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("to", ["parquet", "msr"])
def test_a_full_disk_leaves_nothing(cli: Cli, trace: Path, tmp_path: Path, to: str) -> None:
    expected = "/dev/full: No space left on device; expected a file that can be written, and room for it"
    assert cli("trace", "convert", trace, "/dev/full", "--to", to).refused() == expected
    assert Path("/dev/full").is_char_device()

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    ended = subprocess.run(
        command(trace, tmp_path / "b", "--to", to), preexec_fn=limit, capture_output=True, check=False
    )
    assert ended.returncode == 2
    assert ended.stderr.decode() == (
        f"error: {tmp_path}/b: File too large; expected a file that can be written, and room for it\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == [trace.name]


def test_nothing_but_trims_needs_a_format_with_trims(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.iolog").write_text("fio version 2 iolog\nsda trim 0 4096\nsda trim 8192 4096\n")
    refused = cli("trace", "convert", "a.iolog", "b.csv").refused()
    expected = "expected a format that has them: fio-iolog, blkparse or parquet"
    assert refused == f"--to: all 2 requests are TRIMs, which msr does not have; {expected}"
    assert not (tmp_path / "b.csv").exists()
    cli("trace", "convert", "a.iolog", "b.blkparse").done()


SAMPLES = Path(__file__).parents[3] / "shared/traces"


@pytest.mark.skipif(not SAMPLES.exists(), reason="the sample traces are not beside the checkout (../shared/traces)")
@pytest.mark.parametrize("to", ["parquet", "fio-iolog-v3", "msr", "mqsim", "blkparse"])
def test_the_sample_traces_survive(tmp_path: Path, to: str) -> None:
    """Every request of every sample: what is read back is what the format can hold, computed with numpy."""
    converted = 0
    for path in sorted(SAMPLES.glob("*/*.zst")):
        first, text, last = (str(tmp_path / name) for name in ("a.parquet", "b", "c.parquet"))
        conversion.convert(str(path), first, "parquet", {"requests": "100000"})
        report = conversion.convert(first, text, to, {})
        conversion.convert(text, last, "parquet", {"format": to.removesuffix("-v3")})
        before, after = pq.read_table(first), pq.read_table(last)
        if to == "parquet":
            assert after.equals(before), path.name
        if report.get("trims_left_out"):
            before = before.filter(pc.not_equal(before["op"].cast("string"), "trim"))
        assert after["op"].cast("string") == before["op"].cast("string"), path.name
        time = before["time_ns"].to_numpy()
        unit = {"fio-iolog-v3": 1000, "msr": 100}.get(to, 1)
        time = (time if to in ("parquet", "msr") else time.clip(0)) // unit * unit
        assert (after["time_ns"].to_numpy() == time - time[0]).all(), path.name
        begin, length = before["offset"].to_numpy(), before["bytes"].to_numpy()
        end = begin + length
        if to in ("mqsim", "blkparse"):
            begin, end = begin // SECTOR * SECTOR, (end + SECTOR - 1) // SECTOR * SECTOR
        assert (after["offset"].to_numpy() == begin).all(), path.name
        assert (after["bytes"].to_numpy() == end - begin).all(), path.name
        converted += 1
    assert converted > 10


def test_flags_reach_parquet_and_the_buffer(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "t.blkparse"
    lines = ["W 0 + 8", "WF 8 + 8", "FN 0 + 0", "R 16 + 8", "W 24 + 8"]
    path.write_text("".join(f"8,0 1 {i} 0.{i:09} 9 Q {line} [x]\n" for i, line in enumerate(lines)))
    target = tmp_path / "t.parquet"
    cli("trace", "convert", str(path), str(target)).done()
    assert pq.read_table(target)["flags"].to_pylist() == [0, 1, 2, 0]
    small = ["--set", "drive.capacity=64 MiB", "--set", "ftl.precondition=none", "--set", "drive.buffer.capacity=1 MiB"]
    results = [
        json.loads(cli("run", "--trace", trace, *small, "--no-report", "--json", "-").done())
        for trace in (path, target)
    ]
    for result in results:
        flushed = result["buffer"]["flushed_pages"]
        assert flushed == {"evict": 0, "watermark": 0, "fua": 1, "flush": 1, "end": 1, "total": 3}


def recording(path: Path, rows: int = 300, *, streams: bool = False) -> pa.Table:
    """A trace with writers, as the recorder makes it, some of them unknown."""
    some = {
        "process": pa.array([None if i % 11 == 0 else 100 + i % 3 for i in range(rows)], pa.uint32()),
        "thread": pa.array([None if i % 11 == 0 else 100 + i % 5 for i in range(rows)], pa.uint32()),
        "fd": pa.array([None if i % 13 == 0 else 3 + i % 4 for i in range(rows)], pa.int32()),
        "file": pa.array([None if i % 7 == 0 else i % 6 for i in range(rows)], pa.uint32()),
    }
    if streams:
        some["stream"] = pa.array([i % 2 for i in range(rows)], pa.uint32())
    table = pa.table(
        {
            "time_ns": pa.array([i * 1_000_000 for i in range(rows)], pa.int64()),
            "op": pa.array([OPS[i % 3] for i in range(rows)]),
            "offset": pa.array([i * 4096 for i in range(rows)], pa.uint64()),
            "bytes": pa.array([4096] * rows, pa.uint64()),
            **some,
        }
    )
    meta = json.dumps({"schema": "floatgate.trace/1", "files": {"0": "/a"}})
    pq.write_table(table.replace_schema_metadata({"floatgate": meta}), path)
    return table


@pytest.mark.parametrize("streams", [False, True])
def test_writers_are_kept_from_parquet_to_parquet(tmp_path: Path, streams: bool) -> None:
    """Process, thread, descriptor and file of each request that a slice keeps, and no stream that was not there."""
    table = recording(tmp_path / "r.parquet", streams=streams)
    fields = ["process", "thread", "fd", "file"] + ["stream"] * streams
    conversion.convert(str(tmp_path / "r.parquet"), str(tmp_path / "all.parquet"), "parquet", {})
    got = pq.read_table(tmp_path / "all.parquet")
    assert got.select(["offset", *fields]).equals(table.select(["offset", *fields]))
    assert ("stream" in got.schema.names) is streams
    meta = pq.read_metadata(tmp_path / "all.parquet").metadata[b"floatgate"]
    assert json.loads(meta)["files"] == {"0": "/a"}
    slice_of = {"op": "write", "from": "50ms"}
    conversion.convert(str(tmp_path / "r.parquet"), str(tmp_path / "part.parquet"), "parquet", slice_of)
    part = pq.read_table(tmp_path / "part.parquet")
    wanted = table.filter(pc.and_(pc.equal(table["op"], "write"), pc.greater_equal(table["time_ns"], 50_000_000)))
    assert part.select(["offset", *fields]).equals(wanted.select(["offset", *fields]))
    assert len(part) > 50


def test_processes_are_kept_to_and_from_blkparse(tmp_path: Path) -> None:
    """The process identifiers, not only which requests have the same one; the streams of a run stay the same."""
    table = recording(tmp_path / "r.parquet")
    report = conversion.convert(str(tmp_path / "r.parquet"), str(tmp_path / "t.blkparse"), "blkparse", {})
    assert report["streams_left_out"] == 0
    pids = [int(line.split()[4]) for line in (tmp_path / "t.blkparse").read_text().splitlines()]
    assert len(set(pids)) == 3
    known = [(pid, process) for pid, process in zip(pids, table["process"].to_pylist(), strict=True) if process]
    assert all(pid == process for pid, process in known)
    conversion.convert(str(tmp_path / "t.blkparse"), str(tmp_path / "back.parquet"), "parquet", {})
    back = pq.read_table(tmp_path / "back.parquet")
    assert back["process"].to_pylist() == pids
    assert "stream" not in back.schema.names
    streams = [floatgate.trace_info(str(tmp_path / name))["streams"] for name in ("t.blkparse", "back.parquet")]
    assert streams[0] == streams[1]
