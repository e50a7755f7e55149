"""A study that keeps the figures of its runs: its plan, its journal and its table, in its folder."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from floatgate.results.folder import write_text
from floatgate.study.runs.journal import FILE, TABLE, Journal, Wrong

WRITABLE = "a folder that can be written to"


class Journaled:
    """A sweep or a search in its folder.

    Attributes:
        files: that it writes while it runs, the one with its plan first.
        folder: where it is.
        journal: the outcomes of its runs.
    """

    files: ClassVar[tuple[str, ...]]

    def __init__(self, folder: Path, keys: Sequence[str], wrong: Wrong, *, read_only: bool = False) -> None:
        """Open the journal of runs over some keys, which ``wrong`` compares with the plan."""
        self.folder = folder
        self.journal = Journal(folder / FILE, list(keys), wrong, read_only=read_only)

    @classmethod
    def write_plan(cls, folder: Path, plan: Mapping[str, Any]) -> None:
        """Write the plan; raises InputError where the folder cannot be written to."""
        write_text(str(folder / cls.files[0]), json.dumps(plan, indent=2, ensure_ascii=False) + "\n", WRITABLE)

    @classmethod
    def remove(cls, folder: Path) -> None:
        """Remove what such a study has left in a folder."""
        for name in cls.files:
            (folder / name).unlink(missing_ok=True)

    @property
    def table(self) -> Path:
        """Where the flat table is."""
        return self.folder / TABLE

    @contextlib.contextmanager
    def leaving_table(self) -> Iterator[None]:
        """Write the table at the end, also of a study that is stopped."""
        try:
            yield
        finally:
            if len(self.journal):
                self.journal.write_table(self.table)

    def clear(self) -> None:
        """Remove the files, if no run has ended."""
        self.close()
        self.remove(self.folder)

    def close(self) -> None:
        """Close the files; once is enough."""
        self.journal.close()
