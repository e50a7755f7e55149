"""Traces from dataframes: each library, each unit and spelling, and what is refused."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import floatgate
from floatgate import _core
from floatgate.trace.conversion import convert

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "traces" / "rocksdb-compaction.parquet"
LOG: dict[str, Any] = {
    "time_ms": [0.0, 500.0, 250.0, 750.0],
    "op": ["W", "read", "flush", "discard"],
    "offset": [0, 4096, 0, 8192],
    "size": [4096, 4096, 0, 8192],
}
SMALL_DRIVE = {"drive.capacity": "64 MiB", "ftl.precondition": "none"}


def rows(trace: floatgate.TraceFile) -> dict[str, list[Any]]:
    """The columns of a trace."""
    table: dict[str, list[Any]] = pq.ParquetFile(trace.path).read().to_pydict()
    return table


def refusal(frame: object, **arguments: Any) -> str:
    with pytest.raises(floatgate.InputError) as refused:
        floatgate.trace_from(frame, **arguments)  # type: ignore[arg-type]
    assert refused.value.status == 2
    return refused.value.message


def polars_frame(log: Mapping[str, Any]) -> object:
    return pytest.importorskip("polars").DataFrame(log)


def polars_categories(log: Mapping[str, Any]) -> object:
    pl = pytest.importorskip("polars")
    return pl.DataFrame(log).with_columns(pl.col("op").cast(pl.Categorical))


class OnlyCapsules:
    """A frame of an unknown library."""

    def __init__(self, log: Mapping[str, Any]) -> None:
        self._table = pa.table(log)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "arrays": lambda log: {name: np.array(values) for name, values in log.items()},
    "tuples": lambda log: {name: tuple(values) for name, values in log.items()},
    "pandas": pd.DataFrame,
    "pandas index": lambda log: pd.DataFrame(log).set_index("time_ms"),
    "pandas categories": lambda log: pd.DataFrame(log).astype({"op": "category"}),
    "polars": polars_frame,
    "polars categories": polars_categories,
    "table": pa.table,
    "chunks": lambda log: pa.concat_tables([pa.table(log).slice(0, 1), pa.table(log).slice(1)]),
    "batch": pa.RecordBatch.from_pydict,
    "capsules": OnlyCapsules,
}


@pytest.mark.parametrize("library", FRAMES)
def test_frames_of_all_libraries_make_the_same_file(library: str, tmp_path: Path) -> None:
    trace = floatgate.trace_from(FRAMES[library](LOG), tmp_path / "t.parquet")
    assert rows(trace) == {
        "time_ns": [0, 500_000_000, 750_000_000],
        "device": ["0"] * 3,
        "op": ["write", "read", "trim"],
        "offset": [0, 4096, 8192],
        "bytes": [4096, 4096, 8192],
    }
    assert trace.requests == 3
    assert trace.path.read_bytes() == floatgate.trace_from(LOG).path.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


def without_costs(result: floatgate.Record) -> dict[str, Any]:
    """A result without the table of its work: time and memory."""
    return {key: value for key, value in result.to_dict().items() if key != "run"}


def pandas_numbers(table: pa.Table) -> pd.DataFrame:
    """A frame of pandas whose whole numbers stay such where one is missing."""
    frame: pd.DataFrame = table.to_pandas(types_mapper=pd.ArrowDtype)
    return frame


@pytest.mark.parametrize("as_frame", [lambda table: table, pandas_numbers], ids=["arrow", "pandas"])
def test_a_shipped_trace_as_a_frame_gives_the_same_result(as_frame: Callable[[pa.Table], Any], tmp_path: Path) -> None:
    """Contexts, processes, descriptors and files too: the hash of the content is part of the result."""
    trace = floatgate.trace_from(as_frame(pq.read_table(SHIPPED)), tmp_path / SHIPPED.name)
    original = floatgate.run(trace=SHIPPED, set={"drive.capacity": "1 GiB"})
    again = floatgate.run(trace=trace, set={"drive.capacity": "1 GiB"})
    assert without_costs(again.result) == without_costs(original.result)
    assert again.series.equals(original.series)
    assert pq.read_table(trace.path).equals(pq.read_table(SHIPPED))


def test_numbers_that_pandas_has_rounded_are_refused() -> None:
    text = refusal(pq.read_table(SHIPPED).to_pandas())
    assert re.search(r"frame: row \d+ \(from 0\), column 'context': \d[\d.e+]* is a rounded float; expected", text)


def test_whatever_reads_traces_takes_one(tmp_path: Path) -> None:
    frame = {"time_s": np.arange(4000) / 100, "offset": np.arange(4000) % 512 * 4096}
    trace = floatgate.trace_from(frame, op="write", size=1, size_unit="pages")
    assert (floatgate.trace_info(trace).writes, trace.requests) == (4000, 4000)
    run = floatgate.run(trace=trace, set=SMALL_DRIVE)
    assert (run.host.write_requests, run.name()) == (4000, "frame.parquet")
    workload = {"workload.kind": "trace", "workload.file": trace, **SMALL_DRIVE}
    assert floatgate.compare(workload, {"ftl.spare_factor": [0.1]}).runs[0].host.write_requests == 4000
    steps = floatgate.stream(trace=trace, set=SMALL_DRIVE)
    list(steps)
    assert steps.run.result.host == run.result.host
    life = floatgate.lifetime(trace=trace, set={**SMALL_DRIVE, "lifetime.forecast.waf": 1.5})
    assert life.lifetime.years > 0
    swept = floatgate.sweep(workload, {"ftl.spare_factor": [0.1]}, out=tmp_path / "s", jobs=1)
    assert swept.to_arrow()["host.write_requests"].to_pylist() == [4000]


def test_a_temporary_file_lives_as_long_as_its_object(tmp_path: Path) -> None:
    trace = floatgate.trace_from(LOG)
    path = trace.path
    assert path.is_file()
    assert repr(trace) == f"<floatgate.TraceFile {path}: 3 requests>"
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(floatgate.RunError, match="a temporary trace has no copies"):
            copied(trace)
    if (child := os.fork()) == 0:
        del trace
        gc.collect()
        os._exit(0)
    os.waitpid(child, 0)
    assert path.is_file()
    del trace
    gc.collect()
    assert not path.parent.exists()
    kept = floatgate.trace_from(LOG, tmp_path / "new" / "t.parquet")
    again = pickle.loads(pickle.dumps(kept))
    assert (again.path, again.requests) == (kept.path, kept.requests)
    del kept, again
    gc.collect()
    assert (tmp_path / "new" / "t.parquet").is_file()


WHEN = ["2024-02-29T23:59:59.5", "2024-03-01T00:00:00", "2024-02-29T23:59:59"]
WHEN_NS = [0, 500_000_000, -500_000_000]


@pytest.mark.parametrize(
    ("name", "values", "unit"),
    [
        ("timestamp", WHEN, None),
        ("timestamp", [f"{text}Z" for text in WHEN], None),
        ("timestamp", [f"{text}+02:00" for text in WHEN], None),
        ("timestamp", np.array(WHEN, "M8[us]"), None),
        ("timestamp", pd.to_datetime(WHEN, format="ISO8601"), None),
        ("ts", pd.to_datetime(WHEN, format="ISO8601").tz_localize("Europe/Berlin"), None),
        ("time", pd.to_timedelta([1.5, 2, 1], unit="s"), None),
        ("time", np.array([1500, 2000, 1000], "m8[ms]"), None),
        ("time_s", [1.5, 2.0, 1.0], None),
        ("issueTimeUs", [1_500_000, 2_000_000, 1_000_000], None),
        ("arrival", np.array([1500, 2000, 1000], "u2"), "ms"),
        ("t", [133_000_000_005_000_000, 133_000_000_010_000_000, 133_000_000_000_000_000], "filetime"),
    ],
)
def test_times_are_understood(name: str, values: Any, unit: str | None) -> None:
    """They count from the first row; one that runs backwards stays what it is, as in other traces."""
    frame = pd.DataFrame({name: values, "op": ["W"] * 3, "offset": [0] * 3, "size": [512] * 3})
    assert rows(floatgate.trace_from(frame, time_unit=unit))["time_ns"] == WHEN_NS
    assert floatgate.trace_info(floatgate.trace_from(frame, time_unit=unit)).stamps_backwards == 1


def test_dates_and_times_of_day_are_times() -> None:
    log = {"op": ["W"] * 2, "offset": [0] * 2, "size": [512] * 2}
    days = pa.table({"time": pa.array([1, 3], pa.date32()), **log})
    assert rows(floatgate.trace_from(days))["time_ns"] == [0, 172_800_000_000_000]
    clocks = pa.table({"time": pa.array([1000, 1500], pa.time32("ms")), **log})
    assert rows(floatgate.trace_from(clocks))["time_ns"] == [0, 500_000_000]


def test_a_frame_without_times_is_a_trace_without_times() -> None:
    trace = floatgate.trace_from({name: LOG[name] for name in ("op", "offset", "size")}, time_unit="none")
    assert floatgate.trace_info(trace).duration_s is None


@pytest.mark.parametrize(
    ("columns", "arguments"),
    [
        ({"sector": [8, 16], "nr_sectors": [8, 4]}, {}),
        ({"StartSector": [8, 16], "len": [4096, 2048]}, {}),
        ({"offset_kib": [4.0, 8.0], "size_bytes": [4096, 2048]}, {}),
        ({"lba": [8, 16], "size": [4096, 2048]}, {"offset_unit": "sectors"}),
        ({"page": [2, 4], "length": [4096, 2048]}, {"offset_unit": 2048}),
        (
            {"where": [1, 2], "much": [2, 1]},
            {"offset": "where", "size": "much", "offset_unit": 4096, "size_unit": 2048},
        ),
        ({"offset": [4096, 8192], "lba": [0, 0], "bytes": [8, 4]}, {"offset": "offset", "size_unit": "sectors"}),
    ],
)
def test_units_are_those_of_names_and_arguments(columns: dict[str, Any], arguments: dict[str, Any]) -> None:
    made = rows(floatgate.trace_from({"time_s": [0, 1], "type": ["W", "W"], **columns}, **arguments))
    assert (made["offset"], made["bytes"]) == ([4096, 8192], [4096, 2048])


def test_values_of_operations_can_be_given() -> None:
    frame = {**LOG, "op": [1, 0, 7, 3]}
    spelling: dict[object, str] = {0: "read", "1": "write", 3: "trim", "*": "skip"}
    assert rows(floatgate.trace_from(frame, operations=spelling))["op"] == ["write", "read", "trim"]
    is_write = {**LOG, "op": np.array([True, False, False, True]), "size": [1] * 4}
    made = floatgate.trace_from(is_write, operations={True: "write", False: "read"})
    assert rows(made)["op"] == ["write", "read", "read", "write"]


def test_kernel_letters_have_flags() -> None:
    frame = {**{name: LOG[name] for name in LOG if name != "op"}, "rwbs": ["WS", "FWFS", "N", "DF"]}
    made = rows(floatgate.trace_from(frame))
    assert (made["op"], made["flags"]) == (["write", "write", "trim"], [0, 3, 1])


def test_further_columns_are_kept_and_names_numbered() -> None:
    frame = {
        **LOG,
        "disk": ["sda", "sdb", "sdb", "sda"],
        "who": ["db", "log", "cron", "db"],
        "function": ["flush", None, "sync", "compact"],
        "pid": [7, None, 8, 2**32 - 1],
        "fate": pd.Series([1.0, None, 2.0, 3.0]),
        "hashes": [[5], None, None, [6, None]],
    }
    others = {"process": "pid", "predicted_life": "fate", "fingerprints": "hashes"}
    trace = floatgate.trace_from(frame, stream="who", context="function", others=others)
    made = rows(trace)
    assert made["device"] == ["sda", "sdb", "sda"]
    assert made["stream"] == [0, 1, 0]
    assert made["context"] == [1, None, 2]
    assert made["process"] == [7, None, 2**32 - 1]
    assert made["predicted_life"] == [1, 0, 3]
    assert made["fingerprints"] == [[5], None, [6, None]]
    batches = _core.trace_batches(str(trace.path), {})
    assert sum(len(batch["op"]) for batch in batches) == 3
    assert {1: "flush", 2: "compact"}.items() <= dict(batches.contexts).items()


WORDS = st.one_of(
    st.sampled_from(
        ["R", "w", "Read", "WRITE", "D", "discard", "trim", "Unmap", "F", "sync", "none", "WS", "FWFS", "DF"]
    ),
    st.text("RWDTUFSNrwdtufsn", min_size=1, max_size=4),
)
ROWS = st.tuples(
    st.integers(-(10**9), 10**12), WORDS, st.integers(0, 1 << 40), st.integers(0, 1 << 40), st.sampled_from("ab")
)
ODD = st.sampled_from([(0, "x", 0, 1, "a"), (0, "9", 0, 1, "a"), (0, "W", (1 << 64) - 1, 1, "a"), (0, "R", 0, 1, "c")])


@settings(max_examples=80, deadline=None)
@given(
    st.lists(ROWS, min_size=1, max_size=12), st.none() | ODD, st.booleans(), st.sampled_from(["bytes", "sectors", 2048])
)
def test_a_frame_is_read_as_the_same_log_of_text(
    tmp_path_factory: pytest.TempPathFactory,
    log: list[tuple[int, str, int, int, str]],
    odd: tuple[int, str, int, int, str] | None,
    kernel: bool,
    unit: str | int,
) -> None:
    """By the reader of described columns: operations, units, stamps, empty requests, and what both refuse."""
    log = log if odd is None else [*log, odd]
    folder = tmp_path_factory.mktemp("log")
    text = folder / "log.csv"
    text.write_text("".join(f"{at};{op};{offset};{size};{device}\n" for at, op, offset, size, device in log))
    spelling = "rwbs" if kernel else "RW"
    columns = f"time:us op:{spelling} offset:{unit} size:bytes device separator=semicolon header=0"
    names = ("time_us", "op", "offset", "size", "device")
    frame = dict(zip(names, map(list, zip(*log, strict=True)), strict=True))
    arguments: dict[str, Any] = {"operations": "rwbs" if kernel else None, "offset_unit": unit}
    try:
        convert(str(text), str(folder / "text.parquet"), "parquet", {"columns": columns})
    except floatgate.InputError:
        refusal(frame, path=folder / "t.parquet", **arguments)
        assert [path.name for path in folder.iterdir()] == ["log.csv"]
    else:
        trace = floatgate.trace_from(frame, folder / "t.parquet", **arguments)
        assert rows(trace) == pq.ParquetFile(folder / "text.parquet").read().to_pydict()


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        (
            {"offset": [0, -1, 0, 0]},
            {},
            "frame: row 1 (from 0), column 'offset': -1 is negative; expected the offset of",
        ),
        ({"offset": [0, 1, None, None]}, {}, "frame: row 3 (from 0), column 'offset': is missing; expected the offset"),
        ({"size": [0, 1, 1, np.nan]}, {}, "row 3 (from 0), column 'size': nan is no number; expected the size of each"),
        ({"size": [0, 1, 1, 0.5]}, {}, "row 3 (from 0), column 'size': 0.5 is not whole; expected the size of each"),
        ({"size": [0, 1, 1, 2.0**65]}, {}, "row 3 (from 0), column 'size': 3.6893488147419103e+19 does not fit"),
        ({"size": [0, 1, 1, 2.0**60]}, {}, "row 3 (from 0), column 'size': 1.152921504606847e+18 is a rounded float"),
        ({"size": ["a"] * 4}, {}, "frame: column 'size' is of type string; expected the size of each request"),
        ({"offset": [0, 2**55, 0, 2**56]}, {"offset_unit": "sectors"}, "row 1 (from 0), column 'offset': 360287970189"),
        ({"offset": [0, 2**64 - 1, 0, 0]}, {}, "column 'offset': 18446744073709551615 and the size together are too"),
        ({"offset": [0, 2**64, 0, 0]}, {}, "frame: row 1 (from 0), column 'offset': the number is too large; expected"),
        (
            {"op": ["W", "read", "flush", "x"]},
            {},
            "row 3 (from 0), column 'op': 'x' is not an operation; expected a word",
        ),
        ({"op": ["W", None, "R", "R"]}, {}, "frame: row 1 (from 0), column 'op': is missing; expected an operation"),
        (
            {"op": [1, 0, 1, 1]},
            {},
            "row 0 (from 0), column 'op': '1' is not an operation; expected a word that begins ",
        ),
        (
            {"op": [1, 0, 1, 1]},
            {"operations": {1: "write"}},
            "row 1 (from 0), column 'op': '0' is not an operation; exp",
        ),
        ({}, {"operations": {1: "wipe"}}, "operations: '1' is 'wipe'; expected one of 'read', 'write', 'trim', 'skip'"),
        ({}, {"operations": "RWD"}, "operations: 'RWD' is no spelling; expected 'rwbs', or a dict of words"),
        ({"op": ["F"] * 4}, {}, "frame: none of its rows is a request; expected at least one read, write or TRIM"),
        ({"size": [0] * 4}, {}, "frame: no request in 3 rows; expected at least one read, write or TRIM"),
        ({"time_ms": [0, 1, 2, None]}, {}, "row 3 (from 0), column 'time_ms': is missing; expected a time in each row"),
        ({"time_ms": [0, 1, 2, np.inf]}, {}, "row 3 (from 0), column 'time_ms': inf is no number; expected a time in"),
        (
            {"time_ms": [0, 1, 2, 2**62]},
            {},
            "column 'time_ms': 4611686018427387904 is too far away; expected times wit",
        ),
        (
            {"time_ms": [0, 1, 2, 1e300]},
            {},
            "column 'time_ms': 1e+300 is too far away; expected times within 292 years",
        ),
        (
            {"time_ms": [*WHEN, "noon"]},
            {},
            "row 3 (from 0), column 'time_ms': 'noon' is not a time; expected YYYY-MM-DD",
        ),
        (
            {"time_ms": pd.to_datetime([*WHEN, WHEN[0]], format="ISO8601")},
            {"time_unit": "s"},
            "time_unit: column 'time_ms' is of type tim",
        ),
        (
            {},
            {"time_unit": "h"},
            "time_unit: 'h' is not a unit of numbers; expected one of 'ns', 'us', 'ms', 's', 'file",
        ),
        (
            {},
            {"time_unit": "none", "time": "time_ms"},
            "time_unit: is 'none', and time is 'time_ms'; expected one of th",
        ),
        (
            {"time_ms": None, "time": [1] * 4},
            {},
            "time_unit: column 'time' has numbers, and neither type nor name state",
        ),
        (
            {"time_ms": None},
            {},
            "frame: no column has a usual name of the time, and columns are 'op', 'offset', 'size'; ",
        ),
        ({"size": None, "much": [1] * 4}, {}, "expected size= with the name of one or a number of bytes for all rows"),
        (
            {"lba": [1] * 4},
            {},
            "frame: columns 'offset', 'lba' may all be the offset; expected offset='offset' or offset",
        ),
        (
            {},
            {"offset": "lba"},
            "offset: the frame has no column 'lba', only 'time_ms', 'op', 'offset', 'size'; expected",
        ),
        (
            {"lba": [1] * 4},
            {"offset": "lba"},
            "offset_unit: the name of column 'lba' states no unit; expected one of 'b",
        ),
        (
            {},
            {"size_unit": "blocks"},
            "size_unit: 'blocks' is not a unit of addresses or sizes; expected one of 'bytes'",
        ),
        ({}, {"size_unit": 0}, "size_unit: is 0; expected a text or a whole number from 1 to 1073741824 or None"),
        (
            {},
            {"others": {"colour": "op"}},
            "others: a trace has no column 'colour'; expected one of 'device', 'context'",
        ),
        ({}, {"others": {"flags": "size"}}, "row 0 (from 0), column 'size': 4096 does not fit into uint8; expected 1"),
        (
            {"f": [0, 4, 0, 0]},
            {"others": {"flags": "f"}},
            "row 1 (from 0), column 'f': 4 is no flag; expected 1 for FUA",
        ),
        (
            {"f": [[1], [1], [1], ["a"]]},
            {"others": {"fingerprints": "f"}},
            "frame: column 'f': Could not convert 'a' wi",
        ),
        (
            {"f": [[1], [1], [1], [-1]]},
            {"others": {"fingerprints": "f"}},
            "frame: row 3 (from 0): fingerprints: Integer",
        ),
        ({"disk": ["a", "a", "a", None]}, {}, "frame: row 3 (from 0), column 'disk': is missing; expected a device in"),
        ({"size": [1]}, {}, "frame: columns differ in length ('time_ms' 4, 'op' 4, 'offset' 4, 'size' 1); expected as"),
        ({"size": "abcd"}, {}, "frame: column 'size' is of type str; expected an array"),
        ({"size": [1, "a", 1, 1]}, {}, "frame: column 'size': Could not convert 'a' with type str"),
    ],
)
def test_what_does_not_fit_is_refused(
    change: dict[str, Any], arguments: dict[str, Any], message: str, tmp_path: Path
) -> None:
    """With row, column, cause and remedy; nothing is left of it, and a file that stood there stays."""
    frame = {name: values for name, values in {**LOG, **change}.items() if values is not None}
    target = tmp_path / "t.parquet"
    target.write_text("before")
    text = refusal(frame, path=target, **arguments)
    assert message in text
    assert "; expected " in text
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]
    assert target.read_text() == "before"


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({}, "frame: has no rows; expected a row for each request"),
        (pd.DataFrame(LOG).head(0), "frame: has no rows; expected a row for each request"),
        ([1, 2], "frame: is of type list; expected a frame of pandas or polars, an Arrow table, an object with"),
        (None, "frame: is of type NoneType; expected a frame of pandas or polars"),
        ({1: [1]}, "frame: '1' is no name of a column; expected texts"),
        (pd.DataFrame({"op": ["W", 1]}), "frame: is no Arrow table ("),
        (pd.Series([1, 2]), "frame: is no Arrow table ("),
        (
            pa.table([pa.array(["W"]), pa.array([1]), pa.array([1])], ["op", "offset", "offset"]),
            "frame: columns 'offset', 'offset' may all be the offset",
        ),
    ],
)
def test_what_is_no_frame_of_requests_is_refused(frame: object, message: str) -> None:
    assert refusal(frame).startswith(message)


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    assert refusal(LOG, path=tmp_path).startswith(f"{tmp_path}: is a directory; expected a file that can be written")
    file = tmp_path / "file"
    file.write_text("")
    assert refusal(LOG, path=file / "t.parquet").startswith(f"{file / 't.parquet'}: ")
