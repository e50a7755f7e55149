"""Files that an experiment reads: hashes of their content, and their places in its resolved text."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from floatgate.base.errors import input_error
from floatgate.results.result_view import look

FILE_KEYS = ("workload.file", "ftl.snapshot")
"""Keys whose values are files."""


def names_file(key: str, value: str) -> bool:
    """Return whether a setting (its value as TOML) names a file: trace, drive, or a twin outside the catalogue."""
    path = value.strip("\"'")
    return key in FILE_KEYS or (key == "workload.twin" and (path.endswith(".toml") or "/" in path))


def content_of(path: str) -> str:
    """Return what a file holds, as a hash (BLAKE2b, 160 bits).

    Raises:
        InputError: it cannot be read.
    """
    digest = hashlib.blake2b(digest_size=20)
    try:
        with Path(path).open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise input_error(f"{path}: {reason}; expected a file that can be read") from None
    return digest.hexdigest()


def paths_in(toml: str) -> list[str]:
    """Return the files that a resolved experiment reads."""
    resolved = tomllib.loads(toml)
    paths = (look(resolved, *key.split(".")) for key in FILE_KEYS)
    return [path for path in paths if path is not None]


def with_paths(toml: str, places: Mapping[str, str]) -> str:
    """Return a resolved experiment that reads its files from elsewhere.

    Args:
        toml: as the core resolves it: one key a line, below the header of its table.
        places: path -> where it is now.
    """
    table, lines = "", []
    for line in toml.split("\n"):
        header = re.fullmatch(r"\[([\w.]+)\]", line)
        table = header[1] if header else table
        name = line.partition(" = ")[0]
        if f"{table}.{name}" in FILE_KEYS:
            path = tomllib.loads(line)[name]
            lines.append(f"{name} = {json.dumps(places.get(path, path), ensure_ascii=False)}")
        else:
            lines.append(line)
    return "\n".join(lines)
