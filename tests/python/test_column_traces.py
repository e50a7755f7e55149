"""Traces that Python reads for the core: Parquet, texts of strace and perf script."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import floatgate
from conftest import Cli
from floatgate import _core
from floatgate.base.errors import InputError
from floatgate.trace.recorder.calls import Tally
from floatgate.trace.recorder.perf_events import block_request, events
from floatgate.trace.recorder.strace_text import parse_frame as parse_strace_frame

OPS = ["read", "write", "trim"]


def table(rows: int = 6, **more: Any) -> pa.Table:
    columns: dict[str, Any] = {
        "time_ns": pa.array(range(1000, 1000 + rows), pa.int64()),
        "device": pa.array(["a", "b"] * (rows // 2)).dictionary_encode(),
        "op": pa.array((OPS * rows)[:rows]).dictionary_encode(),
        "offset": pa.array([4096 * i for i in range(rows)], pa.uint64()),
        "bytes": pa.array([4096] * rows, pa.uint64()),
    }
    columns.update(more)
    return pa.table({name: value for name, value in columns.items() if value is not None})


def info(path: Path) -> Any:
    return json.loads(_core.trace_info(str(path), {}))


def written(folder: Path, what: pa.Table, **options: Any) -> Path:
    path = folder / "t.parquet"
    pq.write_table(what, path, **options)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as raised:
        _core.trace_info(str(path), {})
    assert raised.value.status == 2
    return str(raised.value)


def test_what_convert_writes_is_read_back(tmp_path: Path) -> None:
    facts = info(written(tmp_path, table()))
    assert (facts["format"], facts["requests"], facts["reads"], facts["trims"]) == ("parquet", 6, 2, 2)
    assert [device["name"] for device in facts["devices"]] == ["a", "b"]
    assert facts["duration_s"] == pytest.approx(5e-9)


@pytest.mark.parametrize("packing", [{"row_group_size": 2}, {"compression": "none"}, {"use_dictionary": False}])
def test_the_content_hash_does_not_depend_on_the_packing(tmp_path: Path, packing: dict[str, Any]) -> None:
    plain = info(written(tmp_path, table()))
    assert info(written(tmp_path, table(), **packing)) == plain
    assert info(written(tmp_path, table(8), **packing))["content_hash"] != plain["content_hash"]


def test_a_trace_needs_few_columns(tmp_path: Path) -> None:
    few = info(written(tmp_path, table(device=None, time_ns=None)))
    assert few["duration_s"] is None
    assert [device["name"] for device in few["devices"]] == ["0"]
    plain = table(op=pa.array(OPS * 2), device=pa.array(["a", "b"] * 3), offset=pa.array(range(6), pa.int32()))
    assert info(written(tmp_path, plain))["requests"] == 6


def test_an_experiment_runs_on_it_more_than_once(tmp_path: Path) -> None:
    path = written(tmp_path, table(600))
    run = floatgate.run(trace=path, set={"workload.repeat": 3, "drive.capacity": "64 MiB", "ftl.precondition": "none"})
    host = run.host
    assert (run.workload.format, host.write_requests, host.trim_requests) == ("parquet", 600, 600)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"offset": None}, "has no column 'offset'; expected a trace with 'op', 'offset', 'bytes'"),
        (
            {"op": pa.array(["read", "wipe"] * 3)},
            ":2: 'wipe' is not an operation; expected one of 'read', 'write', 'trim'",
        ),
        ({"bytes": pa.array([1, 1, None, 1, 1, 1])}, ":3: bytes is null; expected a value in every row"),
        ({"offset": pa.array([1, -1, 1, 1, 1, 1])}, ":2: offset: Integer value -1 not in range"),
        ({"bytes": pa.array([1.5] * 6)}, "bytes is of type double; expected whole numbers (uint64)"),
        ({"offset": pa.array([2**64 - 1] * 6, pa.uint64())}, ":1: the request ends beyond 2^64 bytes in this row"),
        ({"fingerprints": pa.array([1] * 6)}, "fingerprints is of type int64; expected a list of uint64"),
        (
            {"fingerprints": pa.array([[1]] * 6), "compressed_bytes": pa.array([[1]] * 5 + [[1, 2]])},
            ":6: fingerprints and compressed_bytes differ in length",
        ),
        (
            {"fingerprints": pa.array([["a"]] * 6)},
            "fingerprints is of type list<element: string>; expected a list of uint64",
        ),
        (
            {"compressed_bytes": pa.array([[0.5]] * 6)},
            "compressed_bytes is of type list<element: double>; expected a list of uint16",
        ),
        (
            # Entries before it: two of the second row, one of the fourth.
            {"compressed_bytes": pa.array([None, [1, 2], [], [3], [4, 70_000], [5]])},
            ":5: compressed_bytes: Integer value 70000 not in range: 0 to 65535; expected uint16",
        ),
        (
            {"fingerprints": pa.array([[1], [-7], None, [1], [1], [1]])},
            ":2: fingerprints: Integer value -7 not in range",
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_row(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = written(tmp_path, table(**change))
    text = refusal(path)
    assert text.startswith(str(path))
    assert message in text


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, table(60_000))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert "is damaged or no Parquet file" in refusal(path)
    rng = np.random.default_rng(5)
    for _ in range(60):
        damaged = bytearray(whole)
        for at in rng.integers(4, len(whole), 8):
            damaged[at] = rng.integers(0, 256)
        path.write_bytes(bytes(damaged))
        # Either it is refused with a message, or the damage lies where it changes values only.
        try:
            _core.trace_info(str(path), {})
        except InputError as error:
            assert str(error).startswith(str(path))


def test_a_pipe_and_a_packed_file_are_copied(tmp_path: Path) -> None:
    path = written(tmp_path, table())
    command = [sys.executable, "-m", "floatgate", "trace", "info", "-", "--json", "--quiet"]
    piped = subprocess.run(command, input=path.read_bytes(), capture_output=True, check=True)
    assert json.loads(piped.stdout) == info(path)


def test_optional_columns_reach_the_core(tmp_path: Path) -> None:
    metadata = {"floatgate": json.dumps({"schema": "floatgate.trace/1", "contexts": {"7": {"name": "a < b"}}})}
    what = table(
        context=pa.array([7, None, 9, 7, 0, 2**64 - 1], pa.uint64()),
        stream=pa.array([0, 1, 2, 3, 4, None], pa.uint32()),
        flags=pa.array([0, 1, 2, 3, 0, None], pa.uint8()),
        fingerprints=pa.array([None, [5], None, [], [6, None], None], pa.list_(pa.uint64())),
        compressed_bytes=pa.array([None, [50], None, [], [60, None], None], pa.list_(pa.uint16())),
    ).replace_schema_metadata(metadata)
    path = written(tmp_path, what, row_group_size=4)
    before = info(path)["content_hash"]
    for column, other in (("context", [7, None, 9, 7, 0, 1]), ("stream", [0] * 6), ("flags", [0] * 6)):
        changed = what.set_column(what.schema.get_field_index(column), column, pa.array(other, what[column].type))
        assert info(written(tmp_path, changed))["content_hash"] != before


STRACE = """\
17 1732104000.000000001 openat(AT_FDCWD</w>, "data", O_RDWR|O_CREAT, 0644) = 3</w/data>
17 1732104000.000100000 pwrite64(3</w/data>, "x"..., 4096, 0) = 4096
 > /usr/lib/libc.so.6(__pwrite64+0x12) [0xfd0e2]
 > /w/prog(hot+0x20) [0x1189]
 > /w/prog(main+0x30) [0x1289]
