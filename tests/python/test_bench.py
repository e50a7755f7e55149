"""The history of `make bench`: comparisons of two runs, and the tables of docs/performance.md."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scripts_as_modules import SCRIPTS, loaded

ROOT = Path(__file__).parents[2]
MACHINE = {"cpu": "A", "cores": 2, "memory_gib": 24}
RUNS = ["2026-11-01T10:00:00Z", "2026-11-02T10:00:00Z", "2026-11-03T10:00:00Z"]


def row(run: int, key: str, rounds: list[float], **more: Any) -> dict[str, Any]:
    """A figure of the first, second or third run."""
    return {
        "run": f"r{run}",
        "date": RUNS[run - 1],
        "commit": f"{run}abcdef0" * 5,
        "dirty": False,
        "machine": MACHINE,
        "build": {"profile": "release", "lto": "fat"},
        "group": key.partition("/")[0],
        "title": "a group",
        "key": key,
        "value": sorted(rounds)[len(rounds) // 2],
        "unit": "M/s",
        "better": "higher",
        "rounds": rounds,
        "yardstick": None,
        "asked": None,
        "met": None,
        **more,
    }


def history(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "history.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


def script(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / f"{name}.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def compared(path: Path, *arguments: object) -> dict[str, Any]:
    """What a comparison says as JSON."""
    ended = script("bench_compare", "--history", path, "--json", "-", *arguments)
    assert ended.returncode == 0, ended.stderr
    return dict(json.loads(ended.stdout))


def refused(path: Path, *arguments: object) -> str:
    """The one line of a comparison that cannot be made."""
    ended = script("bench_compare", "--history", path, *arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    (line,) = ended.stderr.splitlines()
    return line


@pytest.mark.parametrize(
    ("then", "now", "better", "word"),
    [
        ([10, 11, 12], [10, 11, 12], "higher", ""),
        ([10, 11, 12], [11, 12.5, 13], "higher", ""),
        ([10, 11, 12], [13, 14, 15], "higher", "better"),
        ([10, 11, 12], [7, 8, 9], "higher", "worse"),
        ([10, 11, 12], [7, 8, 9], "lower", "better"),
        ([2, 2, 2], [2.01, 2.01, 2.01], None, "changed"),
        ([10], [20], "higher", ""),
    ],
)
def test_a_word_only_beyond_the_spread(
    tmp_path: Path, then: list[float], now: list[float], better: str | None, word: str
) -> None:
    path = history(tmp_path, row(1, "a/b", then, better=better), row(2, "a/b", now, better=better))
    (figure,) = compared(path)["figures"]
    assert figure["word"] == word
    old, new = sorted(then)[len(then) // 2], sorted(now)[len(now) // 2]
    assert (figure["then"], figure["now"]) == (old, new)
    assert figure["change_percent"] == pytest.approx((new / old - 1) * 100)
    assert figure["spread_now"] == ([min(now), max(now)] if len(now) > 1 else None)


def test_the_table_has_figures_and_names_those_that_only_one_run_has(tmp_path: Path) -> None:
    path = history(
        tmp_path, row(1, "a/b", [1, 2, 3]), row(1, "a/old", [1]), row(2, "a/b", [4, 5, 6]), row(2, "a/new", [1])
    )
    ended = script("bench_compare", "--history", path)
    assert ended.returncode == 0
    assert "then   run 1 of 2026-11-01T10:00:00Z, commit 1abcdef01abc" in ended.stdout
    assert re.search(r"^a/b +M/s +2 +5 +\+150.0 % +1 to 3 +4 to 6 +better$", ended.stdout, re.M)
    assert "1 figures: 1 better beyond the spread" in ended.stdout
    assert "only then: a/old\nonly now: a/new" in ended.stdout


def test_runs_have_numbers_dates_and_commits(tmp_path: Path) -> None:
    path = history(tmp_path, *(row(run, "a/b", [run]) for run in (1, 2, 3)))
    assert compared(path)["then"]["number"] == 2
    for against in ("1", "2026-11-01", "1abc"):
        assert compared(path, "--against", against)["then"]["run"] == "r1"
    assert refused(path, "--against", "9abc").endswith("expected the number (1 to 3), date or commit of one")
    assert refused(path, "--against", "3") == "error: run '3' is the last one; expected an earlier run"


def test_other_machines_and_profiles_are_named(tmp_path: Path) -> None:
    other = {"cpu": "B", "cores": 8, "memory_gib": 64}
    quick = {"profile": "release", "lto": "off"}
    rows = [row(1, "a/b", [1], build=quick), row(2, "a/b", [1], machine=other), row(3, "a/b", [1])]
    path = history(tmp_path, *rows)
    # Without being asked, it goes back to the same machine.
    comparison = compared(path)
    assert comparison["then"]["run"] == "r1"
    (warning,) = comparison["warnings"]
    assert warning.startswith("build profiles differ: release, no link-time optimization then, release, link-time")
    (warning,) = compared(path, "--against", "2")["warnings"]
    assert warning == "machines differ: B, 8 cores, 64 GiB then, A, 2 cores, 24 GiB now"
    path = history(tmp_path, *rows[1:])
    assert "1 earlier runs, but none on this machine" in refused(path)


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ('{"run": "r1", "date"', "no JSON"),
        ("7", "no JSON object"),
        ("{}", "no valid 'run'"),
        (json.dumps(row(1, "a/b", [1], value="x")), "no valid 'value'"),
        (json.dumps({**row(1, "a/b", [1]), "rounds": ["x"]}), "'rounds' are no numbers"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str, cause: str) -> None:
    path = history(tmp_path, row(1, "a/b", [1]))
    with path.open("a") as file:
        file.write(line + "\n")
    assert refused(path) == f"error: {path}:2: {cause}; expected a row of a bench, remove the line"


def test_files_without_runs(tmp_path: Path) -> None:
    path = history(tmp_path)
    assert refused(path) == f"error: {path}: no rows; expected the history of `make bench`"
    assert "No such file" in refused(tmp_path / "none")
    path = history(tmp_path, row(1, "a/b", [1]))
    assert refused(path).startswith("error: no earlier run; expected one")
    ended = script(
        "bench_compare", "--history", history(tmp_path, row(1, "a", [1]), row(2, "a", [1])), "--json", tmp_path
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"error: {tmp_path}: Is a directory")


def test_rows_are_appended_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = loaded("bench_history")
    monkeypatch.delenv("FLOATGATE_BENCH_CONTEXT", raising=False)
    shared = bench.context()
    assert set(shared["machine"]) == {"cpu", "cores", "memory_gib"}
    path = tmp_path / "not/yet/there/history.jsonl"
    figure = bench.figure("a", "a group", "b", [3.0, 1.0, 2.0], unit="s", better="lower", at_most=1.5)
    bench.append(path, shared, [figure])
    path.write_text(path.read_text() + '{"torn')
    bench.append(path, shared, [figure])
    with pytest.raises(bench.HistoryError, match="jsonl:2: no JSON"):
        bench.read(path)
    lines = path.read_text().splitlines()
    path.write_text(f"{lines[0]}\n{lines[2]}\n")
    (run,) = bench.read(path)
    assert (run.rows["a/b"]["value"], run.rows["a/b"]["met"]) == (2.0, False)
    # On the same commit and machine a run may go on.
    assert bench.context(path)["run"] == shared["run"]


PAGE = "# Speed\n<!-- bench: run -->\nold\n<!-- end -->\ntext\n<!-- bench: a/ b/c -->\nold\n<!-- end -->\n"


def test_tables_are_written_between_markers(tmp_path: Path) -> None:
    flat = {"name": "flat kernel", "value": 40.0, "unit": "M programs/s"}
    least, most = {"bound": "least", "value": 0.3}, {"bound": "most", "value": 5.0}
    path = history(
        tmp_path,
        row(1, "a/x", [9]),
        row(2, "a/ratio", [0.2, 0.25, 0.3], unit="", yardstick=flat, asked=least, met=False),
        row(2, "b/c/write", [3], unit="s", asked=most, met=True),
        row(2, "c/d", [1]),
    )
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    ended = script("bench_table", "--history", path, "--page", page, "--check")
    assert (ended.returncode, page.read_text()) == (1, PAGE)
    assert script("bench_table", "--history", path, "--page", page).returncode == 0
    assert script("bench_table", "--history", path, "--page", page, "--check").returncode == 0
    lines = page.read_text().splitlines()
    assert lines[2].startswith(
        "Commit 2abcdef02abc, 2026-11-02T10:00:00Z, A, 2 cores, 24 GiB; compiled as release, link"
    )
    assert [line for line in lines if line.startswith("| `")] == [
        "| `a/ratio` | 0.25 | ratio | 0.2 to 0.3 | flat kernel: 40 M programs/s | 0.3 | **not met** |",
        "| `b/c/write` | 3 | s | - |  | at most 5 | met |",
    ]
    assert script("bench_table", "--history", path, "--page", page, "--run", "1").returncode == 0
    assert "| `a/x` | 9 | M/s | - |  |  |  |\n" in page.read_text()
    assert page.read_text().endswith("\nNot measured in this run: `b/c`.\n<!-- end -->\n")
    ended = script("bench_table", "--history", path, "--page", tmp_path / "none.md")
    assert (ended.returncode, "No such file" in ended.stderr) == (2, True)


def test_the_page_asks_for_groups_that_the_bench_has() -> None:
    page = (ROOT / "docs/performance.md").read_text("utf-8")
    listed = {prefix.split("/")[0] for block in re.findall(r"<!-- bench: (.*?) -->", page) for prefix in block.split()}
    scripts = [SCRIPTS / f"{name}.py" for name in ("bench_memory", "bench_commands", "bench_plugins", "compare_peers")]
    sources = [*ROOT.glob("crates/bench/src/*.rs"), *scripts]
    text = "".join(path.read_text("utf-8") for path in sources)
    groups = set(re.findall(r'(?:report\.group|figure)\(\s*"([\w-]+)"', text))
    assert {"timed", "engine", "memory", "peers"} <= groups
    assert listed - {"run"} <= groups


def test_peers_get_the_same_drive_and_load() -> None:
    peers = loaded("compare_peers")
    drive, load = peers.mqsim_drive(), peers.mqsim_load(1000)
    blocks, pages, size, channels = (
        int(re.search(rf"<{key}>(\d+)<", drive)[1])  # type: ignore[index]
        for key in ("Block_No_Per_Plane", "Page_No_Per_Block", "Page_Capacity", "Flash_Channel_Count")
    )
    assert blocks * pages * size * channels == 2 * 2**30
    assert "<Overprovisioning_Ratio>0.12<" in drive
    assert "<Total_Requests_To_Generate>1000<" in load
    assert "<Channel_IDs>0,1,2,3,4,5,6,7<" in load


FAKE_MQSIM = """#!/bin/sh
[ "$1" = -i ] && [ "$3" = -w ] || exit 3
read key
counts='Issued_Flash_Program_CMD="900" Issued_Flash_Multiplane_Program_CMD="100"'
echo "<R><SSDDevice.FTL $counts/></R>" > load_scenario_1.xml
i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done
"""


def test_programs_and_cpu_time_of_a_peer_are_read(tmp_path: Path) -> None:
    peers = loaded("compare_peers")
    program = tmp_path / "mqsim"
    program.write_text(FAKE_MQSIM)
    program.chmod(0o755)
    counts = peers.mqsim(str(program), 500)
    assert (counts["programs"], counts["writes"]) == (1000, 500)
    assert 0 < counts["cpu_s"] < 60
    program.write_text("#!/bin/sh\necho broken; exit 4\n")
    ended = script("compare_peers", "--mqsim", program)
    assert ended.returncode == 2
    assert ended.stderr == f"error: {program}: ended with status 4: broken\n"
    program.write_text("#!/bin/sh\nexit 0\n")
    assert "no count of flash programs" in script("compare_peers", "--mqsim", program).stderr
    assert "expected a program that can be run" in script("compare_peers", "--mqsim", tmp_path / "none").stderr
