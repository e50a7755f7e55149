"""Options that several commands share, and the settings that they make."""

from __future__ import annotations

import contextlib
import re
import shlex
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from floatgate.base import numbers
from floatgate.base.errors import STATUS_DONE, STATUS_RUN_FAILED, InputError, input_error, one_line, quote
from floatgate.base.parallel import RUNS_MAX
from floatgate.plugins import kept

if TYPE_CHECKING:
    from floatgate.study.compare import Comparison

_BEYOND = 'or workload.beyond = "wrap"'
"""The core's remedies for a drive that is too small for a trace."""

ExperimentFile = Annotated[
    str | None,
    typer.Argument(
        metavar="EXPERIMENT.toml",
        show_default=False,
        help="The experiment. Default: all settings at their defaults, but for those of the options.",
    ),
]
TraceFile = Annotated[
    str, typer.Argument(metavar="TRACE", help="The trace, plain or compressed (.gz, .xz, .zst, .bz2).")
]
Json = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="[FILE]",
        help="Print JSON on standard output, or write it to FILE. The next word is FILE if it is - or ends in .json; "
        "--json=FILE takes any name.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors (and JSON).")]
Out = Annotated[
    str | None,
    typer.Option("--out", metavar="DIR", help="The run folder, new or empty. Default: runs/NAME."),
]
Force = Annotated[bool, typer.Option("--force", help="Allow a folder that is not empty; overwrite existing files.")]
LogRequests = Annotated[
    bool,
    typer.Option(
        "--log-requests", help='Write requests.parquet to the run folder: one row per request (mode = "timed" only).'
    ),
]
Report = Annotated[
    bool | None,
    typer.Option(
        "--report/--no-report",
        help="Write report.html. Default: yes, except with JSON on standard output.",
        show_default=False,
    ),
]
Shadow = Annotated[
    bool, typer.Option("--shadow", help="Check every read and every counter against a shadow model; slow.")
]
SaveDrive = Annotated[
    str | None,
    typer.Option(
        "--save-drive", metavar="FILE", help="Save the drive to FILE; --set ftl.snapshot=FILE starts from it."
    ),
]
Timeline = Annotated[
    str | None,
    typer.Option(
        "--timeline",
        metavar="FROM..TO",
        help="mode = timed: interval of the timeline, counted from the end of the warm-up, e.g. 1.5s..1.52s. "
        "Default: 0..20ms.",
    ),
]
Perfetto = Annotated[
    str | None,
    typer.Option(
        "--perfetto",
        metavar="FILE.json.gz",
        help='Write the timeline for ui.perfetto.dev: dies, channels, queues and jobs (mode = "timed" only).',
    ),
]
WaveformFile = Annotated[
    str | None,
    typer.Option(
        "--waveform",
        metavar="FILE",
        help='Write what Ready/Busy pins show, as .vcd or .csv, for floatgate rb measure (mode = "timed" only).',
    ),
]
Die = Annotated[
    str | None, typer.Option("--die", metavar="N|all", help="--waveform: the die, or all of them. Default: 0.")
]
WaveformFrom = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="T",
        help="--waveform: beginning, counted from the end of the warm-up, e.g. 1.5s.",
    ),
]
WaveformUntil = Annotated[str | None, typer.Option("--until", metavar="T", help="--waveform: end, likewise.")]
SnapshotEvery = Annotated[
    float | None,
    typer.Option(
        "--snapshot-every",
        metavar="SECONDS",
        help="Update DIR/run.snapshot at this interval, in case the run is killed.",
    ),
]
Resume = Annotated[
    str | None, typer.Option("--resume", metavar="DIR", help="Continue the interrupted run in this folder.")
]
Vary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="KEY=V,V,...",
        help="Values of a key, or a range FROM..TO:STEPS (FROM..TO:STEPS:log). Repeat the option for all combinations.",
    ),
]
SearchVary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="KEY=V,V,...",
        help="Values of a key to search among, or a range FROM..TO (FROM..TO:log). Repeat the option for more keys.",
    ),
]
OwnDefaults = Annotated[
    bool,
    typer.Option(
        "--own-defaults",
        help="Leave each setting its own default of ftl.collect.trigger_free_blocks. Without this, all settings have "
        "the largest of these defaults.",
    ),
]
Sample = Annotated[
    str | None,
    typer.Option(
        metavar="grid|list|random|latin-hypercube",
        help="grid: all combinations of the values; list: pair values by position; random or latin-hypercube: draw "
        "as many points as --samples says. Default: grid.",
    ),
]
Samples = Annotated[int | None, typer.Option(metavar="N", min=1, help="Points of a random sample or Latin hypercube.")]
SampleSeed = Annotated[int | None, typer.Option(metavar="N", min=1, help="Seed of the sample. Default: 1.")]
Repeat = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, max=RUNS_MAX, help="Run each setting with the same N consecutive seeds."),
]
On = Annotated[
    str,
    typer.Option(
        metavar="local|dask://HOST:PORT|tls://HOST:PORT",
        help="Where to run: on this machine, or by a Dask scheduler (tls: encrypted, with Dask's certificates).",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Memory limit per run, such as 4GiB; a run beyond it fails."),
]
ResumeHere = Annotated[bool, typer.Option("--resume", help="Continue what --out DIR holds.")]
Yes = Annotated[bool, typer.Option("--yes", help="Allow more than a million runs.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a setting, e.g. ftl.spare_factor=0.28. May be repeated."),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", metavar="N", min=1, help="Parallel runs. Default: one per core."),
]
Drive = Annotated[
    str | None, typer.Option("--drive", metavar="NAME", help="A drive of the catalogue (floatgate drives).")
]
Policies = Annotated[
    str | None,
    typer.Option(
        "--policies", metavar="SETS", help="Turn on sets of policies, such as all-in-one or ids+redftl-plus (policies)."
    ),
]


def _load_policies(files: list[str] | None) -> list[str] | None:
    """Load the policies of --policy before the command looks at its other options; raises InputError."""
    if files:
        from floatgate.plugins.api import load_policies

        for file in files:
            load_policies(file)
    return files


def own_policies() -> list[str]:
    """Return the words that load the policies of this process again."""
    return [word for file in kept.files() for word in ("--policy", file)]


Policy = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="FILE",
        is_eager=True,
        callback=_load_policies,
        help="Load policies of your own from a Python file or a shared library, which runs with your rights. May be "
        "repeated.",
    ),
]
Capacity = Annotated[
    str | None,
    typer.Option(
        "--capacity",
        metavar="SIZE",
        help="Flash capacity, such as 64GiB. To shrink a drive, dies are removed first, then blocks.",
    ),
]
Target = Annotated[str | None, typer.Option("--target", metavar="YEARS", help="Target life. Default: 5.")]
Growth = Annotated[
    str | None,
    typer.Option(
        "--growth",
        metavar="SHARE",
        help="Growth of what the host writes from year to year, e.g. 0.2; --demand acts from day one. Default: 0.",
    ),
]
Demand = Annotated[
    str | None,
    typer.Option(
        "--demand",
        metavar="FACTOR|BYTES/day",
        help="Rate of the workload from the first day: a factor on its own, e.g. 2, or what the host writes per day, "
        "e.g. 350GB/day; --growth is per year. Default: 1.",
    ),
]
Capacities = Annotated[
    str | None,
    typer.Option(
        "--capacities",
        metavar="A,B,..",
        help="Flash capacities to try, e.g. 64GiB,128GiB; each drive is shrunk as by --capacity.",
    ),
]
SpareFactors = Annotated[
    str | None, typer.Option("--spare-factors", metavar="A,B,..", help="Spare factors of the plan, e.g. 0.07,0.28.")
]
Throttles = Annotated[
    str | None,
    typer.Option(
        "--throttles",
        metavar="A,B,..",
        help="Throttles of the plan (floatgate policies), or all. Default: the experiment's.",
    ),
]
Reducers = Annotated[
    str | None, typer.Option("--reducers", metavar="A,B,..", help="Reducers of the plan, e.g. none,both,integrated.")
]
MinServed = Annotated[
    str | None,
    typer.Option(
        "--min-served", metavar="SHARE", help="Least share of the host's writes that a drive must serve. Default: 0.99."
    ),
]
MaxWriteP99 = Annotated[
    str | None, typer.Option("--max-write-p99", metavar="MS", help="Longest p99 of page writes, milliseconds.")
]
Volume = Annotated[
    str | None,
    typer.Option(
        "--volume",
        metavar="SIZE",
        help="Size of the volume on the drive, such as 400GB. The rest of the drive stays free: over-provisioning. "
        "Default: the whole drive.",
    ),
]
Prices = Annotated[
    str | None,
    typer.Option(
        "--prices",
        metavar="NAME=PRICE,..",
        help="Price of each drive, or of each of a group, at its catalogue capacity (boot-480g=90), or per TB "
        "(client=60/TB). Other capacities are priced in proportion.",
    ),
]
PricePerTb = Annotated[
    str | None,
    typer.Option(
        "--price-per-tb",
        metavar="PRICE",
        help="Price per TB of the capacity as sold, for drives without a price of their own; of flash where a drive is "
        "not sold.",
    ),
]
PlanTitle = Annotated[
    str | None, typer.Option("--title", metavar="TITLE", help="Heading of the report of a plan, for those who read it.")
]
PlanNote = Annotated[
    str | None, typer.Option("--note", metavar="NOTE", help="A paragraph below the heading of the report of a plan.")
]


