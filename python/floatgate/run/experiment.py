"""Experiments: from a TOML file or text, or a dict, with overrides.

All forms end as the input of the core: the text of a TOML file (or none), the path to name in messages, and a list of
overrides ``("ftl.spare_factor", "0.07")`` whose values are TOML. The core alone knows which keys exist.
"""

from __future__ import annotations

import datetime as dt
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from floatgate.base.errors import input_error, quote
from floatgate.run.sweep_table import split

Settings: TypeAlias = Mapping[str, object]
"""Settings by dotted key, or nested: numbers, texts, bools, dates, lists of them, also NumPy's; None sets nothing."""
ExperimentLike: TypeAlias = "Settings | str | os.PathLike[str] | None"
Overrides: TypeAlias = list[tuple[str, str]]

_BYTES_MAX = 16 << 20
"""Limit of an experiment file; a larger one is something else, and may be endless."""
_DEPTH_MAX = 32
"""Levels of settings within settings; the deepest that there are have four."""
_KEY = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")


@dataclass(frozen=True)
class Experiment:
    """An experiment in the core's form.

    ``toml`` is None without a file, ``path`` is its name in messages, ``overrides`` apply in order.
    ``sweep`` is the content of the file's ``[sweep]`` table, which the text lacks.
    """

    toml: str | None = None
    path: str = ""
    overrides: Overrides = field(default_factory=list)
    sweep: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @classmethod
    def of_text(cls, text: str, path: str) -> Experiment:
        """Parse an experiment from TOML; raises InputError if its ``[sweep]`` cannot be separated from the rest."""
        toml, sweep = split(text, path)
        return cls(toml, path, sweep=sweep)

    def with_overrides(self, more: Overrides) -> Experiment:
        """Return the same experiment with further settings over it; the last one wins."""
        return replace(self, overrides=[*self.overrides, *more])

    def name(self) -> str:
        """Return what to call its run folder: the experiment's stem, else the trace's, else ``run``."""
        if self.path and self.toml is not None:
            return _stem(self.path)
        files = [value for key, value in self.overrides if key == "workload.file"]
        return _stem(files[-1].strip("\"'")) if files else "run"


def _stem(path: str) -> str:
    name = Path(path).name.split(".")[0]
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "run"


def resolve(
    experiment: ExperimentLike = None,
    *,
    trace: str | os.PathLike[str] | None = None,
    format: str | None = None,
    drive: str | None = None,
    set: Settings | None = None,
) -> Experiment:
    """Make an :class:`Experiment` from the arguments of the Python interface.

    Args:
        experiment: a path to a TOML file, TOML text (anything with a line break or an ``=`` in it), a dict of
            settings (nested, or with dotted keys), or None.
        trace: a trace file to take as the workload.
        format: its format; detected automatically where None.
        drive: the name of a drive of the catalogue.
        set: settings laid over everything else, with dotted keys: ``{"ftl.spare_factor": 0.28}``.

    Raises:
        InputError: the file cannot be read, or a key or value is no setting.
    """
    if isinstance(experiment, Mapping):
        settings = {key: value for key, value in experiment.items() if key != "sweep"}
        sweep = experiment.get("sweep", {})
        base = Experiment(overrides=flatten(settings), sweep=sweep if isinstance(sweep, Mapping) else {})
    elif experiment is None:
        base = Experiment()
    elif isinstance(experiment, str) and ("\n" in experiment or "=" in experiment):
        base = Experiment.of_text(experiment, "experiment")
    else:
        base = from_file(os.fspath(experiment))
    shorthand = {"drive.preset": drive, "workload.format": format}
    overrides = trace_overrides(trace) + [
        (key, toml_value(key, value)) for key, value in shorthand.items() if value is not None
    ]
    return base.with_overrides(overrides + flatten(set or {}))


def trace_overrides(trace: str | os.PathLike[str] | None) -> Overrides:
    """Return the settings that make a trace file the workload."""
    if trace is None:
        return []
    file = os.fspath(trace)
    return [("workload.kind", '"trace"'), ("workload.file", toml_value("workload.file", file))]


