"""``floatgate run``: what it prints and writes."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import floatgate
from conftest import Cli

FILES = ["experiment.toml", "report.html", "result.json", "series.parquet"]


def restore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_run_writes_a_folder_and_says_where(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    lines = cli("run", experiment).done().splitlines()
    assert [line.split()[0] for line in lines] == ["drive", "workload", "life", "WAF", "programs", "wear", "report"]
    assert all(line[10] == " " and line[11] != " " for line in lines)
    assert lines[-1] == f"{'report':<10} runs/small/report.html"
    assert sorted(path.name for path in (tmp_path / "runs/small").iterdir()) == FILES
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["small"]


@pytest.mark.parametrize("more", [(), ("--repeat", 2)])
def test_a_run_with_a_shadow_model_says_that_it_agreed(cli: Cli, experiment: Path, more: tuple[str | int, ...]) -> None:
    lines = cli("run", experiment, "--shadow", "--no-report", *more).done().splitlines()
    assert lines[-1] == "shadow     every read, the maps and the counts agree with the shadow model"
    assert not any("shadow" in line for line in cli("run", experiment, "--no-report", *more).done().splitlines())


def test_default_folder_is_numbered_when_taken(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    for _ in range(3):
        cli("run", experiment, "--no-report", "--quiet").done()
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["small", "small-2", "small-3"]


def test_json_on_standard_output_stands_alone(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    ended = cli("run", experiment, "--json", "-", "--no-report")
    result = json.loads(ended.done())
    assert result["schema"] == "floatgate.result/1"
    assert "WAF" in ended.err
    assert json.loads((tmp_path / "runs/small/result.json").read_text()) == result


def test_json_to_a_file_is_whole_or_missing(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    out = cli("run", experiment, "--json", "deep/r.json", "--no-report").done()
    assert "WAF" in out
    assert json.loads((tmp_path / "deep/r.json").read_text())["seed"] == 3
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["r.json"]


def test_json_to_a_device_leaves_the_device(cli: Cli, experiment: Path) -> None:
    cli("run", experiment, "--json", "/dev/null", "--no-report").done()
    assert Path("/dev/null").is_char_device()


def test_quiet_says_nothing(cli: Cli, experiment: Path) -> None:
    ended = cli("run", experiment, "--quiet", "--no-report")
    assert (ended.status, ended.out, ended.err) == (0, "", "")


def test_two_runs_agree_byte_for_byte_but_for_their_cost(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    results = []
    for name in ("a", "b"):
        cli("run", experiment, "--out", name, "--no-report").done()
        result = json.loads((tmp_path / name / "result.json").read_text())
        del result["run"]
        results.append(json.dumps(result))
    assert results[0] == results[1]
    assert (tmp_path / "a/series.parquet").read_bytes() == (tmp_path / "b/series.parquet").read_bytes()


def test_resolved_experiment_gives_the_same_result(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    cli("run", experiment, "--out", "a", "--no-report", "--set", "ftl.collect.policy=fifo").done()
    cli("run", "a/experiment.toml", "--out", "b", "--no-report").done()
    first, second = (json.loads((tmp_path / name / "result.json").read_text()) for name in "ab")
    assert first["config_hash"] == second["config_hash"]
    assert first["flash"] == second["flash"]


def test_settings_change_the_run(cli: Cli, experiment: Path) -> None:
    def waf(*more: str) -> float:
        result = json.loads(cli("run", experiment, "--json", "-", "--no-report", *more).done())
        return float(result["waf"])

    assert waf("--set", "ftl.spare_factor=0.4") < waf() < waf("--set", "ftl.collect.policy=fifo")


def test_trace_options_reach_the_core(cli: Cli, trace: Path, tmp_path: Path) -> None:
    common = ("run", "--trace", trace, "--set", "drive.capacity=64 MiB", "--json", "-", "--no-report")
    apart = json.loads(cli(*common).done())
    assert [device["name"] for device in apart["workload"]["devices"]] == ["usr_0", "usr_1"]
    assert apart["span_s"] == pytest.approx(99.9)
    folded = json.loads(cli(*common, "--devices", "fold").done())
    assert folded["workload"]["content_hash"] == apart["workload"]["content_hash"]
    assert folded["valid_pages"] != apart["valid_pages"]
    trace.write_text(trace.read_text() + "nonsense\n")
    skipped = json.loads(cli(*common, "--on-bad-line", "skip").done())
    assert skipped["workload"]["bad_lines_skipped"] == 1
    assert "1 bad line skipped" in cli(*common[:5], "--on-bad-line", "skip", "--no-report").done()
    assert str(tmp_path) not in json.dumps(skipped["config"])


def test_repeat_runs_seeds_side_by_side(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    ended = cli("run", experiment, "--repeat", "3", "--out", "r", "--json", "-", "--report")
    answer = json.loads(ended.done())
    assert answer["schema"] == "floatgate.repeat/1"
    assert answer["seeds"] == [3, 4, 5]
    wafs = [result["waf"] for result in answer["runs"]]
    assert len(set(wafs)) == 3
    assert answer["waf"]["mean"] == pytest.approx(sum(wafs) / 3)
    low, high = answer["waf"]["mean_95"]
    assert low < answer["waf"]["mean"] < high
    names = sorted(path.name for path in (tmp_path / "r").iterdir())
    assert names == ["repeat.csv", "repeat.json", "repeat.parquet", "report.html", "seed-3", "seed-4", "seed-5"]
    table = pq.read_table(tmp_path / "r/repeat.parquet")
    assert table.column_names[:4] == ["run", "seed", "status", "error"]
    assert (table["seed"].to_pylist(), table["waf"].to_pylist()) == ([3, 4, 5], wafs)
    alone = json.loads(cli("run", experiment, "--set", "seed=4", "--json", "-", "--no-report").done())
    assert alone["flash"] == answer["runs"][1]["flash"]


def test_report_draws_again(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    cli("run", experiment, "--out", "a", "--no-report").done()
    assert cli("report", "a").done().split() == ["report", "a/report.html"]
    assert (tmp_path / "a/report.html").stat().st_size > 10_000
    assert json.loads(cli("report", "a", "--json").done()) == {"report": "a/report.html", "runs": ["a"]}


def test_report_of_several_runs_compares_them(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    for name, policy in (("a", "greedy"), ("b", "fifo")):
        cli("run", experiment, "--out", name, "--no-report", "--set", f"ftl.collect.policy={policy}").done()
    cli("report", "a", "b", "--out", "both.html").done()
    text = (tmp_path / "both.html").read_text()
    assert "±" in text
    assert "both.html: exists already" in cli("report", "a", "b", "--out", "both.html").refused()
    cli("report", "a", "b", "--out", "both.html", "--force").done()


def test_series_hold_what_happened_in_each_interval(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    cli("run", experiment, "--out", "a", "--no-report").done()
    result = floatgate.load(tmp_path / "a").result
    series = pq.read_table(tmp_path / "a/series.parquet").to_pydict()
    assert sum(series["page_writes"]) == result.host.page_writes
    assert sum(series["flash_writes"]) == result.flash.programs.total
    assert sum(series["programs_gc"]) == result.flash.programs.gc
    assert sum(series["erases_gc"]) == result.flash.erases.gc
    assert series["requests"][-1] == 60_000
    assert min(series["free_blocks"]) >= 1
    for waf, flash, host in zip(series["waf"], series["flash_writes"], series["page_writes"], strict=True):
        assert waf == pytest.approx(flash / host)


LONG = ("--set", "workload.requests=20000000000", "--set", "drive.endurance.pe_cycles=4000000000")


def until_it_runs(process: subprocess.Popen[bytes]) -> None:
    """Waits until the command has loaded the core and worked for a while, which takes its time on a busy machine."""
    place = Path(f"/proc/{process.pid}")
    end = time.monotonic() + 120
    while place.exists() and "_core" not in (place / "maps").read_text() and time.monotonic() < end:
        time.sleep(0.05)
    begun = worked_s(place)
    while process.poll() is None and worked_s(place) < begun + 1.2 and time.monotonic() < end:
        time.sleep(0.05)


def worked_s(place: Path) -> float:
    """The processor time of a process, in seconds."""
    user, system = (place / "stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("command", ["run", "repeat", "compare"])
def test_interrupt_leaves_nothing(command: str, experiment: Path, tmp_path: Path) -> None:
    arguments = {
        "run": ["run", str(experiment), *LONG],
        "repeat": ["run", str(experiment), *LONG, "--repeat", "3"],
        "compare": ["compare", str(experiment), *LONG, "--vary", "seed=1,2,3"],
    }[command]
    # A run with a folder of its own leaves a snapshot there; see test_snapshots.
    place = [] if command == "run" else ["--out", "o"]
    before = sorted(path.name for path in tmp_path.iterdir())
    process = subprocess.Popen(
        [sys.executable, "-m", "floatgate", *arguments, *place, "--json", "j.json"],
        cwd=tmp_path,
        # Tests that run in the background inherit an ignored SIGINT, which Python then leaves ignored.
        preexec_fn=restore_interrupts,  # noqa: PLW1509
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    until_it_runs(process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == b""
    assert err.decode().splitlines() == ["error: interrupted; nothing was written"]
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_closed_pipe_is_no_catastrophe(experiment: Path, tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "floatgate", "run", str(experiment), "--no-report", "--json", "-"]
    ended = subprocess.run(command, cwd=tmp_path, stdout=write, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(write)
    assert ended.returncode == 1
    assert b"Traceback" not in ended.stderr
    assert b"Exception" not in ended.stderr


@pytest.mark.parametrize("closed", [1, 2])
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_closed_stream_is_a_pipe_that_nobody_reads(tmp_path: Path, closed: int, more: list[str]) -> None:
    command = [sys.executable, "-m", "floatgate", "policies", *more]
    ended = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, preexec_fn=lambda: os.close(closed))
    assert ended.returncode == (1 if closed == 1 else 0)
    assert ended.stderr == b""
    assert (ended.stdout == b"") == (closed == 1)


def test_progress_shows_on_a_terminal_only(experiment: Path, tmp_path: Path) -> None:
    main, other = pty.openpty()
    command = [sys.executable, "-m", "floatgate", "run", str(experiment), "--no-report"]
    more = ["--set", "workload.requests=30000000", "--set", "drive.endurance.pe_cycles=4000000000"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen([*command, *more], cwd=tmp_path, stdout=subprocess.PIPE, stderr=other, env=environment)
    os.close(other)
    shown = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    out, _ = process.communicate(timeout=60)
    os.close(main)
    assert process.returncode == 0
    assert b"%" in shown
    assert b"\x1b" not in out


def test_a_smaller_capacity_takes_dies_before_blocks(cli: Cli) -> None:
    drive = ("--drive", "ent-tlc-ri-1t92", "--capacity", "64GiB")
    ended = cli("run", *drive, "--set", "workload.requests=1000", "--no-report", "--json", "-")
    result = json.loads(ended.done())
    # 64 planes of blocks of 24 MiB would have 42 blocks each; 8 planes have 341.
    geometry = result["config"]["drive"]["geometry"]
    assert (geometry["channels"], geometry["chips_per_channel"], geometry["planes_per_die"]) == (4, 1, 2)
    assert geometry["blocks_per_plane"] == 341
    assert 0 <= (64 << 30) - result["drive"]["physical_bytes"] < 8 * (24 << 20)
    assert result["drive"]["rated"]["user_bytes"] == 1_920_000_000_000
    assert "at least" in cli("run", *drive[:-1], "20 MiB").refused()


def test_a_run_ends_once_the_host_has_written_enough(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    """The last request is the one that reaches it, however large the workload was."""
    run = ("run", experiment, "--no-report", "--quiet", "--json", "-", "--stop-after-bytes")
    result = json.loads(cli(*run, "1MB").done())
    assert result["host"]["write_bytes"] == 245 * 4096
    assert 'stop_after = "1MB"' in (tmp_path / "runs/small/experiment.toml").read_text("utf-8")
    more = ("--set", "workload.warmup_requests=100", "--set", "workload.read_share=0.5")
    result = json.loads(cli(*run, "100MB", *more).done())
    assert 100_000_000 <= result["host"]["write_bytes"] < 100_000_000 + 4096
    # What the experiment says of the number of requests holds besides.
    assert json.loads(cli(*run, "100GB", "--set", "workload.requests=500").done())["workload"]["requests"] == 500


def test_a_trace_is_repeated_until_enough_is_written(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    rows = [f"{time}000,h,0,{'Read' if time % 3 == 0 else 'Write'},{time * 4096},4096,1" for time in range(1, 10)]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    run = ("run", experiment, "--trace", "t.csv", "--format", "msr", "--no-report", "--quiet", "--json", "-")
    result = json.loads(cli(*run, "--stop-after-bytes", "100KiB").done())
    # Four passes of nine requests, six of which write, and one of the fifth.
    assert (result["host"]["write_bytes"], result["workload"]["requests"]) == (25 * 4096, 4 * 9 + 1)
    ended = cli(*run, "--stop-after-bytes", "100KiB", "--set", "workload.repeat=3")
    assert ended.refused().startswith("workload.repeat: repeat is 3 beside stop_after")


@pytest.mark.parametrize(
    ("size", "more", "message"),
    [
        ("much", [], "workload.stop_after: 'much' is not a size; expected a size such as"),
        ("0B", [], "workload.stop_after: '0B' is nothing; expected a size such as"),
        ("1MB", ["--set", "workload.read_share=1"], "workload.stop_after: the workload writes nothing; expected one"),
    ],
)
def test_an_end_that_cannot_be_is_refused(cli: Cli, experiment: Path, size: str, more: list[str], message: str) -> None:
    assert message in cli("run", experiment, "--stop-after-bytes", size, *more).refused()
