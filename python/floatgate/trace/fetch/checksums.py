"""Checksums of files: those that owners publish, and those that the first fetch pins."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from floatgate.base import interruption
from floatgate.base.errors import input_error
from floatgate.trace.fetch.recipes import Recipe

Progress = Callable[[int, "int | None", str], None]
PINNED = "sha256"
_PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class Sums:
    """What a file holds: its length in bytes and hexadecimal digits by algorithm."""

    bytes: int
    digits: dict[str, str]

    @property
    def pin(self) -> str:
        """The checksum that the cache pins."""
        return self.digits[PINNED]


def sums(path: Path, recipe: Recipe, progress: Progress | None = None) -> Sums:
    """Read a file once and return its checksums: SHA-256 and that of the recipe.

    Raises:
        InputError: the file cannot be read.
    """
    names = {PINNED, *([recipe.checksum.partition(":")[0]] if recipe.checksum else [])}
    hashes = {name: hashlib.new(name, usedforsecurity=False) for name in names}
    done = 0
    try:
        with path.open("rb") as file:
            total = os.fstat(file.fileno()).st_size
            while piece := file.read(_PIECE_BYTES):
                interruption.check()
                for one in hashes.values():
                    one.update(piece)
                done += len(piece)
                if progress is not None:
                    progress(done, total, "checking")
    except OSError as error:
        raise input_error(f"{path}: {error.strerror}; expected {recipe.file} of {recipe.name}") from None
    return Sums(done, {name: one.hexdigest() for name, one in hashes.items()})


def must_be_the_owners(place: str, sums: Sums, recipe: Recipe, remedy: str = "") -> None:
    """Refuse a file whose length or checksum is not the one that its owner publishes.

    Args:
        place: what messages call the file.
        sums: of the file.
        recipe: its recipe.
        remedy: what a user may do about another file.

    Raises:
        InputError: it is another file, or damaged.
    """
    expected = f"expected {recipe.file} of {recipe.name}, as {recipe.page} publishes it{remedy}"
    if recipe.bytes is not None and sums.bytes != recipe.bytes:
        raise input_error(f"{place}: has {sums.bytes} bytes, not {recipe.bytes}; {expected}")
    if recipe.checksum is not None:
        name, _, digits = recipe.checksum.partition(":")
        if sums.digits[name] != digits:
            raise input_error(f"{place}: its {name} is {sums.digits[name]}, not {digits}; {expected}")
