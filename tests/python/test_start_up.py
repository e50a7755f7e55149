"""Imports of commands: no command loads packages that it does not use."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

import floatgate
from conftest import Cli
from floatgate.cli import status
from floatgate.cli.app import MODULES, command
from floatgate.pages import drawing

ROOT = Path(__file__).parents[2]

HEAVY = ("typer", "pydantic", "numpy", "pyarrow", "pandas", "altair", "jsonschema", "rich")
SMALL = "[drive]\ncapacity = '64 MiB'\n[workload]\nrequests = 2000\n"
TRACE = str(ROOT / "traces/sqlite-updates.parquet")
PARSED = {"typer"}
"""The argument parser."""
CHECKED = {"typer", "pydantic"}
"""The argument parser and what it checks values by that are no texts."""


@pytest.mark.parametrize(
    ("arguments", "imported"),
    [
        (["--version"], set()),
        (["--help"], {"typer"}),
        (["policies"], PARSED),
        (["drives"], PARSED),
        (["check", "small.toml"], PARSED),
        (["fetch", "--cache", "none"], PARSED),
        (["theory", "wa", "--policy", "greedy", "--spare-factor", "0.07", "--pages-per-block", "128"], CHECKED),
        (["run", "small.toml", "--no-report", "--quiet"], PARSED | {"numpy", "pyarrow"}),
        (["run", "small.toml", "--quiet"], PARSED | {"numpy", "pyarrow"}),
        (["run", "small.toml", "--no-report", "--quiet", "--repeat", "1"], CHECKED | {"numpy", "pyarrow"}),
        (["run", "timed.toml", "--quiet", "--log-requests"], PARSED | {"numpy", "pyarrow"}),
        (["run", "--trace", TRACE, "--no-report", "--quiet"], PARSED | {"numpy", "pyarrow"}),
        (["trace", "info", TRACE, "--quiet"], PARSED | {"numpy", "pyarrow"}),
        (["compare", "small.toml", "--vary", "seed=1,2", "--quiet"], PARSED | {"numpy", "pyarrow"}),
        (["sweep", "small.toml", "--vary", "seed=1,2", "--quiet"], PARSED | {"numpy", "pyarrow"}),
        (["report", "done", "--quiet"], PARSED | {"numpy", "pyarrow"}),
    ],
)
def test_a_command_imports_what_it_uses(arguments: list[str], imported: set[str], tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "timed.toml").write_text(f"mode = 'timed'\n{SMALL}")
    if "done" in arguments:
        floatgate.run(SMALL).save(tmp_path / "done", report=False)
    code = (
        "import sys, floatgate.cli\n"
        f"status = floatgate.cli.status({arguments!r})\n"
        f"print(status, *[name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    status, *modules = ended.stdout.splitlines()[-1].split()
    assert (status, set(modules)) == ("0", imported), ended.stderr


def test_the_package_imports_the_modules_of_a_name_when_it_is_used() -> None:
    code = (
        "import sys, floatgate\n"
        "ours = {name for name in sys.modules if name.startswith('floatgate.')}\n"
        "import floatgate.run.experiment\n"
        "from floatgate import run\n"
        "print(ours == {'floatgate._core', 'floatgate.base', 'floatgate.base.errors'}, run is floatgate.run)\n"
        "print(run.__module__, [name for name in floatgate.__all__ if not hasattr(floatgate, name)])\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "True True\nfloatgate.run.run []\n"


def _params(group: Any) -> Iterator[Any]:
    """All parameters of the command line."""
    yield from group.get_params(typer.Context(group))
    for one in getattr(group, "commands", {}).values():
        yield from _params(one)


def test_values_without_a_check_are_those_of_the_parser() -> None:
    compared = set()
    for param in _params(command()):
        late, checking = param.get_runtime_param(), type(param).get_runtime_param(param)
        assert type(late) is not type(checking)
        kind = param.type_descriptor.annotation
        values = [None, param.default, "a" if kind is str else None, ("a", "b c") if kind == list[str] else None]
        for value in values:
            many = param.multiple or param.nargs == -1
            if not (many and isinstance(value, str)):
                own, theirs = (one.coerce(value, param=param, ctx=None) for one in (late, checking))
                assert (own, type(own)) == (theirs, type(theirs)), (param.opts, value)
                compared.add(type(own))
    assert {type(None), tuple, list, str, int, float, bool} <= compared


def test_the_table_of_commands_is_what_its_modules_add() -> None:
    for module, commands in MODULES.items():
        app = typer.Typer()
        app.callback()(lambda: None)
        import_module(f"floatgate.cli.{module}").register(app)
        assert sorted(typer.main.get_command(app).commands) == sorted(commands)  # type: ignore[attr-defined]
    every = [name for commands in MODULES.values() for name in commands]
    assert sorted(command().commands) == sorted(every)
    assert list(command("policies").commands) == MODULES["catalogue"]
    files = {
        path.stem for path in (ROOT / "python/floatgate/cli").glob("*.py") if "def register(app" in path.read_text()
    }
    assert files == set(MODULES)


def test_json_for_another_program_comes_without_a_report(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    cli("run", "small.toml", "--json", "-", "--out", "a").done()
    cli("run", "small.toml", "--json", "-", "--out", "b", "--report").done()
    cli("run", "small.toml", "--json", "c.json", "--out", "c").done()
    cli("run", "small.toml", "--json", "--out", "d").done()
    assert [(tmp_path / name / "report.html").is_file() for name in "abcd"] == [False, True, True, False]


@pytest.mark.parametrize(
    ("arguments", "starts"),
    [
        (["run", "small.toml", "--out", "a"], True),
        (["report", "nothing"], True),
        (["run", "small.toml", "--out", "b", "--no-report"], False),
        (["run", "small.toml", "--out", "c", "--json", "-"], False),
        (["run", "small.toml", "--out", "d", "--json"], False),
        (["run", "small.toml", "--out", "e", "--json=-"], False),
        (["run", "small.toml", "--out", "f", "--json", "f.json"], True),
        (["compare", "small.toml", "--vary", "seed=1,2", "--out", "g"], True),
        (["compare", "small.toml", "--vary", "seed=1,2", "--out", "h", "--no-report"], False),
        (["lifetime", "small.toml", "--set", "workload.rate_per_s=1", "--out", "i"], True),
        (["plan", "small.toml", "--json"], False),
        (["run", "--help"], False),
        (["check", "small.toml"], False),
    ],
)
def test_the_renderer_starts_first_where_a_report_is_drawn(
    arguments: list[str], starts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[bool] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(drawing, "start", lambda: started.append(True))
    monkeypatch.setattr(drawing, "svg", lambda _chart: "<svg />")
    Path("small.toml").write_text(SMALL)
    status(arguments)
    assert bool(started) is starts
