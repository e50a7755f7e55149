"""The metadata of a Parquet trace: the JSON under its key ``floatgate`` (docs/convert.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.base.json_in import parse
from floatgate.results import shapes

KEY = b"floatgate"
"""The file's key under which contexts, files and processes are described."""


def described(metadata: Mapping[bytes, bytes] | None, name: object) -> dict[str, Any]:
    """Read the description in the metadata of a trace; empty without such a key.

    Args:
        metadata: of the file or of its schema.
        name: what messages call the file.

    Raises:
        InputError: the metadata is damaged.
    """
    raw = (metadata or {}).get(KEY)
    if not raw:
        return {}
    node = parse(raw, f"{name}: metadata 'floatgate'", "the description of a trace as floatgate writes it")
    shapes.check(node, "trace")
    return node.table()
