"""The manual page: all commands and options, and nothing that its formatter objects to."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Any

import pytest

from conftest import Cli
from floatgate.cli.app import command
from floatgate.cli.man import _escaped, page


def _plain(text: str) -> str:
    """A page as it is read, on one line."""
    ended = subprocess.run(
        ["groff", "-ww", "-man", "-Tutf8", "-P-cbou"], input=text, capture_output=True, text=True, check=True
    )
    assert ended.stderr == ""
    return " ".join(re.sub(r"[\u2010\u2212-]", "-", ended.stdout).split())


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_the_page_is_formatted_without_warnings(cli: Cli) -> None:
    text = _plain(cli("man").done())
    for part in ("NAME floatgate", "SYNOPSIS", "EXIT STATUS", "NO_COLOR", "FLOATGATE TRACE INFO", "[sweep] table"):
        assert part in text
    assert "won't" in _plain(".TH A 1\n.SH B\n" + _escaped("won't"))


def test_it_has_every_command_and_option() -> None:
    text = page().replace(r"\-", "-")
    root: Any = command()
    for name, one in root.commands.items():
        for inner, each in getattr(one, "commands", {"": one}).items():
            path = f"{name} {inner}".strip()
            section = text.partition(f"\n.SH FLOATGATE {path.upper()}\n")[2].partition("\n.SH ")[0]
            options = [option for param in each.params if not getattr(param, "hidden", False) for option in param.opts]
            for option in options:
                if option.startswith("--"):
                    assert re.search(rf"^\\fB.*{option}\b", section, re.M), (path, option)


@pytest.mark.parametrize(
    ("text", "shown"), [(".TH", r"\&.TH"), ("a\\b", r"a\eb"), ("'x'", r"\(aqx\(aq"), ("--a", r"\-\-a")]
)
def test_text_is_no_request(text: str, shown: str) -> None:
    assert _escaped(text) == shown
