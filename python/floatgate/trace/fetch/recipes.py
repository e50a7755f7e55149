"""Recipes: where public traces are, who owns them, and which file of them floatgate reads."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from floatgate.base.errors import input_error, meant, quote

NOT_STATED = "not stated"
SCHEMES = ("http", "https")
ALGORITHMS = {"md5": 32, "sha1": 40, "sha256": 64, "sha512": 128}
"""Algorithms of published checksums, with their hexadecimal digits."""
COMPRESSED = (".gz", ".bz2", ".xz")
"""Extensions of files that are unpacked before lines are counted."""
_ARCHIVES = (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".zip")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*", re.ASCII)


@dataclass(frozen=True)
class Recipe:
    """One public trace; ``recipes.toml`` explains the fields.

    Attributes:
        bytes: of the file, where the owner states them exactly.
        most_bytes: largest download, and largest trace that is unpacked.
    """

    name: str
    summary: str
    owner: str
    page: str
    verified: bool
    how: str
    terms: str
    size: str
    file: str
    most_bytes: int
    citation: str
    address: str | None = None
    bytes: int | None = None
    checksum: str | None = None
    member: str | None = None
    trace: str | None = None
    lines: int | None = None
    format: str | None = None

    @property
    def is_archive(self) -> bool:
        """Whether the trace is a member of an archive."""
        return self.file.endswith(_ARCHIVES)

    @property
    def way(self) -> str:
        """How a user gets the file, for the list."""
        if self.address is None:
            return "by hand"
        return "download" if self.verified else "download, unverified"

    def trace_name(self, member: str | None = None) -> str:
        """Return the name of the trace in the cache: the file, or ``member`` of it, or its first lines."""
        if self.trace is not None and member is None:
            return self.trace
        name = (member or self.member or self.file).rpartition("/")[2]
        if self.lines is None:
            return name
        plain = next((name.removesuffix(end) for end in COMPRESSED if name.endswith(end)), name)
        stem, dot, extension = plain.rpartition(".")
        return f"{stem}.first{self.lines}{dot}{extension}" if stem else f"{plain}.first{self.lines}"

    def command(self, path: str) -> list[str]:
        """Return the command that uses the trace at ``path``, word by word."""
        if self.format is None:
            return ["floatgate", "counters", path]
        return ["floatgate", "run", "--trace", path, "--format", self.format]


@cache
def recipes() -> Mapping[str, Recipe]:
    """Return all recipes by name, in the order of the file."""
    text = resources.files(__package__ or "").joinpath("recipes.toml").read_text("utf-8")
    tables: dict[str, dict[str, Any]] = tomllib.loads(text)
    return {name: Recipe(name=name, **table) for name, table in tables.items()}


def recipe(name: str) -> Recipe:
    """Return the recipe of that name.

    Raises:
        InputError: the name is unknown.
    """
    known = recipes()
    if name not in known:
        raise input_error(f"unknown trace {quote(name)}; {meant(name, known, 'floatgate fetch')}")
    return known[name]


def is_plain_name(name: str) -> bool:
    """Return whether a name is that of a file within a folder: no path, nothing hidden, plain characters."""
    return _PLAIN_NAME.fullmatch(name) is not None
