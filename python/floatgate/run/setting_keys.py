"""The keys of experiments, from the schema of the core."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from floatgate import _core


def setting_schemas() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield dotted keys of an experiment with their schemas; a key recurs if several policies have it."""
    schema = json.loads(_core.schema())

    def walk(table: Mapping[str, Any], key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        if key:
            yield key, table
        if isinstance(reference := table.get("$ref"), str):
            target: Any = schema
            for part in reference.removeprefix("#/").split("/"):
                target = target[part]
            yield from walk(target, key)
        for option in (*table.get("anyOf", ()), *table.get("oneOf", ()), *table.get("allOf", ())):
            yield from walk(option, key)
        for name, inner in table.get("properties", {}).items():
            yield from walk(inner, f"{key}.{name}" if key else name)

    yield from walk(schema, "")


def leaf_schemas() -> dict[str, Mapping[str, Any]]:
    """Return the keys that hold a value, each with its schema."""
    leaves: dict[str, Mapping[str, Any]] = {}
    for key, table in setting_schemas():
        if "type" in table and "properties" not in table:
            leaves.setdefault(key, table)
    return leaves
