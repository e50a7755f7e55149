"""Help pages in sections: commands by what one wants to do, options by what they set.

A terminal gets panels (rich), anything else plain text. The man page is made of the same sections.
"""

from __future__ import annotations

import inspect
import os
import shutil
import sys
from dataclasses import dataclass
from typing import Any

COMMANDS: dict[str, tuple[str, ...]] = {
    "Measure": ("init", "run", "explain", "report", "check"),
    "Forecast": ("lifetime", "plan", "theory"),
    "Compare and search": ("compare", "sweep", "tune", "leaderboard", "query", "ls"),
    "Traces and recording": ("trace", "fetch", "placement"),
    "Real programs, drives and files": ("live", "counters", "rb", "content"),
    "Reproduce and look up": (
        "reproduce",
        "drives",
        "policies",
        "policy",
        "schema",
        "cite",
        "docs",
        "man",
        "completion",
    ),
}
"""The sections of the commands, by what one wants to do."""
PANELS: dict[str, tuple[str, ...]] = {
    "Drive": ("--drive", "--capacity"),
    "Workload": (
        *(
            "--trace",
            "--format",
            "--twin",
            "--pattern",
            "--stop-after-bytes",
            "--columns",
            "--time-unit",
            "--lba-unit",
            "--action",
        ),
        *("--on-bad-line", "--devices", "--beyond"),
    ),
    "Firmware and other settings": ("--policies", "--policy", "--throttle", "--reduce", "--set", "--shadow"),
    "What varies": (
        *(
            "--vary",
            "--sample",
            "--samples",
            "--sample-seed",
            "--repeat",
            "--baseline",
            "--own-defaults",
            "--minimise",
            "--maximise",
        ),
        *("--subject-to", "--trials", "--batch", "--search-seed"),
    ),
    "Target and drives to try": (
        *(
            "--target",
            "--demand",
            "--volume",
            "--growth",
            "--plan",
            "--drives",
            "--prices",
            "--capacities",
            "--spare-factors",
            "--throttles",
        ),
        *("--reducers", "--min-served", "--max-write-p99", "--price-per-tb", "--judge", "--counters"),
    ),
    "Execution": ("--on", "--jobs", "--memory", "--yes", "--snapshot-every", "--resume"),
    "Output": (
        *(
            "--out",
            "--force",
            "--json",
            "--report",
            "--title",
            "--note",
            "--csv",
            "--save-drive",
            "--timeline",
            "--log-requests",
        ),
        *("--perfetto", "--pictures", "--picture-width", "--picture-font", "--picture-palette"),
        *("--waveform", "--die", "--from", "--until", "--quiet", "--help"),
    ),
}
"""The sections of the options of :data:`PANELLED`."""
PANELLED = frozenset({"init", "run", "compare", "sweep", "tune", "lifetime", "plan"})
WIDTH_MAX = 110


@dataclass(frozen=True)
class Section:
    """A titled list of a help page: names, and what each is."""

    title: str
    rows: list[tuple[str, str]]


def usage(command: Any) -> list[str]:
    """Return what follows a command's name in the line of usage."""
    return ["[OPTIONS]", *(_placed(param) for param in command.params if param.param_type_name == "argument")]


def text(command: Any) -> str:
    """Return the description of a command, of several paragraphs."""
    return inspect.cleandoc(command.help or "")


def sections(command: Any, ctx: Any) -> list[Section]:
    """Return the lists of a command's help page: arguments, options and commands."""
    params = [param for param in command.get_params(ctx) if not getattr(param, "hidden", False)]
    arguments = [_row(param, ctx) for param in params if param.param_type_name == "argument"]
    lists = [Section("Arguments", [row for row in arguments if row[1]])]
    lists += [Section(title, rows) for title, rows in _commands(command, whole=ctx.parent is None).items()]
    titled: dict[str, list[tuple[str, str]]] = {}
    if command.name in PANELLED and not hasattr(command, "commands"):
        titled = {title: [] for title in PANELS}
    for param in params:
        if param.param_type_name == "option":
            titled.setdefault(panel_of(command.name, param.opts), []).append(_row(param, ctx))
    lists += [Section(title, rows) for title, rows in titled.items()]
    return [one for one in lists if one.rows]


def panel_of(command: str, names: list[str]) -> str:
    """Return the title of the section of an option."""
    if command in PANELLED:
        for title, own in PANELS.items():
            if not set(own).isdisjoint(names):
                return title
    return "Options"


def write(command: Any, ctx: Any, formatter: Any) -> None:
    """Write the help page of a command: panels on a terminal, plain text elsewhere."""
    if sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        formatter.write(_panels(command, ctx))
        return
    command.format_usage(ctx, formatter)
    formatter.write_paragraph()
    with formatter.indentation():
        formatter.write_text(text(command))
    for one in sections(command, ctx):
        with formatter.section(one.title):
            formatter.write_dl(one.rows)


def _panels(command: Any, ctx: Any) -> str:
    """Return the help page as panels, in colours unless NO_COLOR is set."""
    import io

    from rich.console import Console
    from rich.padding import Padding
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    width = min(shutil.get_terminal_size().columns, WIDTH_MAX)
    console = Console(file=io.StringIO(), force_terminal=True, width=width, highlight=False)
    console.print(Text(command.get_usage(ctx), "bold"))
    console.print(Padding(Text(_joined(text(command))), (1, 1)))
    lists = sections(command, ctx)
    widest = min(max((len(name) for one in lists for name, _ in one.rows), default=0), width // 3)
    for one in lists:
        table = Table.grid(padding=(0, 2))
        table.add_column(width=widest, overflow="fold")
        table.add_column(ratio=1)
        for name, about in one.rows:
            table.add_row(Text(name, "bold cyan"), Text(about))
        console.print(Panel(table, title=Text(one.title), title_align="left", border_style="dim"))
    written: str = console.file.getvalue()  # type: ignore[attr-defined]
    return written


def _joined(about: str) -> str:
    """Return paragraphs as one line each, for the console to break."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in about.split("\n\n"))


def _commands(command: Any, *, whole: bool) -> dict[str, list[tuple[str, str]]]:
    """Return the commands of a group by section; those of an inner group form one."""
    inner: dict[str, Any] = getattr(command, "commands", {})
    own = {name: (name, one.get_short_help_str(limit=200)) for name, one in inner.items() if not one.hidden}
    if not whole:
        return {"Commands": list(own.values())}
    return {title: [own[name] for name in names if name in own] for title, names in COMMANDS.items()}


def _placed(param: Any) -> str:
    """Return an argument as the line of usage shows it."""
    name = _metavar(param)
    if param.nargs != 1 and "..." not in name:
        name += "..."
    return name if param.required or name.startswith("[") else f"[{name}]"


def _row(param: Any, ctx: Any) -> tuple[str, str]:
    """Return an argument or an option with its help."""
    about = param.get_help_record(ctx)[1]
    if param.param_type_name == "argument":
        return _metavar(param), about
    names = ", ".join(sorted(param.opts, key=lambda name: len(name) - len(name.lstrip("-"))))
    if param.secondary_opts:
        names += f" / {', '.join(param.secondary_opts)}"
    return (names if param.is_flag or param.count else f"{names} {_metavar(param)}"), about


def _metavar(param: Any) -> str:
    """Return what stands for a value: its own word, its choices, or its name."""
    if param.metavar is not None:
        return str(param.metavar)
    choices = param.type_descriptor.choices
    if choices:
        return "|".join(str(getattr(choice, "value", choice)) for choice in choices)
    return str(param.name).upper().replace("_", "-")