17 1732104000.000200000 pwrite64(3</w/data>, "x"..., 8192, 4096) = 8192
 > /usr/lib/libc.so.6(__pwrite64+0x12) [0xfd0e2]
 > /w/prog(cold+0x20) [0x1389]
17 1732104000.000300000 fsync(3</w/data>) = 0
17 1732104000.000400000 unlink("data") = 0
17 1732104000.000500000 close(3</w/data>) = 0
17 1732104000.000600000 +++ exited with 0 +++
"""


def other_stamps(text: str, stamp: str) -> str:
    """The same lines with another prefix; stacks stay."""
    lines = [line if line.startswith(" >") else stamp + line.split(" ", 2)[2] for line in text.splitlines()]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        STRACE,
        other_stamps(STRACE, "[pid    17] 10:00:00.000001 "),
        other_stamps(STRACE, "17 10:00:00 "),
        other_stamps(STRACE, "     0.000000 "),
        other_stamps(STRACE, "17 "),
        other_stamps(STRACE, ""),
        "strace: Process 17 attached\n" + STRACE.replace("\n", "\r\n"),
    ],
)
def test_strace_in_all_its_forms(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.txt"
    path.write_text(text, newline="")
    facts = info(path)
    assert (facts["format"], facts["writes"], facts["write_bytes"], facts["trims"]) == ("strace", 2, 3 * 4096, 1)
    assert any("page-cache model: 1024 MB" in line for line in facts["assumed"])


def test_strace_without_a_request_says_what_it_met(tmp_path: Path) -> None:
    path = tmp_path / "t.strace"
    path.write_text("some words\n")
    assert refusal(path).startswith(f"{path}: unknown format")
    with pytest.raises(InputError) as raised:
        _core.trace_info(str(path), {"format": "strace"})
    assert "the first line that was not understood is 'some words'; expected lines as strace" in str(raised.value)


PERF = """\
# a comment
prog    17 [001]   100.000000001: block:block_rq_issue: 8,16 W 4096 () 2048 + 8 none,0,0 [prog]
\tffffffff81234567 blk_mq_start_request+0x10 ([kernel.kallsyms])
\t            1189 flush+0x20 (/w/prog)
\t            1289 main+0x30 (/w/prog)

