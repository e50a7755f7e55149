"""A resolved experiment over a drive of the catalogue reads back as itself, whatever was set beside the drive.

It names the drive, whose keys lie below it. A key that the drive sets and the experiment has without effect must not
come back.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from floatgate import _core
from floatgate.base.errors import FloatgateError

SCHEMA: dict[str, Any] = json.loads(_core.schema())
DRIVES = [entry["name"] for entry in json.loads(_core.catalogue())["drives"]]
CASES = 150
"""Draws for each drive; those that are refused count too."""


def _resolved(node: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        node = SCHEMA["$defs"][name]
    return node


def _rows(node: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, value in _resolved(node)["properties"].items():
        row = _resolved(value)
        if "properties" in row:
            yield from _rows(row, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", row


ROWS = [row for row in _rows(SCHEMA) if row[0] not in ("drive.preset", "policies", "workload.file", "ftl.snapshot")]


def _value(rng: random.Random, row: dict[str, Any]) -> str:
    """Draws a value of a key; many are refused."""
    if "enum" in row:
        return json.dumps(rng.choice(row["enum"]))
    types = row.get("type", "string")
    kind = rng.choice(types) if isinstance(types, list) else types
    if kind == "boolean":
        return rng.choice(["true", "false"])
    if kind == "integer":
        return str(row.get("minimum", 0) + rng.choice([0, 1, 8]))
    if kind == "number":
        return rng.choice(["0.0", "0.5", "100.0"])
    if kind == "array":
        return rng.choice(["[500.0]", "[100.0, 200.0]"])
    return rng.choice(['"0 B"', '"64 MiB"', '"64 GiB"'])


def _again(overrides: list[tuple[str, str]]) -> bool:
    """Checks that an experiment, if it is one, reads back as itself; returns whether it is one."""
    try:
        text = _core.check(None, "", overrides)
    except FloatgateError:
        return False
    assert _core.check(text, "experiment.toml", []) == text, overrides
    return True


@pytest.mark.parametrize("drive", DRIVES)
def test_a_resolved_experiment_reads_back_as_itself(drive: str) -> None:
    rng = random.Random(drive)
    tables: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for row in ROWS:
        tables.setdefault(row[0].rpartition(".")[0], []).append(row)
    accepted = 0
    for _ in range(CASES):
        mode = rng.choice(["functional", "timed"])
        # Keys of one table depend on each other most.
        rows = rng.choice([ROWS, rng.choice(list(tables.values()))])
        drawn = [rng.choice(rows) for _ in range(rng.randint(1, 3))]
        settings = [(key, _value(rng, row)) for key, row in drawn if key != "mode"]
        accepted += _again([("drive.preset", drive), ("mode", mode), *settings])
    assert accepted > CASES / 10


@pytest.mark.parametrize("mode", ["functional", "timed"])
@pytest.mark.parametrize("drive", ["ssd-v", "ssd-i", "ssd-m", "ssd-s"])
@pytest.mark.parametrize("more", [[], [("drive.buffer.read_cache", "false")]])
def test_the_buffer_of_a_drive_can_be_taken_away(drive: str, mode: str, more: list[tuple[str, str]]) -> None:
    over = [("drive.preset", drive), ("mode", mode), ("drive.buffer.capacity", "0 B"), *more]
    assert _again(over)
    assert 'capacity = "0 B"' in _core.check(None, "", over)


def test_a_file_takes_the_buffer_away_in_bytes() -> None:
    text = _core.check('[drive]\npreset = "ssd-v"\n[drive.buffer]\ncapacity = 0\n', "e.toml", [])
    assert 'capacity = "0 B"' in text
    assert "read_cache" not in text


def test_what_is_set_beside_no_buffer_is_still_refused() -> None:
    for over in (
        [("drive.buffer.capacity", "0 B"), ("drive.buffer.read_cache", "true")],
        [("drive.buffer.read_cache", "true"), ("drive.buffer.capacity", "0")],
    ):
        with pytest.raises(FloatgateError, match="read_cache has no effect without a buffer"):
            _core.check(None, "", [("drive.preset", "ssd-v"), *over])
    with pytest.raises(FloatgateError, match="read_cache has no effect without a buffer"):
        _core.check("[drive.buffer]\ncapacity = 0\nread_cache = true\n", "e.toml", [("drive.preset", "ssd-v")])
