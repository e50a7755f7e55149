"""Checks lines of a journal and answers of an engine.

A journal lies on a disk, and an answer may come from another machine: both can be damaged or forged. Each value must
have the type of its column. Figures that every table has take theirs from :data:`~floatgate.results.flat.CONTRACT`,
settings from the schema of experiments. Other figures are plain values below a table that a run of this version makes.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import Any

from floatgate import _core
from floatgate.base.errors import input_error, quote, quoted
from floatgate.base.json_in import parse
from floatgate.results.flat import CONTRACT, flat
from floatgate.run.experiment import Experiment
from floatgate.run.run import execute
from floatgate.run.setting_keys import setting_schemas
from floatgate.study.runs.work import DONE, FAILED, UNUSABLE

STATUSES = (DONE, FAILED, UNUSABLE)
ENTRY_KEYS = ("run", "status", "error", "set", "figures", "spent")
"""Keys of a line of a journal, all of which each line has."""
LINE = "a line of a sweep's journal"
SPENT: Mapping[str, type] = {"wall_s": float, "cpu_s": float, "peak_rss_bytes": int, "worker": str}
"""Columns that differ between repetitions of a run, with their types."""
REQUIRED: Mapping[str, type] = {"config_hash": str, "version": str, "mode": str, "seed": int}
"""Figures that no result lacks and that are never null."""

PROBE = {
    "drive.capacity": '"4 MiB"',
    "drive.geometry.pages_per_block": "16",
    "ftl.precondition": '"random"',
    "ftl.spare_factor": "0.25",
    "workload.requests": "2000",
    "workload.pattern": '"zipf"',
}
"""Settings of a run of a millisecond. Its result tells which tables results have, and whether two machines agree."""

WrongFigures = Callable[[dict[str, Any]], "str | None"]
"""Called with the figures of a finished run; returns what is wrong and what was expected, or None."""
_HASH = re.compile(r"[0-9a-f]{64}")
_INT_MIN, _INT_MAX = -(2**63), 2**64 - 1
_INT_RANGE = "a whole number from -2^63 on, below 2^64"
_FLOAT_EXACT = 2**53
_KEY_MAX = 200
_NAMES = {float: "a number", int: "a whole number of 0 or more", bool: "true or false", str: "a text"}


def flat_row(
    run: int, settings: Mapping[str, Any], status: str, error: str | None, figures: Mapping[str, Any]
) -> dict[str, Any]:
    """Build the row of a run in the flat table of a study: number, settings, seed, status, error, then its figures."""
    head = {"run": run, **settings}
    head.setdefault("seed", figures.get("seed"))
    head |= {"status": status, "error": error}
    return head | {key: value for key, value in figures.items() if key not in head}


# Lines of a journal


def entry_of(line: bytes, where: str, wrong: WrongFigures | None = None) -> dict[str, Any]:
    """Parse a line of a journal and check it.

    Args:
        line: with its line break.
        where: ``PATH:LINE``, for messages.
        wrong: checks the figures; None where they are the flat row of a result.

    Raises:
        InputError: the line is damaged, or holds what no run gives.
    """
    entry = parse(line, where, LINE, line=True).value
    if not isinstance(entry, dict):
        raise input_error(f"{where}: is not an object; expected {LINE}")
    _must_have_keys(entry, ENTRY_KEYS, where)
    number, settings, figures = entry["run"], entry["set"], entry["figures"]
    if type(number) is not int or number < 0:
        raise input_error(f"{where}: 'run' is {shown(number)}; expected a whole number of 0 or more")
    for name in ("set", "figures", "spent"):
        if not isinstance(entry[name], dict):
            raise input_error(f"{where}: {quote(name)} is {shown(entry[name])}; expected an object")
    what = wrong_outcome(entry["status"], entry["error"], figures) or wrong_settings(settings)
    what = what or (wrong or _wrong_parsed)(figures) or wrong_spent(entry["spent"])
    if what is None and "seed" in figures and settings.get("seed", figures["seed"]) != figures["seed"]:
        what = f"'seed' is {figures['seed']} among the figures; expected {settings['seed']}, as under 'set'"
    if what is not None:
        raise input_error(f"{where}: {what}")
    return entry


def _must_have_keys(entry: Mapping[str, Any], keys: Iterable[str], where: str) -> None:
    missing = [key for key in keys if key not in entry]
    unknown = [key for key in entry if key not in keys]
    if missing:
        raise input_error(f"{where}: has no {quote(missing[0])}; expected {quoted(list(keys))}")
    if unknown:
        raise input_error(f"{where}: has the key {quote(unknown[0])}; expected {quoted(list(keys))}")


# Parts. Each returns what is wrong and what was expected, or None.


def wrong_outcome(status: Any, error: Any, figures: Mapping[str, Any]) -> str | None:
    """Check a status against the error and the figures beside it."""
    if status not in STATUSES:
        return f"'status' is {shown(status)}; expected one of {quoted(list(STATUSES))}"
    if status == DONE:
        if error is not None:
            return f"'error' is {shown(error)} though the run is done; expected null"
        return None if figures else "has no figures though the run is done; expected those of its result"
    if not isinstance(error, str) or not error:
        return f"'error' is {shown(error)} though the run has no result; expected a text"
    return f"has figures though the run is {status}; expected none" if figures else None


def wrong_settings(settings: Mapping[str, Any]) -> str | None:
    """Check that settings are plain values."""
    for key, value in settings.items():
        if _is_too_large(value):
            return f"{quote(key)} is {shown(value)}; expected {_INT_RANGE}"
        if not _is_plain(value) or value is None:
            return f"{quote(key)} is {shown(value)}; expected a number, a text, true or false"
    return None


def wrong_figures(figures: Mapping[str, Any]) -> str | None:
    """Check the flat row of a result; an empty one, of a run without a result, is right."""
    if not figures:
        return None
    what = _wrong_required(figures)
    return what or next((problem for item in figures.items() if (problem := _wrong_figure(*item)) is not None), None)


_right: set[tuple[Any, ...]] = set()
"""Shapes of rows that were checked: a journal has a million rows of a few shapes."""
_RIGHT_MAX = 1000


def _wrong_parsed(figures: dict[str, Any]) -> str | None:
    """Check as :func:`wrong_figures`, for figures that :func:`~floatgate.base.json_in.parse` read and are finite."""
    shape = shape_of(figures)
    if shape is not None and shape in _right:
        return _wrong_required(figures)
    what = wrong_figures(figures)
    if what is None and shape and len(_right) < _RIGHT_MAX:
        _right.add(shape)
    return what


def shape_of(figures: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return keys of a flat row and types of its values; None where the size of a number matters too."""
    values = figures.values()
    if any(type(value) is int and not 0 <= value <= _FLOAT_EXACT for value in values):
        return None
    return (*figures, *map(type, values))


