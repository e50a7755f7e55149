"""``floatgate trace``: look at traces and convert them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from floatgate.base.errors import input_error, printable
from floatgate.base.progress import bar
from floatgate.cli import generate, record, trace_features, trace_info, trace_patterns, tree
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.output import Output, written_text
from floatgate.results.folder import must_be_new_file


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = tree.group("Describe, convert, generate and record traces.")
    group.command("info")(trace_info.info)
    group.command("patterns")(trace_patterns.patterns)
    group.command("convert")(convert)
    group.command("features")(trace_features.features)
    group.command("generate")(generate.generate)
    record.register(group)
    app.add_typer(group, name="trace")


@g.grouped
def convert(
    path: o.TraceFile,
    target: Annotated[
        str, typer.Argument(metavar="OUT", help="The file to write; - for standard output (text formats).")
    ],
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT", help="parquet, fio-iolog, msr, mqsim or blkparse. Default: from OUT's extension."
        ),
    ] = None,
    *,
    reading: g.Reading,
    part: g.Slice,
    shuffle: g.Shuffle,
    amplified: g.Amplification,
    content: g.Content,
    force: Annotated[bool, typer.Option("--force", help="Overwrite OUT if it exists.")] = False,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """Convert a trace, or a slice of it, to Parquet or to another trace format."""
    from floatgate.trace import conversion

    output = Output(json, quiet=quiet, force=force)
    wanted = _target_format(target, to, json=output.prints_json, force=force)
    options: dict[str, str] = {}
    for group in (reading, part, shuffle, amplified, content):
        options |= group.as_settings()
    with bar(Path(path).name, quiet=quiet) as progress:
        report = conversion.convert(path, target, wanted, options, progress)
    output.give({"out": target, "format": wanted, **report})
    if output.prints_json or quiet:
        return
    text = written_text("standard output" if target == conversion.STDOUT else target, wanted, report)
    print(printable(text), file=sys.stderr if target == conversion.STDOUT else sys.stdout)


def _target_format(target: str, to: str | None, *, json: bool, force: bool) -> str:
    """Return the format to write; refuse a target that cannot be written to before the work starts."""
    from floatgate.trace import conversion

    if target == conversion.STDOUT:
        if json:
            raise input_error("--json: standard output takes the trace; expected a file for the trace, or no --json")
        if to is None:
            raise input_error("-: standard output has no extension to name a format; expected --to FORMAT")
        return to
    wanted = conversion.format_of(target) if to is None else to
    must_be_new_file(target, "a file to write the trace to", force=force)
    return wanted
