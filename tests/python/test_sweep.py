"""``floatgate sweep``: one flat table, from a journal that resumes."""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import floatgate
from conftest import SMALL, Cli
from floatgate.run.experiment import Experiment
from floatgate.study.runs import engine
from floatgate.study.runs.journal import Journal
from floatgate.study.runs.work import DONE, Answer, Job

VARY = ("--vary", "ftl.spare_factor=0.2..0.4:3", "--vary", "ftl.collect.policy=greedy,fifo")


def test_a_sweep_has_the_trigger_of_a_comparison(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    """A sweep and a comparison over the same values have the same figures, and say what follows from the trigger."""
    vary = ("--vary", "ftl.separate.policy=none,sepbit", "--set", "workload.pattern=zipf")
    output = cli("sweep", experiment, *vary, "--out", "s").done()
    trigger = "ftl.collect.trigger_free_blocks"
    cli("compare", experiment, *vary, "--out", "c").done()
    compared = floatgate.load_comparison(tmp_path / "c")
    rows = floatgate.load_sweep(tmp_path / "s").arrow().to_pylist()
    assert [row["waf"] for row in rows] == [run.waf for run in compared.runs]
    assert [row[trigger] for row in rows] == [2, 2]
    page = (tmp_path / "s/report.html").read_text()
    for note in (
        f"{trigger} is 2 in all settings; by default it would be 1 under none, 2 under sepbit (--own-defaults",
        "Under none collection then takes one victim at a time; by default it frees several at once there",
    ):
        assert f"note       {note}" in output
        assert note in page
        assert note in compared.text()
    assert "note" in cli("sweep", experiment, *vary, "--out", "s", "--resume").done()
    own = cli("sweep", experiment, *vary, "--own-defaults", "--out", "own").done()
    assert f"note       also differs: {trigger} 1 under none, 2 under sepbit" in own
    assert floatgate.load_sweep(tmp_path / "own").arrow().to_pylist()[0][trigger] == 1
    assert "--own-defaults" not in cli("sweep", experiment, *VARY, "--out", "other").done()


def test_unusable_points_do_not_choose_the_trigger(cli: Cli, experiment: Path) -> None:
    vary = ("--vary", "ftl.separate.policy=none,sepbit", "--vary", "ftl.spare_factor=0.2,0.0125")
    swept = cli("sweep", experiment, *vary, "--out", "s")
    assert "4: 3 done, 1 unusable" in swept.out
    assert "is 2 in all settings; by default it would be 1 under none, 2 under sepbit" in swept.out


def test_runs_without_a_steady_waf_are_named(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    vary = ("--vary", "ftl.collect.policy=greedy,cost-benefit", "--vary", "ftl.spare_factor=0.1,0.3")
    short = ("--set", "ftl.precondition=none", "--set", "workload.requests=30000")
    output = cli("sweep", experiment, *vary, *short, "--repeat", "2", "--out", "s").done()
    compared = cli("compare", experiment, *vary, *short, "--repeat", "2").done()
    lacking = [line for line in compared.splitlines() if "no steady WAF" in line or "no life yet" in line]
    assert lacking
    for line in lacking:
        assert line.split(":")[0] in output
    assert "no life yet" in (tmp_path / "s/report.html").read_text()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_table_is_flat_typed_and_complete(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    output = cli("sweep", experiment, *VARY, "--repeat", "2", "--out", "s").done()
    assert output.splitlines()[0] == "runs       12: 12 done"
    assert names(tmp_path / "s") == ["journal.jsonl", "report.html", "sweep.json", "sweep.parquet"]
    table = pq.read_table(tmp_path / "s/sweep.parquet")
    assert table.num_rows == 12
    assert table.column_names[:7] == [
        "run",
        "ftl.spare_factor",
        "ftl.collect.policy",
        "seed",
        "status",
        "error",
        "config_hash",
    ]
    types = {field.name: str(field.type) for field in table.schema}
    assert types["waf"] == types["ftl.spare_factor"] == types["latency_us.read.p99"] == "double"
    assert types["seed"] == types["flash.programs.total"] == types["host.page_writes"] == "int64"
    assert types["stationary"] == "bool"
    rows = table.to_pylist()
    assert [row["run"] for row in rows] == list(range(12))
    assert [row["seed"] for row in rows] == [3, 4] * 6
    assert {row["latency_us.read.p99"] for row in rows} == {None}  # a figure that the mode cannot know
    assert not any(key.startswith("run.") for key in table.column_names)
    # A row is what the run alone gives.
    alone = floatgate.run(experiment, set={"ftl.spare_factor": 0.3, "ftl.collect.policy": "fifo", "seed": 4}).result
    row = next(
        row for row in rows if (row["ftl.spare_factor"], row["ftl.collect.policy"], row["seed"]) == (0.3, "fifo", 4)
    )
    assert row["config_hash"] == alone.config_hash
    assert row["waf"] == alone.waf
    assert [row["waf_95.low"], row["waf_95.high"]] == alone.waf_95
    assert row["flash.programs.gc"] == alone.flash.programs.gc
    assert row["wear.erases_max"] == alone.wear.erases_max
    assert row["workload.requests"] == 60_000


def test_the_table_is_the_same_on_any_number_of_cores_and_through_python(
    cli: Cli, experiment: Path, tmp_path: Path
) -> None:
    cli("sweep", experiment, *VARY, "--out", "a", "--no-report", "--jobs", "1").done()
    cli("sweep", experiment, *VARY, "--out", "b", "--no-report", "--jobs", "4").done()
    vary = {"ftl.spare_factor": "0.2..0.4:3", "ftl.collect.policy": ["greedy", "fifo"]}
    loaded = floatgate.sweep(experiment, vary, out=tmp_path / "c")
    tables = [(tmp_path / name / "sweep.parquet").read_bytes() for name in "abc"]
    assert tables[0] == tables[1] == tables[2]
    assert len(loaded) == 6


LONGER = ("--set", "workload.requests=2000000", "--set", "drive.endurance.pe_cycles=1000000")


def begun(folder: Path, *arguments: str | Path, least: int, out: str) -> subprocess.Popen[bytes]:
    """A sweep that has done some runs and is still at work."""
    command = [sys.executable, "-m", "floatgate", *map(str, arguments), "--out", out, "--no-report"]
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Tests that run in the background inherit an ignored SIGINT, which Python then leaves ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    journal = folder / out / "journal.jsonl"
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        if journal.exists() and journal.read_bytes().count(b"\n") >= least:
            return process
        time.sleep(0.02)
    raise AssertionError(process.communicate())


@pytest.mark.long
def test_a_killed_sweep_goes_on_and_does_no_run_twice(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    settings = (experiment, *LONGER, "--vary", "ftl.spare_factor=0.2..0.4:20")
    process = begun(tmp_path, "sweep", *settings, least=4, out="s")
    process.kill()
    process.communicate()
    before = (tmp_path / "s/journal.jsonl").read_bytes()
    # What a power cut may leave of a line.
    (tmp_path / "s/journal.jsonl").write_bytes(before[: before.rindex(b"\n") + 1] + b'{"run": 1')
    assert "holds a sweep; expected --resume" in cli("sweep", *settings, "--out", "s").refused()
    cli("sweep", "--out", "s", "--resume", "--no-report").done()
    after = (tmp_path / "s/journal.jsonl").read_bytes()
    assert after.startswith(before[: before.rindex(b"\n") + 1])
    assert sorted(json.loads(line)["run"] for line in after.splitlines()) == list(range(20))
    cli("sweep", *settings, "--out", "t", "--no-report").done()
    assert (tmp_path / "s/sweep.parquet").read_bytes() == (tmp_path / "t/sweep.parquet").read_bytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_sweep_says_how_to_go_on(
    cli: Cli, experiment: Path, tmp_path: Path, number: signal.Signals
) -> None:
    settings = (experiment, *LONGER, "--vary", "ftl.spare_factor=0.2..0.4:40")
    process = begun(tmp_path, "sweep", *settings, least=2, out="s")
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert err.decode().startswith("error: interrupted, ")
    assert err.decode().strip().endswith("of 40 runs are done; continue with: floatgate sweep --out s --resume")
    rows = pq.read_table(tmp_path / "s/sweep.parquet").num_rows
    assert rows == (tmp_path / "s/journal.jsonl").read_bytes().count(b"\n") >= 2
    assert len(floatgate.load_sweep(tmp_path / "s")) == rows


def test_an_interrupt_before_the_first_run_leaves_nothing(experiment: Path, tmp_path: Path) -> None:
    arguments = ["sweep", str(experiment), "--set", "workload.requests=20000000000", "--vary", "seed=1,2", "--out", "s"]
    arguments += ["--set", "drive.endurance.pe_cycles=4000000000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "floatgate", *arguments],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    end = time.monotonic() + 60
    while not (tmp_path / "s/journal.jsonl").exists() and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"error: interrupted; nothing was written\n")
    assert not (tmp_path / "s").exists()


def test_a_failed_run_and_an_unusable_point_are_rows(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    nowhere = ("--vary", "drive.endurance.pe_cycles=3000,1", "--vary", "ftl.collect.choices=4")
    assert "choices" in cli("sweep", experiment, *nowhere, "--out", "s").refused()
    vary = ("--vary", "drive.endurance.pe_cycles=3000,1", "--vary", "ftl.spare_factor=0.2,0.3")
    ended = cli("sweep", experiment, *vary, "--out", "s")
    assert ended.status == 1
    assert ended.err.startswith("error: 2 of 4 runs have no result; run 2 (drive.endurance.pe_cycles = 1, ")
    rows = pq.read_table(tmp_path / "s/sweep.parquet").to_pylist()
    assert [row["status"] for row in rows] == ["done", "done", "failed", "failed"]
    assert "worn out" in rows[2]["error"]
    assert rows[2]["waf"] is None
    assert "2 runs without a result" in (tmp_path / "s/report.html").read_text()
    # No point with so little spare space can be run, whatever its policy.
    vary = ("--vary", "ftl.spare_factor=0.0001,0.2", "--vary", "ftl.collect.policy=greedy,fifo")
    assert "the spare space, 2 pages, is too small" in cli("sweep", experiment, *vary, "--out", "t").refused()
    # A single point that has too little of it for its level is a row.
    vary = ("--vary", "ftl.spare_factor=0.1,0.4", "--vary", "ftl.collect.trigger_free_blocks=2,60")
    assert cli("sweep", experiment, *vary, "--out", "u", "--no-report").status == 1
    rows = pq.read_table(tmp_path / "u/sweep.parquet").to_pylist()
    assert [row["status"] for row in rows] == ["done", "unusable", "done", "done"]
    assert "is too small" in rows[1]["error"]


def test_traces_vary_too(cli: Cli, trace: Path, tmp_path: Path) -> None:
    (tmp_path / "half.csv").write_text("".join(trace.read_text().splitlines(keepends=True)[:600]))
    vary = ("--vary", "workload.file=two.csv,half.csv", "--vary", "ftl.spare_factor=0.2,0.3")
    (tmp_path / "e.toml").write_text('[drive]\ncapacity = "64 MiB"\n')
    cli("sweep", "e.toml", *vary, "--out", "s", "--no-report").done()
    rows = pq.read_table(tmp_path / "s/sweep.parquet").to_pylist()
    assert [row["workload.file"] for row in rows] == ["two.csv", "two.csv", "half.csv", "half.csv"]
    assert rows[0]["host.write_requests"] == 1000
    assert rows[2]["host.write_requests"] < 600
    # Another content under the same name is no sweep to go on with.
    trace.write_text(trace.read_text().replace("Read", "Write"))
    error = cli("sweep", "e.toml", *vary, "--out", "s", "--resume").refused()
    assert "the content of a trace or snapshot differ" in error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--vary", "ftl.spare_facto=1,2"], "'ftl.spare_facto': unknown key; did you mean 'ftl.spare_factor'"),
        (["--vary", "zzz=1,2"], "'zzz': unknown key; expected one of"),
        (["--vary", "ftl.collect.policy=greedy,best"], "'best'"),
        (["--vary", "seed=1..1000000:1000000", "--vary", "ftl.spare_factor=0.1,0.2"], "2000000 runs; expected at most"),
        (["--vary", "seed=1,2", "--repeat", "2"], "the seeds vary already"),
        (["--vary", "seed=1,2", "--on", "slurm://x"], "unknown; expected local, or dask://HOST:PORT"),
        (["--vary", "seed=1,2", "--on", "dask://x"], "no address; expected dask://HOST:PORT"),
        (["--vary", "seed=1,2", "--resume"], "--resume: the folder of the sweep is missing"),
        (["--vary", "seed=1,2", "--out", "o", "--resume"], "o: holds no sweep to go on with"),
        (["--vary", "seed=1,2", "--memory", "much"], "'much': not a size"),
        (["--vary", "seed=1,2", "--sample", "best"], "unknown sample 'best'"),
        (["--vary", "workload.file=a,b"], "a: No such file"),
        ([], "no --vary, and no [sweep.vary]"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(
    cli: Cli, experiment: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    place = [] if "--resume" in options else ["--out", "o"]
    refused = cli("sweep", experiment, *options, *place).refused()
    assert message.lower() in refused.lower()
    assert not (tmp_path / "o").exists()


def test_other_settings_are_no_sweep_to_go_on_with(cli: Cli, experiment: Path) -> None:
    cli("sweep", experiment, "--vary", "seed=1,2", "--out", "s", "--no-report").done()
    error = cli("sweep", experiment, "--vary", "seed=1,3", "--out", "s", "--resume").refused()
    assert "was begun with other settings (the settings that vary differ)" in error
    error = cli("sweep", "--vary", "seed=1,3", "--out", "s", "--resume").refused()
    assert "goes on as it was begun" in error
    cli("sweep", experiment, "--vary", "seed=1,2", "--out", "s", "--resume", "--no-report").done()
    cli("sweep", experiment, "--vary", "seed=1,3", "--out", "s", "--force", "--no-report").done()


def test_a_full_disk_ends_the_sweep_and_keeps_what_is_done(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: the system refuses to write on in the same way."""
    command = [sys.executable, "-m", "floatgate", "sweep", str(experiment), *VARY, "--repeat", "4", "--out", "s"]
    ended = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000)),
        timeout=120,
    )
    assert ended.returncode == 2
    error = ended.stderr.decode()
    assert error.startswith("error: s/")
    assert "expected room for the results; make some, then go on with --resume" in error
    lines = (tmp_path / "s/journal.jsonl").read_bytes().splitlines(keepends=True)
    assert lines
    assert all(line.endswith(b"\n") and json.loads(line) for line in lines)
    cli("sweep", "--out", "s", "--resume", "--no-report").done()
    assert pq.read_table(tmp_path / "s/sweep.parquet").num_rows == 24


def test_a_run_that_needs_more_than_its_memory_is_a_row(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    vary = ("--vary", "drive.capacity='64 MiB','256 GiB','32 MiB'")
    ended = cli("sweep", experiment, *vary, "--memory", "200MiB", "--out", "s", "--no-report")
    assert ended.status == 1
    rows = pq.read_table(tmp_path / "s/sweep.parquet").to_pylist()
    assert [row["status"] for row in rows] == ["done", "failed", "done"]
    assert "needs more memory than --memory 200 MiB" in rows[1]["error"]
    cli("sweep", experiment, "--vary", "drive.capacity='64 MiB','32 MiB'", "--out", "t", "--no-report").done()
    free = pq.read_table(tmp_path / "t/sweep.parquet").to_pylist()
    assert [row["waf"] for row in free] == [rows[0]["waf"], rows[2]["waf"]]


def test_a_sweep_loads_into_every_frame_and_has_plots(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    cli("sweep", experiment, *VARY, "--repeat", "2", "--out", "s", "--no-report").done()
    sweep = floatgate.load_sweep(tmp_path / "s")
    assert sweep.keys == ["ftl.spare_factor", "ftl.collect.policy"]
    assert sweep.arrow().num_rows == sweep.pandas().shape[0] == sweep.polars().height == 12
    assert sweep.polars()["waf"].to_list() == sweep.pandas()["waf"].to_list() == sweep.arrow()["waf"].to_pylist()
    rows = sweep.settings()
    assert len(rows) == 6
    wafs = [row["waf_bytes"] for row in sweep.arrow().to_pylist()[:2]]
    assert rows[0]["waf_bytes"] == pytest.approx(sum(wafs) / 2)
    # Two values: Student's t for one degree of freedom is 12.706.
    half = 12.706 * abs(wafs[0] - wafs[1]) / 2
    # The seeds draw the workload: that of batches is narrower by the root of their number. The wider one is shown.
    ends = [(row["waf_bytes_95.low"], row["waf_bytes_95.high"]) for row in sweep.arrow().to_pylist()[:2]]
    half = max(half, math.hypot(*((high - low) / 2 for low, high in ends)) / 2)
    assert rows[0]["waf_bytes.high"] - rows[0]["waf_bytes"] == pytest.approx(half)
    assert set(sweep.runs().column_names) >= {"run", "wall_s", "cpu_s", "peak_rss_bytes"}
    chart = sweep.plot("waf_bytes").to_dict()
    data = json.dumps(chart)
    assert "spare factor" in data
    assert "fifo" in data
    with pytest.raises(floatgate.InputError, match="no run of this sweep has such a figure; expected one such as"):
        sweep.plot("throughput.iops")


def test_what_is_no_sweep_does_not_load(tmp_path: Path) -> None:
    with pytest.raises(floatgate.InputError, match="holds no sweep"):
        floatgate.load_sweep(tmp_path)
    (tmp_path / "sweep.json").write_text("[1]")
    with pytest.raises(floatgate.InputError, match="is a list; expected an object, in the plan of a sweep"):
        floatgate.load_sweep(tmp_path)
    (tmp_path / "sweep.json").write_text('{"schema": "x"}')
    with pytest.raises(floatgate.InputError, match="its schema is 'x'"):
        floatgate.load_sweep(tmp_path)


def test_a_damaged_journal_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text('{"run": 0, "status"\n')
    with pytest.raises(floatgate.InputError, match=r"journal\.jsonl:1:20: ends before its JSON is complete"):
        Journal(tmp_path / "journal.jsonl", ["seed"])


def test_types_follow_from_the_values_whatever_comes_first(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl", ["a"])
    journal.add(Answer(1, "done", None, {"n": 3, "x": 1, "large": 2**63}), {"a": "b", "seed": 1})
    journal.add(Answer(0, "done", None, {"n": None, "x": 1.5, "large": 1}), {"a": 7, "seed": 1})
    journal.add(Answer(1, "failed", "twice", {}), {"a": 9, "seed": 1})
    journal.write_table(tmp_path / "t.parquet")
    journal.close()
    table = pq.read_table(tmp_path / "t.parquet")
    assert {name: str(table.schema.field(name).type) for name in ("n", "x", "large", "a")} == {
        "n": "int64",
        "x": "double",
        "large": "uint64",
        "a": "string",
    }
    assert table.select(["run", "a", "n", "x"]).to_pylist() == [
        {"run": 0, "a": "7", "n": None, "x": 1.5},
        {"run": 1, "a": "b", "n": 3, "x": 1.0},
    ]


def test_the_default_folder_is_numbered(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    for _ in range(2):
        cli("sweep", experiment, "--vary", "seed=1,2", "--no-report", "--quiet").done()
    assert names(tmp_path / "runs") == ["small-sweep", "small-sweep-2"]


def test_a_plain_run_leaves_the_sweep_table_aside(cli: Cli, tmp_path: Path) -> None:
    settings = "\n".join(f"{key} = {json.dumps(value)}" for key, value in SMALL.items())
    (tmp_path / "e.toml").write_text(f"{settings}\n[sweep.vary]\nseed = [1, 2]\n")
    cli("run", "e.toml", "--no-report", "--quiet").done()
    output = cli("sweep", "e.toml", "--json", "-", "--no-report", "--out", "s").done()
    answer = json.loads(output)
    assert (answer["schema"], answer["runs"], answer["done"]) == ("floatgate.sweep/1", 2, 2)
    assert os.path.exists(tmp_path / answer["table"])  # noqa: PTH110


def test_ctrl_c_waits_for_the_runs_that_are_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []

    def perform(job: Job, _progress: object) -> Answer:
        os.kill(os.getpid(), signal.SIGINT)  # while the call waits for this thread
        time.sleep(0.3)
        ended.append(job.number)
        return Answer(job.number, DONE)

    monkeypatch.setattr(engine, "perform", perform)
    job = Job(0, Experiment())
    with pytest.raises(KeyboardInterrupt):
        engine.Local(1).run([job], lambda _: None)
    assert ended == [0]
