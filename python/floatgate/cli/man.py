"""``floatgate man``: the manual page, made of the help pages of all commands."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import typer

from floatgate import _core
from floatgate.cli import help as pages

ABOUT = "floatgate \\- SSD endurance and performance laboratory"
FILES = [
    ("runs/", "Folders of results, one for each run, unless --out names another."),
    ("result.json, lifetime.json, plan.json", "Results; floatgate schema prints what they hold."),
    ("experiment.toml", "The experiment of a result with all its settings; it can be run again."),
]
ENVIRONMENT = [
    ("NO_COLOR", "If set, help pages and progress bars have no colours."),
    ("TMPDIR", "Folder of temporary files."),
]
STATUS = [
    ("0", "Done."),
    ("1", "The run failed, or the answer is no."),
    ("2", "Unusable input or use."),
    ("128 + N", "Ended by signal N."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("man")(man)


def man() -> None:
    """Print the manual page (roff) with the help of all commands.

    To read it: floatgate man > floatgate.1 and man ./floatgate.1. To install it, move it to ~/.local/share/man/man1.
    """
    sys.stdout.write(page())


def page() -> str:
    """Return the manual page."""
    from floatgate.cli.app import command

    root = command()
    context = typer.Context(root, info_name="floatgate")
    lines = [
        f'.TH FLOATGATE 1 "" "floatgate {_core.__version__}" "User Commands"',
        ".SH NAME",
        ABOUT,
        ".SH SYNOPSIS",
        ".B floatgate",
        r"\fICOMMAND\fR [\fIARGUMENTS\fR]",
        ".SH DESCRIPTION",
        *_paragraphs(pages.text(root)),
        ".SH COMMANDS",
    ]
    for one in pages.sections(root, context):
        if one.title != "Options":
            lines += [f".SS {_escaped(one.title)}", *_listed(one.rows)]
    for path, each in _leaves(root):
        lines += _command(path, each, context)
    for title, rows in (("EXIT STATUS", STATUS), ("FILES", FILES), ("ENVIRONMENT", ENVIRONMENT)):
        lines += [f".SH {title}", *_listed(rows)]
    return "\n".join(lines) + "\n"


def _command(path: str, command: Any, root: Any) -> Iterator[str]:
    """Yield the section of a command."""
    context = typer.Context(command, info_name=path, parent=root)
    yield f".SH {_escaped(f'floatgate {path}'.upper())}"
    yield rf"\fBfloatgate {_escaped(path)}\fR {_escaped(' '.join(pages.usage(command)))}"
    yield ".PP"
    yield from _paragraphs(pages.text(command))
    for one in pages.sections(command, context):
        yield f".SS {_escaped(one.title)}"
        yield from _listed([row for row in one.rows if row[0] != "-h, --help"])


def _leaves(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield all commands with their names."""
    for name, inner in group.commands.items():
        if hasattr(inner, "commands"):
            yield from _leaves(inner, (*path, name))
        else:
            yield " ".join((*path, name)), inner


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(text.split("\n\n")):
        if number:
            yield ".PP"
        yield _escaped(" ".join(paragraph.split()))


def _listed(rows: list[tuple[str, str]]) -> Iterator[str]:
    for name, about in rows:
        yield ".TP"
        yield rf"\fB{_escaped(name)}\fR"
        yield _escaped(" ".join(about.split()))


def _escaped(text: str) -> str:
    """Return text as roff shows it: no escapes, hyphens that can be copied, no request at the start of a line."""
    shown = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace("^", r"\(ha")
    shown = shown.replace("~", r"\(ti").replace("`", r"\(ga")
    return rf"\&{shown}" if shown.startswith(".") else shown
