"""The user's cache of fetched traces: a folder per recipe, and a note beside it with the checksums pinned so far."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from floatgate.base import json_in
from floatgate.base.errors import input_error
from floatgate.results.folder import write_text
from floatgate.trace.fetch.checksums import Sums
from floatgate.trace.fetch.recipes import Recipe

SCHEMA = "floatgate.fetched/1"
_SOURCE = "the note of a fetched trace"
_NOTE_BYTES_MAX = 1 << 20


def default_folder() -> Path:
    """Return ``$XDG_CACHE_HOME/floatgate/traces``, below ``~/.cache`` where the variable is no absolute path.

    Raises:
        InputError: the user has no home folder.
    """
    stated = os.environ.get("XDG_CACHE_HOME", "")
    if Path(stated).is_absolute():
        return Path(stated) / "floatgate" / "traces"
    try:
        return Path.home() / ".cache" / "floatgate" / "traces"
    except RuntimeError:
        raise input_error("the user has no home folder; expected --cache DIR, or XDG_CACHE_HOME") from None


@dataclass(frozen=True)
class Pin:
    """The checksum of a file at its first fetch: SHA-256 and length."""

    sha256: str
    bytes: int


@dataclass(frozen=True)
class Validator:
    """What the server said about a file that is half there: resuming needs the same address and the same validator.

    Attributes:
        address: where the part came from, before redirects.
        value: a strong ETag, or else the date of the last change.
    """

    address: str
    value: str


@dataclass
class Note:
    """What the cache remembers of a recipe, also after its files are removed.

    Attributes:
        path: the note itself.
        pins: of the first fetch, by the name of the file.
        parts: validators of files that are half there.
        first: files of this fetch that have no pin yet.
    """

    path: Path
    pins: dict[str, Pin] = field(default_factory=dict)
    parts: dict[str, Validator] = field(default_factory=dict)
    first: dict[str, Pin] = field(default_factory=dict)

    def save(self) -> None:
        """Write it whole or not at all.

        Raises:
            InputError: it cannot be written.
        """
        document = {
            "schema": SCHEMA,
            "pins": {name: {"sha256": pin.sha256, "bytes": pin.bytes} for name, pin in self.pins.items()},
            "parts": {name: {"address": one.address, "validator": one.value} for name, one in self.parts.items()},
        }
        write_text(str(self.path), json.dumps(document, indent=2) + "\n", "a cache that can be written to (--cache)")

    def remember(self, file: str, validator: Validator | None) -> None:
        """Keep the validator of a part, or forget it."""
        before = self.parts.pop(file, None)
        if validator is not None:
            self.parts[file] = validator
        if before != validator:
            self.save()

    def compare(self, file: str, sums: Sums, place: str, remedy: str = "") -> None:
        """Compare a file with its pin; without one, :meth:`pin` will make it.

        Args:
            file: the name in the cache.
            sums: of the file.
            place: what messages call it.
            remedy: what a user may do about another file, beside accepting it.

        Raises:
            InputError: it is another file than at the first fetch.
        """
        known = self.pins.get(file)
        if known is None:
            self.first[file] = Pin(sums.pin, sums.bytes)
        elif known != Pin(sums.pin, sums.bytes):
            what = f"its sha256 is {sums.pin}, and that of your first fetch was {known.sha256}"
            raise input_error(
                f"{place}: {what}; expected the same file{remedy}, or remove {self.path} to accept this one"
            )

    def pin(self) -> bool:
        """Keep the pins of files that had none, now that they have proved readable; return whether any was kept.

        Raises:
            InputError: the note cannot be written.
        """
        if not self.first:
            return False
        self.pins |= self.first
        self.first = {}
        self.save()
        return True


@dataclass(frozen=True)
class Cache:
    """The folder with everything that was fetched."""

    folder: Path

    def place(self, recipe: Recipe, name: str) -> Path:
        """Return where a file of a recipe belongs."""
        return self.folder / recipe.name / name

    def note(self, recipe: Recipe) -> Note:
        """Return what is remembered of a recipe.

        Raises:
            InputError: the note is damaged.
        """
        path = self.folder / f"{recipe.name}.json"
        if not path.exists():
            return Note(path)
        node = json_in.load(path, _SOURCE, _NOTE_BYTES_MAX)
        if node["schema"].text() != SCHEMA:
            raise node["schema"].refusal("is another schema", f"'{SCHEMA}' (remove the file to begin anew)")
        pins = {name: Pin(pin["sha256"].text(), pin["bytes"].whole()) for name, pin in node["pins"].items()}
        parts = {
            name: Validator(part["address"].text(), part["validator"].text()) for name, part in node["parts"].items()
        }
        return Note(path, pins, parts)