def from_file(path: str) -> Experiment:
    """Read an experiment file.

    Raises:
        InputError: no such file, a directory, or not UTF-8 (with line and column).
    """
    expected = "expected an experiment file (TOML)"
    try:
        with Path(path).open("rb") as file:
            data = file.read(_BYTES_MAX + 1)
        if len(data) > _BYTES_MAX:
            raise input_error(f"{path}: is larger than {_BYTES_MAX >> 20} MiB; {expected}")
    except FileNotFoundError:
        raise input_error(f"{path}: no such file; {expected}") from None
    except IsADirectoryError:
        raise input_error(f"{path}: is a directory; {expected}") from None
    except (OSError, ValueError) as error:
        raise input_error(f"{path}: {getattr(error, 'strerror', None) or error}; {expected}") from None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = error.start - (before.rfind(b"\n") + 1) + 1
        raise input_error(f"{path}:{line}:{column}: not UTF-8 text; {expected}; a trace goes with --trace") from None
    return Experiment.of_text(text, path)


def flatten(settings: Settings, prefix: str = "", depth: int = 0) -> Overrides:
    """Turn nested settings into dotted overrides, in the order of the dict.

    Raises:
        InputError: a key that is no dotted name, or a value that TOML cannot express.
    """
    _must_be_flat(prefix.rstrip("."), depth)
    overrides: Overrides = []
    for key, value in settings.items():
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise input_error(
                f"setting {quote(f'{prefix}{key}')}: not a dotted key; expected one such as ftl.spare_factor"
            )
        if isinstance(value, Mapping):
            overrides += flatten(value, f"{prefix}{key}.", depth + 1)
        elif value is not None:
            overrides.append((prefix + key, toml_value(prefix + key, value)))
    return overrides


def _must_be_flat(key: str, depth: int) -> None:
    if depth > _DEPTH_MAX:
        what = f"nested more than {_DEPTH_MAX} deep, or within itself"
        raise input_error(f"setting {quote(key)}: {what}; expected settings such as ftl.spare_factor")


def toml_value(key: str, value: Any, depth: int = 0) -> str:
    """Return one value as TOML text.

    Raises:
        InputError: TOML cannot express it.
    """
    _must_be_flat(key, depth)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if value.bit_length() > 64:
            raise input_error(f"setting {quote(key)}: a whole number of more than 64 bits; expected a smaller one")
        return str(int(value))
    if isinstance(value, float):
        return _toml_float(value)
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        return _toml_string(value)
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml_value(key, item, depth + 1) for item in value) + "]"
    if hasattr(value, "tolist"):  # a number or an array of numpy's
        return toml_value(key, value.tolist(), depth + 1)
    raise input_error(
        f"setting {quote(key)}: a value of type {type(value).__name__} cannot be set; "
        "expected a number, string, bool or list"
    )


def _toml_float(value: float) -> str:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    text = repr(float(value))  # not the repr of a NumPy scalar
    return text if any(mark in text for mark in ".e") else f"{text}.0"


def _toml_string(value: str) -> str:
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    plain = (escapes.get(char) or (char if char.isprintable() else f"\\U{ord(char):08X}") for char in value)
    return '"' + "".join(plain) + '"'


def parse_set(text: str, option: str = "--set") -> tuple[str, str]:
    """Split ``a.b=v`` into key and value text. The value is TOML, or a bare string where it is no TOML value.

    Raises:
        InputError: there is no ``=``, or what stands before it is no dotted key.
    """
    key, equals, value = text.partition("=")
    key = key.strip()
    if not equals:
        raise input_error(f"{option} {quote(text)}: no '=' in it; expected KEY=VALUE such as ftl.spare_factor=0.07")
    if not _KEY.fullmatch(key):
        raise input_error(
            f"{option} {quote(text)}: {quote(key)} is not a dotted key; expected one such as ftl.spare_factor"
        )
    return key, value.strip()


def split_values(text: str) -> list[str]:
    """Return the parts of a text between commas; those inside quotes or brackets do not count."""
    parts, depth, quote, start = [], 0, "", 0
    for index, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "[{":
            depth += 1
        elif char in "]}":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]
