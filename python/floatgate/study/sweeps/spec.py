"""The request for a sweep: the ``[sweep]`` table of an experiment file, ``--vary`` and the options of samples.

The table stands in the file of the experiment: one file says everything (:mod:`floatgate.run.sweep_table`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from floatgate.base.errors import InputError, input_error, meant, quote, quoted
from floatgate.base.parallel import RUNS_MAX
from floatgate.run.experiment import Experiment, flatten, toml_value
from floatgate.run.run import check
from floatgate.study.runs.plan import placed
from floatgate.study.runs.points import SAMPLES, Axis, Points, axes_of, range_of, values_of
from floatgate.study.runs.rows import setting_kinds

TABLE_KEYS = ("vary", "points", "sample", "samples", "seed", "repeat")
_RANGE_KEYS = {"from", "to", "steps", "scale"}
_CHECKED_MAX = 2000
"""Points that are checked before the first run; of a larger sweep, those are spread evenly."""


@dataclass(frozen=True)
class SweepOptions:
    """The options of a sweep; None for an option that is not set."""

    vary: tuple[str, ...] = ()
    sample: str | None = None
    samples: int | None = None
    sample_seed: int | None = None
    repeat: int | None = None


def points_of(
    options: SweepOptions, table: Mapping[str, Any], place: str, command: str = "floatgate sweep"
) -> tuple[Points, int]:
    """Return the points of a sweep and how often each is repeated: options first, then the table of the file.

    Args:
        options: those of the command.
        table: the ``[sweep]`` table.
        place: what messages call the file.
        command: the command that needs them.

    Raises:
        InputError: no key varies, a key varies twice, or a value cannot be understood.
    """
    unknown = [key for key in table if key not in TABLE_KEYS]
    if unknown:
        raise input_error(f"{place}: [sweep] has no {quote(unknown[0])}; {meant(unknown[0], TABLE_KEYS)}")
    varied = axes_of(options.vary)
    keys = [axis.key for axis in varied]
    vary = table.get("vary", {})
    if not isinstance(vary, dict):
        raise input_error(f"{place}: sweep.vary is not a table; expected keys with their values below [sweep.vary]")
    axes = [axis for axis in _axes(vary, place) if axis.key not in keys] + list(varied)
    listed = _listed(table.get("points", []), place)
    if not axes and not listed:
        raise input_error(
            f"{command}: no --vary, and no [sweep.vary] in the file; expected at least one, such as "
            "ftl.spare_factor=0.07,0.28"
        )
    named = {key for point in listed for key, _ in point} & {axis.key for axis in axes}
    if named:
        raise input_error(f"{place}: {quoted(sorted(named))} both in sweep.points and varied; expected one of both")
    return _points(options, table, place, tuple(axes), listed), _whole("repeat", options.repeat, table, place, 1)


def _points(options: SweepOptions, table: Mapping[str, Any], place: str, axes: tuple[Axis, ...], listed: Any) -> Points:
    sample = options.sample or table.get("sample", "grid")
    if sample not in SAMPLES:
        where = "--sample" if options.sample else f"{place}: sweep.sample"
        raise input_error(f"{where}: unknown sample {quote(sample)}; {meant(sample, SAMPLES)}")
    drawn = sample in ("random", "latin-hypercube")
    samples = _whole("samples", options.samples, table, place, 0)
    if drawn and not samples:
        raise input_error(f"--sample {sample}: the number of points is missing; expected --samples N")
    if samples and not drawn:
        raise input_error(
            f"--samples {samples}: a {sample} has as many points as its values give; expected it with --sample random "
            "or latin-hypercube"
        )
    # Points are drawn when they are made; a sample is at most as large as a sweep may be.
    if samples > 100 * RUNS_MAX:
        raise input_error(f"--samples {samples}: too many to draw; expected at most {100 * RUNS_MAX}")
    return Points(axes, sample, samples, _whole("seed", options.sample_seed, table, place, 1), listed)


def _whole(key: str, option: int | None, table: Mapping[str, Any], place: str, default: int) -> int:
    value = table.get(key, default) if option is None else option
    if isinstance(value, bool) or not isinstance(value, int) or value < min(default, 1):
        raise input_error(
            f"{place}: sweep.{key} is {quote(value)}; expected a whole number of {min(default, 1)} or more"
        )
    return value


def _axes(vary: Mapping[str, Any], place: str, prefix: str = "") -> Iterator[Axis]:
    """Read the axes of ``[sweep.vary]``: lists of values, ranges, and tables of further keys."""
    for name, value in vary.items():
        key = f"{prefix}{name}"
        where = f"{place}: sweep.vary.{key}"
        if isinstance(value, dict) and {"from", "to"} <= set(value) <= _RANGE_KEYS:
            yield _range(key, where, value)
        elif isinstance(value, dict):
            yield from _axes(value, place, f"{key}.")
        elif isinstance(value, list) and value:
            yield values_of(key, where, [toml_value(key, one) for one in value])
        else:
            raise input_error(f"{where}: no list of values; expected [a, b, ...] or {{ from = a, to = b, steps = n }}")


def _range(key: str, where: str, table: Mapping[str, Any]) -> Axis:
    ends, steps, scale = (table["from"], table["to"]), table.get("steps"), table.get("scale", "linear")
    if any(isinstance(end, bool) or not isinstance(end, int | float) for end in ends):
        raise input_error(f"{where}: the ends are no numbers; expected {{ from = 0.05, to = 0.3, steps = 6 }}")
    if scale not in ("linear", "log"):
        raise input_error(f"{where}: unknown scale {quote(scale)}; expected 'linear' or 'log'")
    if steps is not None and (isinstance(steps, bool) or not isinstance(steps, int)):
        raise input_error(f"{where}: steps is {quote(steps)}; expected a whole number")
    whole = all(isinstance(end, int) for end in ends)
    return range_of(key, where, float(ends[0]), float(ends[1]), steps, scale == "log", whole)


def _listed(points: Any, place: str) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Read the points of ``[[sweep.points]]``; all of them set the same keys."""
    if not isinstance(points, list) or not all(isinstance(point, dict) and point for point in points):
        raise input_error(
            f"{place}: sweep.points is not a list of tables; expected [[sweep.points]] with keys below it"
        )
    made = tuple(tuple(flatten(point)) for point in points)
    for point in made:
        if [key for key, _ in point] != [key for key, _ in made[0]]:
            raise input_error(f"{place}: the tables of sweep.points set different keys; expected the same keys in each")
    return made


