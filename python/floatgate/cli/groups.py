"""Options that several commands share, as groups: a command takes a group as one parameter.

>>> @grouped
... def info(path: str, reading: Reading, quiet: Quiet = False) -> None: ...

``info`` has the options ``--format``, ``--time-unit`` and so on, in the place of ``reading``.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from floatgate.base.errors import input_error
from floatgate.cli import options as o
from floatgate.run.experiment import (
    Experiment,
    Overrides,
    from_file,
    parse_set,
    toml_value,
    trace_overrides,
)
from floatgate.run.slicing import slice_of

Answer = TypeVar("Answer")


class Group:
    """The options of a group that the user set."""

    def as_settings(self) -> dict[str, str]:
        """Return it as the core names them."""
        named = {field.name.rstrip("_"): getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        return {key: value for key, value in named.items() if value is not None}


@dataclass(frozen=True)
class Reading(Group):
    """The format of a trace, and how its lines are read."""

    format: o.Format = None
    columns: o.Columns = None
    time_unit: o.TimeUnit = None
    lba_unit: o.LbaUnit = None
    action: o.Action = None
    on_bad_line: o.OnBadLine = None


@dataclass(frozen=True)
class Slice(Group):
    """The selected requests of a trace."""

    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TIME",
            help="Keep requests from this time on: seconds after the first request, or 10m, 2h.",
        ),
    ] = None
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Keep requests before this time; see --from.")
    ] = None
    device: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Keep this device of the trace. May be repeated."),
    ] = None
    op: Annotated[str | None, typer.Option(metavar="OPS", help="Keep these operations: any of read,write,trim.")] = None
    requests: Annotated[
        str | None, typer.Option(metavar="N", help="Keep the first N requests after the other filters.")
    ] = None
    fold: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help='Fold each device\'s addresses into a space such as "4 GiB".'),
    ] = None
    time_scale: Annotated[
        str | None, typer.Option(metavar="F", help="Multiply all times, e.g. by 0.5 for twice the speed.")
    ] = None

    def as_settings(self) -> dict[str, str]:
        """Return it as the core names them; several devices are lines.

        Raises:
            InputError: the name of a device is no line of text.
        """
        if any("\n" in name for name in self.device or []):
            raise input_error("--device: a name of several lines; expected the name of one device")
        named: dict[str, Any] = super().as_settings()
        return named | ({"device": "\n".join(self.device)} if self.device else {})


@dataclass(frozen=True)
class Shuffle(Group):
    """Writes in another order."""

    shuffle_window: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="Shuffle the writes within each window of N requests, to test what their order matters."
        ),
    ] = None
    shuffle_seed: Annotated[str | None, typer.Option(metavar="N", help="Seed of the shuffling.")] = None


@dataclass(frozen=True)
class Amplification(Group):
    """More reads than the trace has."""

    read_amplification: Annotated[
        str | None,
        typer.Option(metavar="N", help="Issue the trace N times at once, by N cursors that drift apart."),
    ] = None
    gap_spread: Annotated[
        str | None,
        typer.Option(
            metavar="S",
            help="Vary each time between two requests of a cursor by a random factor from 1 - S to 1 + S. Default 1.",
        ),
    ] = None
    amplification_seed: Annotated[str | None, typer.Option(metavar="N", help="Seed of the cursors' gaps.")] = None


@dataclass(frozen=True)
class Content(Group):
    """Content made up for writes."""

    duplicate_share: Annotated[
        str | None,
        typer.Option(metavar="S", help="Synthetic content: share of page writes that duplicate stored data."),
    ] = None
    compressed_share: Annotated[
        str | None,
        typer.Option(metavar="S", help="Synthetic content: mean compressed / original size of a page."),
    ] = None
    incompressible_share: Annotated[
        str | None,
        typer.Option(metavar="S", help="Synthetic content: share of pages that cannot be compressed."),
    ] = None
    content_seed: Annotated[str | None, typer.Option(metavar="N", help="Seed of the synthetic content.")] = None


@dataclass(frozen=True)
class Source(Group):
    """A workload and a drive in place of those of the experiment."""

    trace: Annotated[str | None, typer.Option(metavar="FILE", help="Use this trace as the workload.")] = None
    format: o.Format = None
    drive: o.Drive = None
    capacity: o.Capacity = None
    policies: o.Policies = None
    policy: o.Policy = None


@dataclass(frozen=True)
class EndingSource(Source):
    """The same, with a host that may stop early."""

    stop_after_bytes: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="End once the host has written this amount, such as 5GiB; a trace is repeated until then.",
        ),
    ] = None


@dataclass(frozen=True)
class Choices(Group):
    """The drives that a plan tries, and the bounds that they must meet."""

    capacities: o.Capacities = None
    spare_factors: o.SpareFactors = None
    throttles: o.Throttles = None
    reducers: o.Reducers = None
    min_served: o.MinServed = None
    max_write_p99: o.MaxWriteP99 = None
    price_per_tb: o.PricePerTb = None
    judge: o.JudgedBy = None


@dataclass(frozen=True)
class TraceOptions(Group):
    """How the workload's trace is read and placed on the drive."""

    columns: o.Columns = None
    time_unit: o.TimeUnit = None
    lba_unit: o.LbaUnit = None
    action: o.Action = None
    on_bad_line: o.OnBadLine = None
    devices: Annotated[
        str | None,
        typer.Option(metavar="apart|fold", help="Several devices in a trace: side by side, or folded into one."),
    ] = None
    beyond: Annotated[
        str | None,
        typer.Option(metavar="refuse|wrap|scale", help="Addresses beyond the end of the drive: refuse, wrap or scale."),
    ] = None


def built(
    experiment: str | None,
    source: Source,
    options: TraceOptions | None = None,
    sets: list[str] | None = None,
) -> Experiment:
    """Build the experiment that the arguments describe: file, trace, drive and capacity, shorthands, then --set.

    Raises:
        InputError: the file cannot be read, or a --set cannot be understood.
    """
    base = Experiment() if experiment is None else from_file(experiment)
    overrides: Overrides = trace_overrides(source.trace)
    named = {"drive.preset": source.drive, "workload.format": source.format, "policies": source.policies}
    named |= {f"workload.{key}": value for key, value in (options.as_settings() if options else {}).items()}
    named["workload.stop_after"] = getattr(source, "stop_after_bytes", None)
    overrides += [(key, toml_value(key, value)) for key, value in named.items() if value is not None]
    settings = [parse_set(text) for text in sets or []]
    if source.capacity is not None:
        overrides += slice_of(base.with_overrides(overrides + settings), source.capacity)
    return base.with_overrides(overrides + settings)


def grouped(command: Callable[..., Answer]) -> Callable[..., Answer]:
    """Give a command the options of its groups, one parameter each."""
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, type[Any]] = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if isinstance(parameter.annotation, type) and issubclass(parameter.annotation, Group)
    }
    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        if name in groups:
            parameters += _parameters(groups[name])
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def called(**arguments: Any) -> Answer:
        for name, group in groups.items():
            own = [field.name for field in dataclasses.fields(group)]
            arguments[name] = group(**{key: arguments.pop(key) for key in own})
        return command(**arguments)

    called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    # A reader of the signature would follow it to the wrapped function and see the groups again.
    del called.__wrapped__
    return called


def _parameters(group: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in dataclasses.fields(group)
    ]