class Judge(StrEnum):
    """What ends the life of a drive."""

    BOTH = "both"
    FLASH = "flash"
    RATING = "rating"


JudgedBy = Annotated[
    Judge | None,
    typer.Option("--judge", help="What ends a drive's life: flash, the maker's rating, or both. Default: both."),
]
Format = Annotated[
    str | None, typer.Option("--format", metavar="FORMAT", help="Format of the trace. Default: detected automatically.")
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="COLUMNS",
        help='The columns of a line, e.g. "time:s op:RW offset:sectors size:bytes", or a TOML file with them.',
    ),
]
TimeUnit = Annotated[
    str | None,
    typer.Option("--time-unit", metavar="UNIT", help="Unit of time stamps, if the format leaves it open."),
]
LbaUnit = Annotated[
    str | None, typer.Option("--lba-unit", metavar="UNIT", help="Unit of addresses, if the format leaves it open.")
]
Action = Annotated[
    str | None, typer.Option("--action", metavar="EVENT", help="The blkparse event that counts as the request.")
]
OnBadLine = Annotated[
    str | None,
    typer.Option("--on-bad-line", metavar="stop|skip", help="On a malformed line: stop, or skip and count it."),
]


@contextlib.contextmanager
def naming_remedies(capacity: str) -> Iterator[None]:
    """Name ``capacity`` and --beyond in the error that a trace addresses more than the drive has."""
    try:
        yield
    except InputError as error:
        if _BEYOND not in error.message:
            raise
        raise input_error(f"{error.message} ({capacity}, --beyond)") from None