kworker/0:1   9 [000]   100.000000009: block:block_rq_issue: 8,16 WS 512 () 1 + 1 [kworker/0:1]

prog    17/18   100.1: block:block_rq_issue: 8,32 D 0 () 64 + 128 [prog]
prog    17 [001]   100.200000: block:block_rq_issue: 8,16 FF 0 () 0 + 0 [prog]
prog    17 [001]   100.300000: block:block_rq_complete: 8,16 W () 2048 + 8 [0]
prog    17 [001]   100.300001: block:block_rq_issue: 8,16 RA 4096 () 8 + 8 [prog]
"""


def test_block_events_are_requests(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text(PERF)
    facts = info(path)
    assert (facts["format"], facts["reads"], facts["writes"], facts["trims"]) == ("perf-script", 1, 2, 1)
    assert (facts["write_bytes"], facts["trim_bytes"]) == (4608, 65536)
    assert [device["name"] for device in facts["devices"]] == ["8,16", "8,32"]
    requests = [block_request(event) for event in events(PERF.splitlines(), Tally())]
    frames = [[frame.symbol for frame in request.frames] for request in requests if request is not None]
    assert frames[:2] == [["flush", "main"], []], "frames of the kernel are left out"
    assert requests[3] is None


CALLS = """\
prog    17 [001]   5.000001:  syscalls:sys_exit_write: 0x10
prog    17 [001]   5.000002: syscalls:sys_enter_pwrite64: fd: 0x00000003, buf: 0x1, count: 0x00001000, pos: 0x00001000
\t            f6483 __libc_pwrite64+0x13 (/usr/lib/libc.so.6)
\t            11b3 hot+0x2a (/w/prog)

