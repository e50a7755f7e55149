"""``floatgate trace``: look at traces and convert them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import floatgate
from conftest import Cli
from floatgate.trace import conversion, parquet_columns

INFO = {
    "format", "requests", "reads", "writes", "trims", "read_bytes", "write_bytes", "trim_bytes", "duration_s",
    "pages_written_distinct", "pages_read_distinct", "rewrite_share",
}  # fmt: skip
SAMPLE = Path(__file__).parents[3] / "shared/traces/msprod/tpcc-small.mqsim.zst"


def test_info_counts(cli: Cli, trace: Path) -> None:
    facts = json.loads(cli("trace", "info", trace, "--json").done())
    assert set(facts) >= INFO
    assert (facts["format"], facts["requests"], facts["reads"], facts["writes"]) == ("msr", 1100, 100, 1000)
    assert facts["write_bytes"] == 1000 * 8192
    assert facts["duration_s"] == pytest.approx(99.9)
    assert facts["pages_written_distinct"] == 1200
    assert facts["rewrite_share"] == pytest.approx(1 - 1200 / 2000)


def test_info_for_people(cli: Cli, trace: Path) -> None:
    text = cli("trace", "info", trace).done()
    assert "1100 in 99.9 s" in text
    assert "1000 (8.19 MB)" in text
    assert "usr_0" in text


def test_info_from_python(trace: Path) -> None:
    assert floatgate.trace_info(trace).requests == 1100
    assert floatgate.trace_info(trace, format="msr").devices[0].name == "usr_0"
    with pytest.raises(floatgate.InputError, match="'best'"):
        floatgate.trace_info(trace, format="best")


def test_parquet_holds_every_request(cli: Cli, trace: Path, tmp_path: Path) -> None:
    answer = json.loads(cli("trace", "convert", trace, "t.parquet", "--json").done())
    assert answer == {"out": "t.parquet", "format": "parquet", "requests": 1100}
    table = pq.read_table(tmp_path / "t.parquet")
    assert [(field.name, str(field.type).partition("<")[0]) for field in table.schema] == [
        ("time_ns", "int64"),
        ("device", "dictionary"),
        ("op", "dictionary"),
        ("offset", "uint64"),
        ("bytes", "uint64"),
    ]
    rows = table.to_pylist()
    assert rows[0] == {"time_ns": 0, "device": "usr_0", "op": "write", "offset": 0, "bytes": 8192}
    assert rows[1] == {"time_ns": 0, "device": "usr_0", "op": "read", "offset": 0, "bytes": 4096}
    assert rows[2]["device"] == "usr_1"
    assert rows[2]["time_ns"] == 100_000_000


def test_parquet_is_written_in_row_groups(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_columns, "_ROWS_PER_GROUP", 100)
    assert conversion.write_parquet(str(trace), str(tmp_path / "t.parquet"), {}) == {"requests": 1100}
    assert pq.ParquetFile(tmp_path / "t.parquet").num_row_groups >= 2


@pytest.mark.parametrize(
    ("name", "to"), [("t.iolog", None), ("t.log", "fio-iolog"), ("t.csv", None), ("t.x", "mqsim"), ("t.blkparse", None)]
)
def test_other_formats_read_back_the_same(cli: Cli, trace: Path, name: str, to: str | None) -> None:
    cli("trace", "convert", trace, name, *(("--to", to) if to else ())).done()
    form = {"t.csv": "msr", "t.x": "mqsim", "t.blkparse": "blkparse"}.get(name, "fio-iolog")
    before = json.loads(cli("trace", "info", trace, "--json").done())
    after = json.loads(cli("trace", "info", name, "--format", form, "--json").done())
    for key in ("requests", "reads", "writes", "write_bytes", "pages_written_distinct"):
        assert after[key] == before[key], key


def test_a_file_in_the_way_is_kept(cli: Cli, trace: Path, tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_text("mine")
    assert "exists already" in cli("trace", "convert", trace, "t.parquet").refused()
    assert (tmp_path / "t.parquet").read_text() == "mine"
    cli("trace", "convert", trace, "t.parquet", "--force").done()
    assert pq.read_table(tmp_path / "t.parquet").num_rows == 1100


@pytest.mark.skipif(not SAMPLE.exists(), reason="the sample traces are not beside the checkout (../shared/traces)")
def test_sample_trace_runs_with_its_devices(cli: Cli) -> None:
    common = ("--trace", SAMPLE, "--set", "drive.capacity=16 GiB", "--beyond", "wrap", "--no-report", "--json", "-")
    result = json.loads(cli("run", *common).done())
    assert result["workload"]["requests"] == 6999
    assert len(result["workload"]["devices"]) == 16
    assert sum(device["write_requests"] for device in result["workload"]["devices"]) == 2618


def test_options_without_effect_are_refused(cli: Cli, trace: Path) -> None:
    for more, message in (
        (("--force",), "--force: nothing is written; expected it with --report or --pictures"),
        (("--report", "-"), "-: a report is not written to standard output; expected the name of a file"),
        (("--counts-only", "--window", "5"), "--window: --counts-only counts no windows; expected one of the two"),
    ):
        assert cli("trace", "info", trace, *more).refused() == message


def test_a_seed_beyond_the_range_is_named(cli: Cli) -> None:
    made = cli("trace", "generate", "--pattern", "zipf", "--size", "1 GiB", "--seed", str(2**64), "-o", "a.parquet")
    assert "--seed" in made.refused()


def test_a_full_device_is_no_internal_error(trace: Path) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "floatgate", "trace", "info", str(trace), "--json", "--quiet"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        2,
        "error: standard output: No space left on device; expected room for the output\n",
    )
