"""The tests' own tools: forked commands do as commands do, and charts are validated."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema_rs import ValidationError

import checked_charts
from commands import Commands
from floatgate.pages import drawing


@pytest.mark.parametrize("arguments", [["--version"], ["policies"], ["run", "none.toml"], ["policies", "--nothing"]])
def test_a_forked_command_does_as_one_that_is_started(commands: Commands, tmp_path: Path, arguments: list[str]) -> None:
    started = subprocess.run(
        [sys.executable, "-m", "floatgate", *arguments], cwd=tmp_path, capture_output=True, check=False
    )
    forked = commands.run(arguments, tmp_path, os.environ, timeout_s=120)
    assert (forked.returncode, forked.stdout, forked.stderr) == (started.returncode, started.stdout, started.stderr)


def test_a_command_that_takes_too_long_is_killed(commands: Commands, tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        commands.run(["policies"], tmp_path, os.environ, timeout_s=0.0)
    assert commands.run(["--version"], tmp_path, os.environ, timeout_s=120).stdout.startswith(b"floatgate ")


CLIENT = [sys.executable, "-I", "-S", str(Path(__file__).parent / "command_client.py")]


@pytest.mark.parametrize("arguments", [["--version"], ["query", "none"], ["policies", "--nothing"]])
def test_a_command_of_a_shell_does_as_one_that_is_started(
    commands: Commands, tmp_path: Path, arguments: list[str]
) -> None:
    started, forked = (
        subprocess.run([*command, *arguments], cwd=tmp_path, capture_output=True, check=False)
        for command in ([sys.executable, "-m", "floatgate"], [*CLIENT, commands.address])
    )
    assert (forked.returncode, forked.stdout, forked.stderr) == (started.returncode, started.stdout, started.stderr)


def test_a_command_ends_with_its_shell(commands: Commands, tmp_path: Path) -> None:
    endless = ["run", "--set", "drive.capacity=64 MiB", "--set", "workload.requests=1000000000000", "--out", "endless"]
    command = [*CLIENT, commands.address, *endless]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as client:
        assert client.stdout is not None
        # It says how far it is, then.
        assert client.stdout.read(1)
        client.kill()
        # The command holds the other end.
        client.communicate(timeout=60)


def test_charts_are_validated() -> None:
    chart = {"data": {"values": [{"x": 1}]}, "mark": {"type": "bar", "opacity": 0.5}, "title": "one"}
    checked_charts.check(chart)
    checked_charts.check(chart | {"title": ["two", "lines"], "data": {"values": []}})
    for mark in ({"type": "bar", "opacity": 5}, {"type": "nothing"}):
        with pytest.raises(ValidationError):
            checked_charts.check(chart | {"mark": mark})


def test_what_tests_draw_is_validated() -> None:
    with pytest.raises(ValidationError):
        drawing.svg({"mark": "nothing"})