def must_be_usable(base: Experiment, points: Points, files: Mapping[str, str]) -> None:
    """Refuse keys that do not exist and values that no point can use; single unusable points become rows.

    Args:
        base: the experiment.
        points: its points.
        files: where files that values name are.

    Raises:
        InputError: the base cannot be read, or a value is unusable in every point that has it.
    """
    known = keys_known()
    for key in points.keys:
        if key not in known:
            raise input_error(f"--vary {quote(key)}: unknown key; {meant(key, known, 'floatgate schema')}")
    count = len(points)
    numbers = range(count) if count <= _CHECKED_MAX else _spread(count)
    usable: dict[tuple[str, str], bool] = {}
    errors: dict[tuple[str, str], InputError] = {}
    for number in numbers:
        point = points.at(number)
        error = None
        try:
            check(base.with_overrides(placed(point, files)))
        except InputError as found:
            error = found
        for setting in point:
            usable[setting] = usable.get(setting, False) or error is None
            if error is not None:
                errors.setdefault(setting, error)
    drawn = points.sample in ("random", "latin-hypercube")
    for setting, is_usable in usable.items():
        # Each value of a sample stands in one point alone, which may fail for its other values.
        if not is_usable and (not drawn or not any(usable.values())):
            key, value = setting
            message = errors[setting].message
            raise (
                input_error(f"{message} (no point with {key} = {value} can be run)")
                if len(points) > 1
                else errors[setting]
            )


def _spread(count: int) -> list[int]:
    """Return numbers of points all over a large sweep, at steps that share no factor with the usual sizes of axes."""
    step = max(1, count // _CHECKED_MAX) | 1
    return list(range(0, count, step))


def keys_known() -> tuple[str, ...]:
    """Return every dotted key that an experiment may have, from the schema."""
    return tuple(setting_kinds())
