"""Help pages: sections of commands and options, the same names everywhere, panels on a terminal alone."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from conftest import Cli
from floatgate.cli import help as pages
from floatgate.cli.app import MODULES, command

LEAKED = re.compile(r"<[^>\s]*>|\b(?:TEXT|INTEGER|FLOAT|BOOLEAN|None|list\[|tuple\[|str\b)")
"""Types of Python and of the argument parser."""
COLOUR = re.compile("\x1b\\[[0-9;]*[34][0-7]")


def _all(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, inner in group.commands.items():
        yield " ".join((*path, name)), inner
        if hasattr(inner, "commands"):
            yield from _all(inner, (*path, name))


ALL = dict(_all(command(None)))


def _sections(name: str) -> list[pages.Section]:
    context = typer.Context(ALL[name], info_name=name)
    context.parent = typer.Context(command(None))
    return pages.sections(ALL[name], context)


def test_floatgate_alone_shows_its_help(cli: Cli) -> None:
    alone = cli()
    assert alone.done() == cli("--help").done()
    assert alone.err == ""


def test_each_command_has_one_section() -> None:
    listed = [name for names in pages.COMMANDS.values() for name in names]
    assert sorted(listed) == sorted(name for names in MODULES.values() for name in names)


def test_the_sections_of_commands_are_printed(cli: Cli) -> None:
    text = cli().done()
    for title, names in pages.COMMANDS.items():
        section = text.partition(f"\n{title}:\n")[2].partition("\n\n")[0]
        assert re.findall(r"^  (\S+)  +\S", section, re.M) == list(names)


def test_options_of_studies_have_a_section() -> None:
    used: set[str] = set()
    for name in pages.PANELLED:
        titles = [one.title for one in _sections(name)]
        assert "Options" not in titles
        assert set(titles) <= {"Arguments", *pages.PANELS}
        assert {"Drive", "Workload", "Firmware and other settings", "Output"} <= set(titles)
        used |= {option for param in ALL[name].params for option in param.opts}
    listed = [option for names in pages.PANELS.values() for option in names]
    assert len(set(listed)) == len(listed)
    assert set(listed) <= used | {"--help"}


@pytest.mark.parametrize("name", ALL)
def test_no_page_shows_a_type(name: str, cli: Cli) -> None:
    text = cli(*name.split(), "--help").done()
    assert LEAKED.findall(text) == []
    assert "[[" not in text
    assert text.startswith(f"Usage: floatgate {name} [OPTIONS]")


@pytest.mark.parametrize("name", ALL)
def test_each_argument_and_option_is_explained(name: str) -> None:
    arguments = [param for param in ALL[name].params if param.param_type_name == "argument"]
    rows = [row for one in _sections(name) for row in one.rows]
    assert len(rows) >= len(arguments)
    for param in arguments:
        assert param.help, param.name
    assert all(about.strip() for _, about in rows), rows


def _on_a_terminal(*arguments: str, **environment: str) -> str:
    """What a command prints on a terminal of 80 columns."""
    controller, terminal = pty.openpty()
    variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM", "COLUMNS")}
    variables |= {"COLUMNS": "80", "TERM": "xterm-256color", **environment}
    with subprocess.Popen(
        [sys.executable, "-m", "floatgate", *arguments], stdout=terminal, stderr=terminal, env=variables
    ) as process:
        os.close(terminal)
        written = b""
        while True:
            try:
                part = os.read(controller, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            written += part
        os.close(controller)
        assert process.wait() == 0
    return written.decode().replace("\r\n", "\n")


def test_a_terminal_gets_panels() -> None:
    text = _on_a_terminal()
    assert COLOUR.search(text)
    plain = re.sub("\x1b\\[[0-9;]*m", "", text)
    for title in pages.COMMANDS:
        assert re.search(rf"^╭─ {re.escape(title)} ─+╮$", plain, re.M), title
    assert "[sweep]" in plain
    assert max(map(len, plain.splitlines())) <= 80


def test_colours_honour_no_color() -> None:
    text = _on_a_terminal("run", "--help", NO_COLOR="1")
    assert "╭─ Workload ─" in re.sub("\x1b\\[[0-9;]*m", "", text)
    assert not COLOUR.search(text)


def test_a_terminal_without_control_sequences_gets_plain_text(cli: Cli) -> None:
    assert _on_a_terminal("run", "--help", TERM="dumb") == cli("run", "--help").done()
