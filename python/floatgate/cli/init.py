"""``floatgate init``: a first experiment for a drive and a workload, from options or from answers."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from floatgate import _core
from floatgate.base.errors import InputError, input_error, meant, one_line, printable, quote
from floatgate.base.progress import bar
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.results.folder import must_be_new_file, write_text
from floatgate.run import starter
from floatgate.run.experiment import Overrides, toml_value

Value = TypeVar("Value")

NAME = "experiment.toml"
DRIVE = "client-tlc-1t"
WORKLOAD = "uniform"
EXPECTED = "a file for the experiment"

Twin = Annotated[
    str | None, typer.Option("--twin", metavar="NAME", help="The workload: a twin (floatgate trace generate --list).")
]
Pattern = Annotated[
    str | None,
    typer.Option(
        "--pattern",
        metavar="P",
        help="The workload: sequential, uniform, permutation, zipf, hot-cold, jobs, jesd219.",
    ),
]
Place = Annotated[str | None, typer.Option("--out", "-o", metavar="FILE", help=f"The file to write. Default: {NAME}.")]
Overwrite = Annotated[bool, typer.Option("--force", help="Overwrite FILE if it exists.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("init")(init)


@g.grouped
def init(
    *,
    source: g.Source,
    twin: Twin = None,
    pattern: Pattern = None,
    set: o.Set = None,
    trace_options: g.TraceOptions,
    out: Place = None,
    force: Overwrite = False,
    quiet: o.Quiet = False,
) -> None:
    """Write a commented experiment for a drive and a workload, to be run and changed.

    On a terminal, ask for the drive, the workload and the file unless options name them. The file has the settings of
    the options, and the keys that are worth knowing with their defaults as comments.
    """
    asks = sys.stdin is not None and sys.stdin.isatty()
    if source.drive is None:
        source = replace(source, drive=_drive(asks=asks))
    if source.trace == "-":
        raise input_error("--trace: an experiment names the file of its trace; expected a file, not standard input")
    named = {"--trace": source.trace, "--twin": twin, "--pattern": pattern}
    _must_be_one(named, asks=asks)
    if not any(named.values()):
        option, value = _answer("workload: a trace file, a twin or a pattern", WORKLOAD, _workload)
        named[option] = value
        source = replace(source, trace=named["--trace"])
    if out is None:
        out = _answer("file", NAME, _place(force=force)) if asks else NAME
    must_be_new_file(out, EXPECTED, force=force)
    overrides = _settings(source, named["--twin"], named["--pattern"], trace_options, set)
    if source.trace is not None:
        with bar(Path(source.trace).name, quiet=quiet) as progress:
            options = {key: value for key, value in trace_options.as_settings().items() if key in _READING}
            options |= {} if source.format is None else {"format": source.format}
            facts = json_module.loads(_core.trace_info(source.trace, options, progress, counts_only=True))
        starter.must_fit(overrides, [device["end_bytes"] for device in facts["devices"]])
    write_text(out, starter.text_of(overrides, out, o.command_line()), EXPECTED)
    if not quiet:
        print(f"{'experiment':<10} {printable(one_line(out))}")
        print(f"{'run it':<10} floatgate run {printable(one_line(out))}")


_READING = frozenset({"columns", "time_unit", "lba_unit", "action", "on_bad_line"})
"""Options of the workload's trace that say how its lines are read."""


def _settings(
    source: g.Source, twin: str | None, pattern: str | None, options: g.TraceOptions, sets: list[str] | None
) -> Overrides:
    """Return the settings of the file."""
    named = {"workload.twin": twin, "workload.pattern": pattern}
    own = [f"{key}={toml_value(key, value)}" for key, value in named.items() if value is not None]
    return g.built(None, source, options, [*own, *(sets or [])]).overrides


def _drive(*, asks: bool) -> str:
    """Ask for the drive.

    Raises:
        InputError: the input is no terminal.
    """
    if not asks:
        raise input_error(
            f"floatgate init: no drive; expected --drive NAME, such as --drive {DRIVE} ('floatgate drives' lists all)"
        )
    names = [entry["name"] for entry in _catalogue("drives")]

    def known(text: str) -> str:
        if text not in names:
            raise input_error(f"unknown drive {quote(text)}; {meant(text, names, 'floatgate drives')}")
        return text

    return _answer("drive ('floatgate drives' lists all)", DRIVE, known)


def _must_be_one(named: dict[str, str | None], *, asks: bool) -> None:
    """Refuse several workloads, and none where the input is no terminal."""
    options = [option for option, value in named.items() if value is not None]
    if len(options) > 1:
        raise input_error(f"{' and '.join(options)} exclude each other; expected one workload")
    if not options and not asks:
        raise input_error("floatgate init: no workload; expected --trace FILE, --twin NAME or --pattern P")


def _workload(text: str) -> tuple[str, str]:
    """Return the option that an answer stands for, and its value."""
    patterns = starter.names_of("workload.pattern")
    twins = [entry["name"] for entry in _catalogue("twins")]
    for option, names in (("--pattern", patterns), ("--twin", twins)):
        if text in names:
            return option, text
    if Path(text).is_file():
        return "--trace", text
    raise input_error(f"{quote(text)} is neither a file nor a workload; {meant(text, [*patterns, *twins])}")


def _place(*, force: bool) -> Callable[[str], str]:
    def place(text: str) -> str:
        must_be_new_file(text, EXPECTED, force=force)
        return text

    return place


def _answer(question: str, default: str, meaning: Callable[[str], Value]) -> Value:
    """Ask until an answer has a meaning; an empty one is the default.

    Raises:
        InputError: the input ends.
    """
    while True:
        print(f"{question} [{default}]: ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            print(file=sys.stderr)
            raise input_error("floatgate init: the input ended before the last answer; expected an answer, or options")
        try:
            return meaning(line.strip() or default)
        except InputError as error:
            print(f"{printable(one_line(error.message))}", file=sys.stderr)


def _catalogue(section: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json_module.loads(_core.catalogue((section,)))[section]
    return entries
