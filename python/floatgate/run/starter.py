"""A first experiment: TOML with the settings of a user, and beside them, as comments, the keys worth knowing."""

from __future__ import annotations

import os
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from floatgate.base.errors import input_error, one_line, printable
from floatgate.run.experiment import Experiment, Overrides, toml_value
from floatgate.run.run import check
from floatgate.run.setting_keys import leaf_schemas

SHOWN: dict[str, tuple[str, ...]] = {
    "": ("seed", "mode"),
    "drive": ("preset", "capacity", "plp"),
    "drive.endurance": ("pe_cycles",),
    "drive.buffer": ("capacity",),
    "ftl": ("spare_factor", "precondition"),
    "ftl.collect": ("policy", "scope", "stop_free_blocks"),
    "ftl.separate": ("policy",),
    "ftl.level": ("policy",),
    "ftl.reclaim": ("policy",),
    "lifetime.throttle": ("policy", "target_years"),
    "lifetime.reduce": ("policy",),
    "workload": (
        *("kind", "file", "format", "twin", "pattern", "requests", "request_bytes", "read_share", "rate_per_s"),
        *("warmup_requests", "warmup_passes", "repeat", "beyond"),
    ),
}
"""Tables and keys in the order of the file; other keys follow where they are set."""
EXAMPLES = {"drive.capacity": '"64 GiB"', "workload.rate_per_s": "1000.0"}
"""Values of keys without a default."""
PATHS = ("workload.file", "workload.twin", "workload.columns", "ftl.snapshot")
"""Keys that may name a file, relative to the experiment."""
NOTES = {
    "ftl.collect.stop_free_blocks": "above the trigger, it frees several blocks at a time; at the trigger (one block "
    "without separation, else two), one victim at a time, as textbook greedy does. Comparisons of separators depend on "
    "it (docs/separation.md)",
}
"""What a user should know about a key besides its meaning."""
NAMES_MAX = 9
"""Names of a key that are listed; catalogues list more."""
WIDTH = 110

Settings = dict[str, str]


def text_of(overrides: Overrides, place: str, command: str) -> str:
    """Return the text of an experiment file.

    Args:
        overrides: the settings; the last of a key wins.
        place: the path of the file.
        command: that writes it, for its head.

    Raises:
        InputError: the settings are no experiment.
    """
    resolved = _flat(tomllib.loads(check(Experiment(overrides=overrides))))
    settings = {key: _literal(key, value) for key, value in overrides}
    for key in PATHS:
        if key in settings:
            settings[key] = _beside(key, settings[key], Path(place).parent)
    blocks = [_head(place, command), *_tables(settings, resolved)]
    text = "\n\n".join(blocks) + "\n"
    check(Experiment(text, place))
    return text


def must_fit(overrides: Overrides, ends_bytes: Sequence[int]) -> None:
    """Refuse a trace that addresses more than the drive has, unless its addresses are wrapped or scaled.

    Args:
        overrides: the settings.
        ends_bytes: the end of the addresses of each device of the trace.

    Raises:
        InputError: it does not fit.
    """
    resolved = _flat(tomllib.loads(check(Experiment(overrides=overrides))))
    if resolved.get("workload.beyond") != "refuse":
        return
    pages = 1
    for key, value in resolved.items():
        if key.startswith("drive.geometry.") and not key.endswith("page_bytes"):
            pages *= int(value)
    needed_bytes = max(ends_bytes, default=0) if resolved["workload.devices"] == "fold" else sum(ends_bytes)
    visible = pages * int(resolved["drive.geometry.page_bytes"]) * (1 - float(resolved["ftl.spare_factor"]))
    if needed_bytes > visible:
        raise input_error(
            f"the trace has addresses up to {needed_bytes} bytes, and the drive shows {visible:.0f} bytes; "
            "expected a larger drive (--drive, --capacity), or --beyond wrap or scale"
        )


def names_of(key: str) -> list[str]:
    """Return the names that a key takes."""
    return [str(name) for name in leaf_schemas()[key].get("enum", ())]


def _head(place: str, command: str) -> str:
    """Return the comment at the head of the file, with the commands that take it."""
    name = printable(one_line(place))
    about = (
        "A line such as '# seed = 1' shows a default: remove the '# ' to change it. 'floatgate check' prints all "
        "settings, docs/settings.md explains all keys, and 'floatgate drives' and 'floatgate policies' list names."
    )
    return "\n".join(
        [
            *_comment(f"An experiment of floatgate, written by: {printable(one_line(command))}"),
            "#",
            f"#   floatgate check {name}      print all settings",
            f"#   floatgate run {name}        simulate it and write a report",
            f"#   floatgate lifetime {name}   forecast years of life",
            "#",
            *_comment(about),
        ]
    )


def _tables(settings: Settings, resolved: Mapping[str, Any]) -> Iterator[str]:
    """Yield the tables with their keys, each below a comment."""
    about = leaf_schemas()
    tables = {table: list(keys) for table, keys in SHOWN.items()}
    for key in settings:
        table, _, name = key.rpartition(".")
        keys = tables.setdefault(table, [])
        if name not in keys:
            keys.append(name)
    for table, keys in tables.items():
        lines = [f"[{table}]"] if table else []
        for name in keys:
            key = f"{table}.{name}" if table else name
            lines += _key(key, name, about.get(key, {}), settings, resolved)
        if len(lines) > bool(table):
            yield "\n".join(lines)


def _key(key: str, name: str, schema: Mapping[str, Any], settings: Settings, resolved: Mapping[str, Any]) -> list[str]:
    """Return the lines of a key: what it is, then its value, as a comment where it is the default."""
    text, _, rest = str(schema.get("description", "")).partition("; default")
    names = [str(one) for one in schema.get("enum", ())]
    if 1 < len(names) <= NAMES_MAX and not all(one in text for one in names):
        text += f": {', '.join(names)}"
    elif len(names) > NAMES_MAX and "floatgate" not in text:
        text += f": one of {len(names)} names (floatgate {'policies' if name == 'policy' else 'schema'})"
    if key in NOTES:
        text += f"; {NOTES[key]}"
    if key in settings:
        return [*_comment(text), f"{name} = {settings[key]}"]
    if key in resolved:
        return [*_comment(text), f"# {name} = {toml_value(key, resolved[key])}"]
    applies = key != "workload.rate_per_s" or resolved.get("workload.kind") == "synthetic"
    if key in EXAMPLES and applies:
        default = rest.strip(": .").partition(";")[0]
        return [*_comment(f"{text}; default: {default}; for example"), f"#   {name} = {EXAMPLES[key]}"]
    return []


def _comment(text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent="# ", subsequent_indent="#   ", break_long_words=False, break_on_hyphens=False
    )


def _flat(document: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the keys of a document as dotted names."""
    values: dict[str, Any] = {}
    for key, value in document.items():
        if isinstance(value, Mapping):
            values |= _flat(value, f"{prefix}{key}.")
        else:
            values[prefix + key] = value
    return values


def _literal(key: str, value: str) -> str:
    """Return a value as TOML: as it is, or as a string where it is a bare word."""
    try:
        parsed = tomllib.loads(f"value = {value}")
    except tomllib.TOMLDecodeError:
        return toml_value(key, value)
    return value if list(parsed) == ["value"] else toml_value(key, value)


def _beside(key: str, value: str, folder: Path) -> str:
    """Return the path of a file relative to the folder of the experiment; other values stay."""
    path = tomllib.loads(f"value = {value}")["value"]
    if not isinstance(path, str) or Path(path).is_absolute() or not Path(path).is_file():
        return value
    return toml_value(key, os.path.relpath(path, folder))