prog    17 [001]   5.000003:  syscalls:sys_exit_pwrite64: 0x1000
prog    17 [001]   5.000004:  syscalls:sys_enter_fsync: fd: 0x00000003
prog    17 [001]   5.000005:  syscalls:sys_exit_fsync: 0x0
"""


def test_system_calls_of_perf_script_go_through_the_model(tmp_path: Path) -> None:
    path = tmp_path / "t.perf"
    path.write_text(CALLS)
    facts = info(path)
    assert (facts["format"], facts["requests"], facts["write_bytes"]) == ("perf-script", 1, 4096)
    assert "descriptors count as files: perf script does not name them" in facts["assumed"]
    assert "calls without their beginning or end, left out: 1" in facts["assumed"]


def test_contexts_do_not_depend_on_where_code_lies() -> None:
    moved = PERF.replace("1189 flush", "7f001189 flush").replace("1289 main", "7f001289 main")
    first, second = (next(events(text.splitlines(), Tally())) for text in (PERF, moved))
    assert first.frames == second.frames


def test_a_symbol_needs_no_distance() -> None:
    for symbol, expected in (("main", "main"), ("main+0x12", "main"), ("a+0xfffff", ""), ("+0x", "+0x"), ("", "")):
        frame = parse_strace_frame(f" > /w/prog({symbol}) [0x1189]")
        assert frame is not None
        assert (frame.symbol, frame.offset) == (expected, 0x1189)


def test_names_may_hold_any_bytes(tmp_path: Path) -> None:
    path = tmp_path / "t.strace"
    path.write_bytes(STRACE.replace("hot", "h\xff").replace("/w/prog", "/w/pr\xe9g").encode("latin-1"))
    assert info(path)["writes"] == 2


@pytest.mark.parametrize(
    ("text", "replaced", "by"),
    [
        (PERF, "2048 + 8", "99999999999999999999 + 8"),
        (PERF, "2048 + 8", "8 + 99999999999999999999"),
        (PERF, "100.000000001", "99999999999999.1"),
        (STRACE, "= 8192", "= 999999999999999999"),
        (STRACE, "4096) = 8192", "99999999999999999999) = 8192"),
        (STRACE, "1732104000.000200000", "99999999999999.1"),
    ],
)
def test_what_no_kernel_says_is_left_out_and_counted(tmp_path: Path, text: str, replaced: str, by: str) -> None:
    path = tmp_path / "t.txt"
    path.write_text(text.replace(replaced, by, 1))
    assert "lines that were not understood, left out: 1" in info(path)["assumed"]


@pytest.mark.long
def test_the_fuzzer_runs(tmp_path: Path) -> None:
    script = Path(__file__).parents[2] / "scripts" / "fuzz.py"
    command = [sys.executable, str(script), "--rounds", "5"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    rounds = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert set(rounds.values()) == {"5 rounds from seed 1"}
    assert set(rounds) >= {
        "strace",
        "perf-script",
        "perf",
        "parquet",
        "journal",
        "trials",
        "JSON of run",
        "names in queries",
        "SQL",
    }


def content_of(path: Path) -> tuple[float, float]:
    """Share of the written pages whose content had been written before; mean compressed / plain size."""
    columns = pq.read_table(path, columns=["op", "fingerprints", "compressed_bytes"])
    rows = columns.filter(pc.equal(columns["op"].cast("string"), "write"))
    values = rows["fingerprints"].combine_chunks().flatten()
    sizes = rows["compressed_bytes"].combine_chunks().flatten()
    return 1 - len(values.unique()) / len(values), pc.mean(sizes).as_py() / 4096


def test_a_twin_brings_its_content(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    cli("trace", "generate", "--twin", "wksn", "--requests", "20000", "-o", path, "--quiet").done()
    duplicates, compressed = content_of(path)
    # What configs/twins/wksn.toml says.
    assert duplicates == pytest.approx(0.18, rel=0.05)
    assert compressed == pytest.approx(0.431, rel=0.05)


def test_content_is_made_up_on_demand(cli: Cli, tmp_path: Path, trace: Path) -> None:
    path = tmp_path / "t.parquet"
    made = ["--duplicate-share", "0.3", "--compressed-share", "0.5", "--incompressible-share", "0.1"]
    cli("trace", "convert", trace, path, "--quiet", *made).done()
    duplicates, compressed = content_of(path)
    assert duplicates == pytest.approx(0.3, rel=0.1)
    assert compressed == pytest.approx(0.5, rel=0.05)
    other = tmp_path / "u.parquet"
    cli("trace", "convert", trace, other, "--quiet", *made, "--content-seed", "2").done()
    assert path.read_bytes() != other.read_bytes()
    with pytest.raises(InputError, match="this parquet trace has content of its own; leave it out"):
        _core.trace_info(str(path), {"duplicate_share": "0.1"})