def _wrong_required(figures: Mapping[str, Any]) -> str | None:
    for key, kind in REQUIRED.items():
        if not _is_of(figures.get(key), kind):
            return f"{quote(key)} is {shown(figures.get(key))}; expected {_NAMES[kind]}"
    if not _HASH.fullmatch(figures["config_hash"]):
        return f"'config_hash' is {shown(figures['config_hash'])}; expected 64 hexadecimal digits"
    return None


def _wrong_figure(key: Any, value: Any) -> str | None:
    what, kind, kinds = _column(key) if isinstance(key, str) else _column("")
    if what is not None:
        return what
    if _is_too_large(value):
        return f"{quote(key)} is {shown(value)}; expected {_INT_RANGE}"
    if not _is_plain(value):
        return f"{quote(key)} is {shown(value)}; expected a number, a text, true, false or null"
    if value is None:
        return None
    if kind is not None:
        return None if _is_of(value, kind) else f"{quote(key)} is {shown(value)}; expected {_NAMES[kind]} or null"
    if kinds and kind_name(value) not in kinds:
        return f"{quote(key)} is {shown(value)}; expected {' or '.join(sorted(kinds))}"
    return None


@lru_cache(maxsize=4096)
def _column(key: str) -> tuple[str | None, type | None, frozenset[str]]:
    """Return what is wrong with the name of a figure; its type, or the kinds of values of a setting of that name."""
    if not key or not key.isprintable() or len(key) > _KEY_MAX:
        return f"{shown(key)} does not name a figure; expected one such as waf_bytes", None, frozenset()
    if key.partition(".")[0] not in tables_known():
        what = f"{quote(key)}: no run has such a figure; expected a figure of floatgate {_core.__version__}"
        return what, None, frozenset()
    return None, CONTRACT.get(key), setting_kinds().get(key, frozenset())


