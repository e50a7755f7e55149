"""``--columns``: logs whose columns the user describes; and headlines that name a unit that the content decided."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import Cli

COLUMNS = "time:ms op:0=read,1=write offset:sectors size:bytes"
ROWS = [(i * 3, i % 4 // 3, 8 * (i * 7 % 256), 4096) for i in range(400)]


def log(path: Path, heading: str = "") -> Path:
    """A log of 400 requests in 1.197 s, a quarter of them writes."""
    path.write_text(heading + "".join(f"{at};{op};{lba};{size}\n" for at, op, lba, size in ROWS))
    return path


def test_trace_info_prints_the_description_that_it_used(cli: Cli, tmp_path: Path) -> None:
    trace = log(tmp_path / "own.log", "ms;op;lba;bytes\n")
    text = cli("trace", "info", trace, "--columns", COLUMNS).done()
    assert f"trace      {trace} (columns)\n" in text
    assert "requests   400 in 1.2 s\n" in text
    assert "writes     100 (410 kB)\n" in text
    assert f"columns: {COLUMNS} separator=semicolon" in text
    facts = json.loads(cli("trace", "info", trace, "--columns", COLUMNS, "--json").done())
    assert (facts["requests"], facts["write_bytes"], facts["other_records"]) == (400, 409_600, 1)


def test_without_a_description_the_error_names_the_option(cli: Cli, tmp_path: Path) -> None:
    error = cli("trace", "info", log(tmp_path / "own.log")).refused()
    expected = '; for any other log: --columns, as in --columns "time:s op:RW offset:sectors size:bytes"'
    assert error.rstrip().endswith(expected)
    error = cli("trace", "info", tmp_path / "own.log", "--columns", "time:ms op:RW offset:sectors size:bytes").refused()
    assert "own.log:1:3: '0' cannot be column 2 (op); expected a word that begins with R, W or D" in error


def test_a_file_of_columns_becomes_part_of_the_experiment(cli: Cli, tmp_path: Path) -> None:
    """Paths are relative to the experiment; the resolved experiment needs the file no more."""
    folder = tmp_path / "kept"
    folder.mkdir()
    log(folder / "own.log")
    (folder / "own.toml").write_text(f'separator = "semicolon"\ncolumns = "{COLUMNS}"\n')
    experiment = folder / "e.toml"
    experiment.write_text(
        '[drive]\ncapacity = "64 MiB"\n[drive.geometry]\npages_per_block = 64\n[ftl]\nprecondition = "none"\n'
        f'[workload]\nkind = "trace"\nfile = "{folder / "own.log"}"\ncolumns = "own.toml"\n'
    )
    cli("run", experiment, "--out", tmp_path / "r", "--no-report").done()
    resolved = (tmp_path / "r/experiment.toml").read_text()
    assert f'columns = "{COLUMNS} separator=semicolon"' in resolved
    (folder / "own.toml").unlink()
    cli("run", tmp_path / "r/experiment.toml", "--out", tmp_path / "again", "--no-report").done()
    results = [json.loads((tmp_path / name / "result.json").read_text()) for name in ("r", "again")]
    assert results[0]["host"] == results[1]["host"]
    assert results[0]["host"]["write_bytes"] == 409_600
    # Without the file the experiment itself is no longer complete.
    assert f"{folder / 'own.toml'}: " in cli("run", experiment).refused()


def test_a_description_is_an_option_of_every_command_with_a_trace(cli: Cli, tmp_path: Path) -> None:
    trace = log(tmp_path / "own.log")
    cli("trace", "convert", trace, tmp_path / "own.parquet", "--columns", COLUMNS).done()
    facts = json.loads(cli("trace", "info", tmp_path / "own.parquet", "--json").done())
    assert (facts["requests"], facts["writes"], facts["footprint_bytes"]) == (400, 100, 256 * 4096)
    drive = ("--set", 'drive.capacity="64 MiB"', "--set", "drive.geometry.pages_per_block=64")
    text = cli("run", "--trace", trace, "--columns", COLUMNS, *drive).done()
    assert "own.log (columns): 400 requests, 25 % writes" in text
    error = cli("run", "--trace", trace, "--columns", COLUMNS, "--format", "msr", *drive).refused()
    assert "the format is msr and the columns are described; expected one of the two" in error


def test_headlines_name_the_unit_that_the_content_decided(cli: Cli, tmp_path: Path) -> None:
    """As in libCacheSim's sample of CloudPhysics, whose times are in seconds: 400 requests in 99 s, not in 99 us."""
    trace = tmp_path / "seconds.csv"
    rows = (f"1,{5_000_000 + i // 4},{('28', '2a')[i % 2]},4096,{1000 + 8 * i}\n" for i in range(400))
    trace.write_text("version,time,op,size,lbn\n" + "".join(rows))
    text = cli("trace", "info", trace).done()
    assert f"trace      {trace} (cloudphysics, time in s)\nrequests   400 in 99 s\n" in text
    note = "time in s: in us the trace would begin with 4 million requests per second (--time-unit us overrides this)"
    assert note in text
    drive = ("--set", 'drive.capacity="64 MiB"', "--set", "drive.geometry.pages_per_block=64")
    text = cli("run", "--trace", trace, *drive).done()
    assert "seconds.csv (cloudphysics, time in s): 400 requests, 50 % writes" in text
    text = cli("trace", "info", trace, "--time-unit", "us").done()
    assert "(cloudphysics)\nrequests   400 in 99 us\n" in text
    assert "overridden" not in text
