"""What a shell completes: commands, options, and names of drives, policies, keys and formats."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from floatgate import _core
from floatgate.cli import candidates
from floatgate.cli.app import MODULES, command
from floatgate.cli.completion import SCRIPTS, Shell
from floatgate.papers import names as papers
from floatgate.run.setting_keys import leaf_schemas


def _texts(line: str) -> list[str]:
    return [one.text for one in candidates.of_line(line)]


def _catalogue(section: str) -> Any:
    return json.loads(_core.catalogue((section,)))[section]


DRIVES = [entry["name"] for entry in _catalogue("drives")]
POLICIES = {slot: [entry["name"] for entry in entries] for slot, entries in _catalogue("policies").items()}
FORMATS = list(leaf_schemas()["workload.format"]["enum"])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        # commands and options
        ("floatgate tr", ["trace"]),
        ("floatgate trace conv", ["convert"]),
        ("floatgate run --dr", ["--drive"]),
        ("floatgate run --no-rep", ["--no-report"]),
        ("floatgate run --quiet --qui", []),
        ("floatgate run --set a=1 --se", ["--set"]),
        # drives
        ("floatgate run --drive ufs", ["ufs-256g"]),
        ("floatgate run --drive=ufs", ["--drive=ufs-256g"]),
        ("floatgate init --drive ufs", ["ufs-256g"]),
        ("floatgate drives ufs", ["ufs-256g"]),
        ("floatgate plan --drives boot-480g,ufs", ["boot-480g,ufs-256g"]),
        ("floatgate run --set drive.preset=ufs", ["drive.preset=ufs-256g"]),
        # policies
        ("floatgate policies greed", ["greedy"]),
        ("floatgate run --set ftl.collect.policy=gr", ["ftl.collect.policy=greedy"]),
        ("floatgate compare --vary ftl.collect.policy=fifo,gr", ["ftl.collect.policy=fifo,greedy"]),
        ("floatgate lifetime --throttle sta", ["static"]),
        ("floatgate plan --throttles static,dyn", ["static,dynamic"]),
        ("floatgate run --policies ids+redftl", ["ids+redftl-plus"]),
        # keys
        ("floatgate run --set ftl.spare", ["ftl.spare_factor="]),
        ("floatgate sweep e.toml --vary ftl.spare", ["ftl.spare_factor="]),
        ("floatgate run --set drive.plp=t", ["drive.plp=true"]),
        ("floatgate trace generate --set zipf", ["zipf_theta="]),
        ("floatgate run --set 'ftl.spare", ["ftl.spare_factor="]),
        # formats
        ("floatgate run --trace t --format ms", ["msr"]),
        ("floatgate trace convert a b --to mq", ["mqsim"]),
        ("floatgate placement t.parquet --format fc", ["fcntl"]),
        ("floatgate rb measure --format vc", ["vcd"]),
        ("floatgate trace info t --time-unit m", ["ms"]),
        # other names
        ("floatgate reproduce redftl-", ["redftl-plus"]),
        ("floatgate trace generate --twin prox", ["proxy"]),
        ("floatgate init --pattern zi", ["zipf"]),
        ("floatgate ls --kind sw", ["sweep"]),
        ("floatgate lifetime --judge fl", ["flash"]),
        ("floatgate trace info t --on-bad-line sk", ["skip"]),
        ("floatgate completion z", ["zsh"]),
        ("floatgate schema res", ["result"]),
        # files, free values, and lines that are none
        ("floatgate run ", []),
        ("floatgate run --trace tr", []),
        ("floatgate run --repeat 1", []),
        ("floatgate nothing --dr", []),
        ("floatgate trace nothing ", []),
        ("floatgate trace record -- prog --ou", []),
    ],
)
def test_a_line(line: str, expected: list[str]) -> None:
    assert _texts(line) == expected


def test_all_names_are_there() -> None:
    assert set(_texts("floatgate ")) == {*(name for names in MODULES.values() for name in names), "--help"}
    assert _texts("floatgate drives ") == DRIVES
    assert _texts("floatgate run --drive ") == DRIVES
    assert set(_texts("floatgate policies ")) >= {name for names in POLICIES.values() for name in names}
    assert _texts("floatgate run --format ") == FORMATS
    assert _texts("floatgate reproduce ") == papers()
    assert _texts("floatgate run --set ") == [f"{key}=" for key in leaf_schemas()]
    for slot in ("ftl.collect", "ftl.separate", "lifetime.throttle"):
        assert [text.partition("=")[2] for text in _texts(f"floatgate run --set {slot}.policy=")] == POLICIES[slot]


def test_a_dash_begins_an_option() -> None:
    options = _texts("floatgate run -")
    assert {"--drive", "--trace", "--set", "--json", "--help"} <= set(options)
    assert _texts("floatgate run --") == options


def test_options_with_names_are_options_of_commands() -> None:
    root: Any = command(None)
    have: set[tuple[str, str]] = set()
    for name, one in root.commands.items():
        for inner, each in getattr(one, "commands", {"": one}).items():
            own = {option for param in each.params if param.param_type_name == "option" for option in param.opts}
            have |= {("", option) for option in own} | {(f"{name} {inner}".strip(), option) for option in [*own, ""]}
    assert set(candidates._SOURCES) <= have


def test_names_of_options_are_those_of_their_help() -> None:
    root: Any = command(None)
    for (path, option), source in candidates._SOURCES.items():
        if not path or not option or option == "--set":
            continue
        node = root
        for part in path.split():
            node = node.commands[part]
        (text,) = [param.help for param in node.params if option in param.opts]
        for one in source(""):
            assert one.text in text, (path, option)


@pytest.mark.long
def test_every_beginning_of_a_line_completes_or_not() -> None:
    """No beginning of a line is an error, and candidates go on as it was typed."""
    seed = 20261128
    pieces = [
        "run",
        "trace info",
        "compare",
        "--set",
        "--vary",
        "a=b,c",
        "--json",
        "--",
        "-q",
        "-j4",
        "'x y",
        '"',
        "\\",
    ]
    draw = random.Random(seed)
    for _ in range(150):
        line = " ".join(["floatgate", *draw.choices(pieces, k=4)])
        line = line[: draw.randint(len("floatgate "), len(line))]
        typed = (candidates.split(line) or [""])[-1]
        for text in _texts(line):
            assert text.startswith(typed), (seed, line)


def test_one_command_is_imported() -> None:
    code = (
        "import sys\nfrom floatgate.cli import candidates\ncandidates.of_line('floatgate drives uf')\n"
        "print(*[name for name in ('numpy', 'pyarrow', 'rich', 'floatgate.cli.run') if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "\n"


def test_the_command_prints_scripts(cli: Cli) -> None:
    for shell in Shell:
        assert cli("completion", shell.value).done() == SCRIPTS[shell]
        assert cli("completion", shell.value, "--line", "floatgate nothing x").done() == ""


def _bash(tmp_path: Path, script: str, *arguments: str) -> list[str]:
    """The lines that a script prints where ``floatgate`` is this one."""
    program = tmp_path / "floatgate"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m floatgate "$@"\n')
    program.chmod(0o755)
    head = f'PATH="{tmp_path}:$PATH"\nsource <(floatgate completion bash)\n'
    ended = subprocess.run(
        ["bash", "--norc", "-c", head + script, "bash", *arguments], capture_output=True, text=True, check=True
    )
    return ended.stdout.splitlines()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("line", "words", "expected"),
    [
        ("floatgate run --drive ufs", ["run", "--drive", "ufs"], ["ufs-256g"]),
        # bash divides words at = and replaces what stands behind it.
        ("floatgate run --set ftl.collect.policy=gr", ["run", "--set", "ftl.collect.policy", "=", "gr"], ["greedy"]),
        ("floatgate run --set drive.plp=", ["run", "--set", "drive.plp", "="], ["true", "false"]),
        ("floatgate run --trace x", ["run", "--trace", "x"], []),
    ],
)
def test_bash(tmp_path: Path, line: str, words: list[str], expected: list[str]) -> None:
    script = (
        'COMP_LINE=$1 COMP_POINT=${#1}; shift; COMP_WORDS=(floatgate "$@"); COMP_CWORD=$#\n'
        '_floatgate 2> /dev/null; for one in "${COMPREPLY[@]}"; do echo "$one"; done'
    )
    assert _bash(tmp_path, script, line, *words) == expected


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_knows_the_function(tmp_path: Path) -> None:
    assert _bash(tmp_path, "complete -p floatgate") == ["complete -o default -F _floatgate floatgate"]


@pytest.mark.parametrize("shell", Shell)
def test_scripts_are_scripts(shell: Shell, tmp_path: Path) -> None:
    if shutil.which(shell.value) is None:
        pytest.skip(f"needs {shell.value}")
    (tmp_path / "script").write_text(SCRIPTS[shell])
    subprocess.run([shell.value, "-n", tmp_path / "script"], check=True)


def test_what_the_shells_receive(cli: Cli) -> None:
    line = ("--line", "floatgate run --drive ufs")
    (entry,) = [entry for entry in _catalogue("drives") if entry["name"] == "ufs-256g"]
    assert cli("completion", "bash", *line).done() == "ufs-256g\n"
    assert cli("completion", "fish", *line).done() == f"ufs-256g\t{entry['summary']}\n"
    assert cli("completion", "zsh", *line).done() == f"ufs-256g:{entry['summary']}\n"
