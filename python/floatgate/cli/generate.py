"""``floatgate trace generate``: traces of patterns, micro-benchmarks and twins, and the twin of a trace."""

from __future__ import annotations

import json as json_module
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from floatgate import _core
from floatgate.base import units
from floatgate.base.errors import input_error, one_line
from floatgate.base.progress import bar
from floatgate.base.text_table import table
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.output import Output, written_text
from floatgate.results.folder import must_be_new_file, write_text, writing
from floatgate.run.experiment import Overrides, parse_set, toml_value
from floatgate.trace import conversion
from floatgate.trace.parquet_columns import write_columns

WORKLOADS = ("--twin", "--pattern", "--micro", "--fit")
EXPECTED_PLACE = "a file to write the trace to"

SetKey = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A key of [workload], e.g. zipf_theta=1.1. May be repeated."),
]
Space = Annotated[
    str | None,
    typer.Option(
        "--drive-bytes",
        "--size",
        metavar="SIZE",
        help='Size of the address space, such as "64 GiB". A twin has its own; a smaller size needs --beyond scale.',
    ),
]


@g.grouped
def generate(
    twin: Annotated[
        str | None, typer.Option("--twin", metavar="NAME", help="A twin (--list), or the TOML file of a twin.")
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            "--pattern", metavar="P", help="One of sequential, uniform, permutation, zipf, hot-cold, jobs, jesd219."
        ),
    ] = None,
    micro: Annotated[
        str | None, typer.Option("--micro", metavar="NAME", help="A micro-benchmark of RB-Explorer (--list).")
    ] = None,
    fit: Annotated[
        str | None, typer.Option("--fit", metavar="TRACE", help="Fit a twin to this trace and write it as TOML.")
    ] = None,
    out: Annotated[str | None, typer.Option("--out", "-o", metavar="OUT", help="The file to write.")] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="FORMAT", help="parquet, fio-iolog, msr, mqsim or blkparse. Default: from OUT's extension."
        ),
    ] = None,
    drive_bytes: Space = None,
    requests: Annotated[
        int | None,
        typer.Option("--requests", metavar="N", min=1, help="Number of requests; a twin repeats from its start."),
    ] = None,
    read_share: Annotated[
        float | None, typer.Option("--read-share", metavar="S", help="Share of requests that are reads.")
    ] = None,
    beyond: Annotated[
        str | None,
        typer.Option(
            "--beyond", metavar="refuse|scale", help="A twin larger than the address space: refuse or shrink it."
        ),
    ] = None,
    set_: SetKey = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, max=2**63 - 1, help="Seed of all random numbers.")
    ] = 1,
    *,
    content: g.Content,
    list_: Annotated[bool, typer.Option("--list", help="List the twins and the micro-benchmarks.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite OUT if it exists.")] = False,
    reading: g.Reading,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """Generate a trace from a pattern, a micro-benchmark or a twin, or fit a twin to a trace."""
    output = Output(json, quiet=quiet, force=force)
    if list_:
        _list(output)
        return
    place = _place([twin, pattern, micro, fit], out, force=force)
    making = {"requests": requests, "read_share": read_share, "beyond": beyond}
    if fit is not None:
        _refuse(
            {"to": to, "drive_bytes": drive_bytes, "set": set_, **making, **content.as_settings()},
            "applies to traces, not to twins; expected no --fit with it",
        )
        _fit(fit, place, reading.as_settings(), output)
        return
    _refuse(reading.as_settings(), "applies only to --fit")
    named = {"twin": twin, "pattern": pattern, "micro": micro} | making
    settings = [(f"workload.{key}", _value(key, value)) for key, value in named.items() if value is not None]
    settings += [_workload_key(text) for text in set_ or []]
    _write(place, to, (settings, drive_bytes, seed, content.as_settings()), output)


def _place(workloads: Sequence[str | None], out: str | None, *, force: bool) -> str:
    """Return the file to write; requires exactly one of :data:`WORKLOADS`.

    Raises:
        InputError: none or several are given, or no new file can be written.
    """
    named = [option for option, one in zip(WORKLOADS, workloads, strict=True) if one is not None]
    if len(named) != 1:
        what = f"{' and '.join(named)} exclude each other" if named else "no workload is named"
        raise input_error(
            f"floatgate trace generate: {what}; expected exactly one of {', '.join(WORKLOADS)}, or --list"
        )
    if out is None:
        raise input_error("--out: no file to write to; expected -o OUT")
    must_be_new_file(out, EXPECTED_PLACE, force=force)
    return out


def _refuse(options: Mapping[str, object], why: str) -> None:
    """Refuse options, by the names of their parameters, that are given."""
    for name, value in options.items():
        if value is not None:
            raise input_error(f"--{name.replace('_', '-')}: {why}")


def _value(key: str, value: object) -> str:
    return toml_value(f"workload.{key}", value) if isinstance(value, str) else str(value)


def _workload_key(text: str) -> tuple[str, str]:
    key, value = parse_set(text)
    return (key if key.startswith("workload.") else f"workload.{key}"), value


def _write(
    out: str, to: str | None, workload: tuple[Overrides, str | None, int, dict[str, str]], output: Output
) -> None:
    wanted = conversion.format_of(out) if to is None else to
    conversion.check_format(wanted)
    with (
        conversion.unwritable(out),
        bar(Path(out).name, quiet=output.quiet) as progress,
        writing(Path(out)) as place,
    ):
        if wanted == conversion.PARQUET:
            source = _core.generate_batches(workload)
            report: dict[str, Any] = {"requests": write_columns(source, place, progress=progress)}
        else:
            report = json_module.loads(_core.generate_write(workload, str(place), wanted, progress))
    output.give({"out": out, "format": wanted, "seed": workload[2], **report})
    if not output.prints_json:
        output.say(written_text(out, wanted, report))


def _fit(trace: str, out: str, options: Mapping[str, str], output: Output) -> None:
    with bar(Path(trace).name, quiet=output.quiet) as progress:
        text, requests, trims = _core.twin_fit(trace, options, progress)
    write_text(out, text, "a file for the twin")
    output.give({"out": out, "format": "twin", "requests": requests, "trims_left_out": trims})
    if not output.prints_json:
        sentence = f"{requests} requests" + (f", {trims} trims left out" if trims else "")
        output.say(f"{one_line(out)}: the twin of {sentence}")


def _list(output: Output) -> None:
    catalogue = json_module.loads(_core.catalogue(["twins", "micro_benchmarks"]))
    twins, micros = catalogue["twins"], catalogue["micro_benchmarks"]
    output.give({"twins": twins, "micro_benchmarks": micros})
    if output.prints_json:
        return
    rows = [
        [
            entry["name"],
            units.span(entry["duration_s"]),
            str(entry["requests"]),
            units.share(entry["read_share"]),
            units.binary_bytes(entry["write_bytes"]),
            units.binary_bytes(entry["footprint_bytes"]),
            entry["summary"],
        ]
        for entry in twins
    ]
    header = ["twin", "span", "requests", "reads", "written", "footprint", "description"]
    shown = table(header, rows, right=frozenset({1, 2, 3, 4, 5}))
    rows = [
        [
            entry["name"],
            units.binary_bytes(entry["request_bytes"]),
            "random" if entry["random"] else "sequential",
            f"{entry['write_percent']} %",
            "4 KiB" if entry["aligned"] else "512 B",
            str(entry["requests"]),
        ]
        for entry in micros
    ]
    header = ["micro-benchmark", "size", "order", "writes", "aligned to", "requests"]
    output.say(f"{shown}\n\n{table(header, rows, right=frozenset({1, 3, 4, 5}))}")