def has_other_parameters(context: typer.Context, *allowed: str) -> bool:
    """Return whether the command received any parameter but these."""
    sources = (context.get_parameter_source(name) for name in context.params if name not in allowed)
    return any(source is not None and source.name == "COMMANDLINE" for source in sources)


def size_bytes(text: str | None, option: str) -> int | None:
    """Convert ``4GiB``, the value of an option, to bytes.

    Raises:
        InputError: it is no size.
    """
    if text is None:
        return None
    size = numbers.size(text)
    if size is None:
        raise input_error(f"{option} {quote(text)}: not a size; expected one such as 512MiB or 4GiB")
    return size


def count_bytes(text: str | None, option: str) -> int | None:
    """Convert ``4096`` or ``4KiB``, the value of an option, to bytes.

    Raises:
        InputError: it is neither a whole number nor a size.
    """
    if text is None:
        return None
    if re.fullmatch(r"\s*[+-]?\d+\s*", text):
        return int(text)
    size = numbers.size(text)
    if size is None:
        raise input_error(f"{option}: {quote(text)} is not a size; expected bytes or a size, such as 4096 or 4KiB")
    return size


def was_given(context: typer.Context, name: str) -> bool:
    """Return whether a parameter of the command was given."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def command_line() -> str:
    """Return the command as it was typed, for the foot of a report."""
    return shlex.join(["floatgate", *sys.argv[1:]])


SHADOW_LINE = f"{'shadow':<10} every read, the maps and the counts agree with the shadow model"
"""What a run or its repetitions say after ``--shadow``: one that disagreed would have failed."""


def place_line(folder: Path, *, report: bool) -> str:
    """Return the last line of a summary: where the report is, or where the results are without one."""
    page = folder / "report.html"
    name, place = ("report", page) if report and page.is_file() else ("results", folder)
    return f"{name:<10} {one_line(place)}"


def tell_failures(comparison: Comparison) -> int:
    """Name the first run that failed, before any other output; return the exit status of the command."""
    failures = comparison.failures()
    if not failures:
        return STATUS_DONE
    sys.stderr.write(f"error: {one_line(failures[0])}\n")
    return STATUS_RUN_FAILED