def wrong_spent(spent: Mapping[str, Any]) -> str | None:
    """Check time, memory and name of the worker of a run."""
    for key, value in spent.items():
        kind = SPENT.get(key)
        if kind is None:
            return f"'spent' has {quote(key)}; expected {quoted(list(SPENT))}"
        if not _is_of(value, kind) or (kind is not str and value < 0):
            return f"{quote(key)} is {shown(value)}; expected {_NAMES[kind]}"
    return None


def wrong_against(settings: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    """Check settings against those of a plan."""
    for key, value in wanted.items():
        if key not in settings:
            return f"sets no {quote(key)}; expected {shown(value)}, as planned"
        if not same(settings[key], value):
            return f"{quote(key)} is {shown(settings[key])}; expected {shown(value)}, as planned"
    unknown = [key for key in settings if key not in wanted]
    return f"sets {quote(unknown[0])}; expected {quoted(list(wanted))}, as planned" if unknown else None


# Values


def shown(value: Any) -> str:
    """Return a value for an error message: as JSON, cut where it is long."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    try:
        return quote(json.dumps(value)) if isinstance(value, str | dict | list) else quote(repr(value)).strip("'")
    except (TypeError, ValueError, RecursionError):
        return f"a value of type {type(value).__name__}"


def kind_name(value: Any) -> str:
    """Name the kind of a plain value: ``a number``, ``a text``, ``true or false``."""
    if isinstance(value, bool):
        return "true or false"
    return "a text" if isinstance(value, str) else "a number"


def _is_plain(value: Any) -> bool:
    """Return whether a value fits into a cell of a table."""
    if value is None or type(value) in (bool, str):
        return True
    if type(value) is int:
        return not _is_too_large(value)
    return type(value) is float and math.isfinite(value)


def _is_too_large(value: Any) -> bool:
    """Return whether no column of whole numbers has room for a number."""
    return type(value) is int and not _INT_MIN <= value <= _INT_MAX


def _is_of(value: Any, kind: type) -> bool:
    """Return whether a value that is not null fits into a column of this type."""
    if kind is float:
        exact = type(value) is int and abs(value) <= _FLOAT_EXACT
        return exact or (type(value) is float and math.isfinite(value))
    if kind is int:
        return type(value) is int and 0 <= value <= _INT_MAX
    return type(value) is kind


def same(value: Any, wanted: Any) -> bool:
    """Return whether two plain values are equal and of one type: 1 is neither 1.0 nor true."""
    return type(value) is type(wanted) and bool(value == wanted)


# Columns of results


@cache
def probe_result() -> dict[str, Any]:
    """Return the result of the probe run, without what differs from time to time."""
    run = execute(Experiment(overrides=list(PROBE.items())))
    return {key: value for key, value in json.loads(run.result_json).items() if key != "run"}


@cache
def figure_keys() -> frozenset[str]:
    """Return keys of the figures of the probe run, without those of its settings."""
    return frozenset(flat({key: value for key, value in probe_result().items() if key != "config"}))


@cache
def tables_known() -> frozenset[str]:
    """Return names at the top of results and of experiments."""
    settings = (key.partition(".")[0] for key in setting_kinds())
    # A drive that was brought into its first state by a rule says which; other tables are there or null.
    return frozenset((*probe_result(), *settings, "precondition"))


_KINDS = {"integer": "a number", "number": "a number", "boolean": "true or false"}
"""Kinds of values by the name in a JSON Schema; everything else stands as a text in a flat row."""


@cache
def setting_kinds() -> Mapping[str, frozenset[str]]:
    """Return the kinds of values that each key may have, from the schema; empty if it leaves them open."""
    kinds: dict[str, set[str]] = {}
    for key, table in setting_schemas():
        types = table.get("type", ())
        names = {types} if isinstance(types, str) else set(types) - {"null"}
        kinds.setdefault(key, set()).update(_KINDS.get(name, "a text") for name in names)
    return {key: frozenset(one) for key, one in kinds.items()}
