"""``--json`` means the same in every command: bare, with a file that ends in .json, or ``--json=FILE``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import floatgate
from conftest import SMALL, Cli
from floatgate.cli import json_word
from floatgate.cli.app import command
from test_placement_keys import record
from test_rb import ONE_PLANE, hand_made

FEW = "--set workload.requests=1000 --set ftl.precondition=none --no-report"
CAPTURE = f"capture.vcd {' '.join(ONE_PLANE)} --host-bytes 1000000"
CASES = {
    "run": f"small.toml {FEW} --out",
    "compare": f"small.toml {FEW} --vary seed=1,2 --out",
    "sweep": f"small.toml {FEW} --vary seed=1,2 --out",
    "tune": f"small.toml {FEW} --minimise waf --vary ftl.spare_factor=0.2..0.3 --trials 2 --out",
    "leaderboard": "reporting --only dac --spare-factors 0.15 --repeat 1 --no-report --out",
    "lifetime": "small.toml --set lifetime.forecast.waf=1.5 --no-report --out",
    "plan": "small.toml --set lifetime.forecast.waf=1.5 --capacities 64MiB --no-report --out",
    "explain": "done",
    "cite": "done",
    "fetch": "",
    "docs": "",
    "query": "done|select waf from runs",
    "ls": "done",
    "report": "done --force",
    "check": "small.toml",
    "reproduce": "",
    "content": "two.csv",
    "placement": "recording.parquet --by file --out",
    "drives": "mlc-20nm",
    "policies": "greedy",
    "policy new": "own-one --slot victim --force --out",
    "schema": "result",
    "counters": "1.reading 2.reading --no-report --out",
    "rb measure": CAPTURE,
    "rb multi-page": CAPTURE,
    "theory wa": "--policy greedy --spare-factor 0.1 --pages-per-block 64",
    "trace info": "two.csv",
    "trace patterns": "two.csv",
    "trace features": "two.csv --force -o features.parquet",
    "trace convert": "two.csv converted.parquet --force",
    "trace generate": "--list",
    "trace record": "-o recorded.parquet --force --backend strace -- sh -c|echo a > written",
}
"""Arguments of each command, behind | the last one; behind --out comes a folder that is new each time."""


def _commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, inner in group.commands.items():
        if hasattr(inner, "commands"):
            yield from _commands(inner, (*path, name))
        else:
            yield " ".join((*path, name)), inner


ALL = dict(_commands(command(None)))


@pytest.fixture
def inputs(tmp_path: Path, experiment: Path, trace: Path) -> Path:
    floatgate.run({**SMALL, "workload.requests": 1000}).save(tmp_path / "done", report=False)
    hand_made(tmp_path / "capture.vcd")
    rows: list[dict[str, Any]] = [{"page": page, "file": 0, "context": 1} for page in range(600)]
    for _ in range(30):
        rows += [{"page": page, "file": 1, "context": 2} for page in range(40)]
    contexts = {name: {"name": name, "frames": ["f", "main"], "writes": 9} for name in ("1", "2")}
    record(tmp_path / "recording.parquet", rows, files={"0": "/db/a", "1": "/db/b"}, contexts=contexts)
    for number in (1, 2):
        reading = {"serial_number": "A", "time": number + 1_700_000_000, "data_units_written": 1000 * number}
        (tmp_path / f"{number}.reading").write_text(json.dumps(reading))
    return tmp_path


def _shape(text: str) -> Any:
    """The keys of a document, or of the first entry of a list."""
    document = json.loads(text)
    return sorted(document[0] if isinstance(document, list) else document)


def test_every_command_with_json_is_covered() -> None:
    with_json = [name for name, one in ALL.items() if any("--json" in param.opts for param in one.params)]
    # A live drive serves until it is stopped: test_live_drive.py.
    assert sorted([*CASES, "live"]) == sorted(with_json)


@pytest.mark.parametrize("name", CASES)
def test_each_form_writes_the_same_document(name: str, cli: Cli, inputs: Path) -> None:
    if name == "trace record" and shutil.which("strace") is None:
        pytest.skip("needs strace")

    def words(number: int, form: str) -> list[str]:
        text, bar, last = CASES[name].partition("|")
        arguments = [*text.split(), *([last] if bar else [])]
        arguments += [f"out{number}"] if arguments[-1:] == ["--out"] else []
        return [*name.split(), *form.split(), *arguments]

    shapes = [
        _shape(cli(*words(1, "--json")).done()),
        _shape(cli(*words(2, "--json -")).done()),
    ]
    for number, file in enumerate(("kept.json", "odd"), 3):
        form = f"--json {file}" if file.endswith(".json") else f"--json={file}"
        cli(*words(number, form)).done()
        shapes.append(_shape((inputs / file).read_text()))
    assert shapes == [shapes[0]] * 4
    # An existing file stays.
    assert "kept.json: exists already; expected a new file" in (
        cli(*[word for word in words(5, "--json kept.json") if word != "--force"]).refused()
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        # bare
        ("run --json", "--json=-"),
        ("run --json --quiet", "--json=- --quiet"),
        ("run --json -q", "--json=- -q"),
        ("run --json x.toml", "--json=- x.toml"),
        ("policies --json greedy", "--json=- greedy"),
        ("schema --json result", "--json=- result"),
        ("content --json folder", "--json=- folder"),
        ("trace convert a --json b", "a --json=- b"),
        ("trace convert --json a b", "--json=- a b"),
        ("trace record --json -- true", "--json=- -- true"),
        ("explain --json folder", "--json=- folder"),
        # the next word is the file
        ("run --json - x.toml", "--json=- x.toml"),
        ("run --json a.json x.toml", "--json=a.json x.toml"),
        ("drives --json a.json", "--json=a.json"),
        ("content --json a.json folder", "--json=a.json folder"),
        ("run --json=odd x.toml", "--json=odd x.toml"),
        ("run --json=-", "--json=-"),
        ("run --json a.json --json", "--json=a.json --json=-"),
        # as in earlier builds: the command has no place for the word
        ("run x.toml --json odd", "x.toml --json=odd"),
        ("run --json odd --trace t.csv", "--json=odd --trace t.csv"),
        ("explain folder --json odd", "folder --json=odd"),
        ("reproduce ready --json odd", "ready --json=odd"),
        ("trace patterns t.csv --json odd", "t.csv --json=odd"),
        # no option, or no option of ours
        ("run --out --json", "--out --json"),
        ("run --set --json x.toml", "--set --json x.toml"),
        ("run -j --json x.toml", "-j --json x.toml"),
        ("run -qj --json x.toml", "-qj --json x.toml"),
        ("run -j4 --json", "-j4 --json=-"),
        ("rb measure --ocp --json a.json c.csv", "--ocp --json a.json c.csv"),
        ("trace record -- prog --json a.json", "-- prog --json a.json"),
        ("run --nothing --json", "--nothing --json=-"),
    ],
)
def test_the_file_of_a_line(line: str, expected: str) -> None:
    name = next(name for name in sorted(ALL, key=len, reverse=True) if line.startswith(f"{name} "))
    assert json_word.with_values(ALL[name], line.removeprefix(name).split()).arguments == expected.split()


def test_an_empty_name_stays_one() -> None:
    assert json_word.with_values(ALL["run"], ["--json", ""]).arguments == ["--json="]


@pytest.mark.parametrize("name", sorted(json_word.MANY))
def test_commands_of_many_arguments_take_a_word_that_names_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there").write_text("")
    one = next(each for full, each in ALL.items() if full.split()[-1] == name)
    for words, expected, guesses in (
        (["there", "--json", "odd"], ["there", "--json=odd"], ("odd",)),
        (["there", "--json", "a.json"], ["there", "--json=a.json"], ()),
        (["--json", "there", "select 1"], ["--json=-", "there", "select 1"], ()),
        (["there", "--json", "there"], ["there", "--json=-", "there"], ()),
        (["there", "--json", "select 1"], ["there", "--json=-", "select 1"], ()),
    ):
        assert json_word.with_values(one, words) == json_word.Line(expected, guesses)


def test_a_guess_is_told_behind_the_command(cli: Cli, inputs: Path) -> None:
    ended = cli("ls", "done", "--json", "odd")
    assert "note: --json 'odd': was taken as the file" in ended.err
    assert "done" in ended.done()
    assert json.loads((inputs / "odd").read_text())[0]["kind"] == "run"
    (inputs / "odd").unlink()
    assert "note" not in cli("rb", "measure", "done", "--json", "odd", *ONE_PLANE).refused()
    assert not (inputs / "odd").exists()


def test_text_goes_to_standard_output_beside_a_file(cli: Cli) -> None:
    assert "greedy" in cli("policies", "greedy", "--json", "p.json").done()
    assert cli("policies", "greedy", "--json=q", "--quiet").done() == ""


def test_help_says_it_alike_everywhere() -> None:
    helps = {param.help for one in ALL.values() for param in one.params if "--json" in param.opts}
    assert len(helps) == 1
