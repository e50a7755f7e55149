"""The interface of a kind of results: its runs as rows, its line in a list, its report."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floatgate.report.sections import lifetime_headline
from floatgate.report.sections.amplification import amplification
from floatgate.results import shapes
from floatgate.results.flat import flat, plain
from floatgate.run.run import read_text

Document = Mapping[str, Any]
Row = dict[str, Any]


@dataclass(frozen=True)
class Overview:
    """One line about a folder: its content, its write amplification and its life, each as text."""

    what: str
    waf: str = ""
    life: str = ""


@dataclass(frozen=True)
class Kind:
    """A kind of results.

    Attributes:
        name: of the kind and of its document in ``results/shapes``.
        overview: the line of a list, from the folder and its document.
        report: the report of the folder as HTML, likewise.
        rows: a flat row for each run, from the document; None where the folder has a table of its runs.
        most_bytes: the most that the document may have.
    """

    name: str
    overview: Callable[[Path, Document], Overview]
    report: Callable[[Path, Document], str]
    rows: Callable[[Document], Iterable[Row]] | None = None
    most_bytes: int = 1 << 30

    @property
    def file(self) -> str:
        """The file that a folder of this kind has."""
        return shapes.DOCUMENTS[self.name].file


@dataclass(frozen=True)
class Folder:
    """A folder of results: its kind and its path."""

    kind: Kind
    path: Path

    @contextlib.contextmanager
    def document(self) -> Iterator[Document]:
        """Open its JSON document. An error in a block that uses it names the place in the document.

        Raises:
            InputError: it cannot be read, or has no such content.
        """
        node = shapes.read(self.path / self.kind.file, self.kind.name, self.kind.most_bytes)
        with shapes.consuming(self.kind.name, node):
            yield node.value

    def report(self) -> str:
        """Return its report as HTML.

        Raises:
            InputError: it cannot be read.
        """
        with self.document() as content:
            return self.kind.report(self.path, content)


def experiment_of(folder: Path) -> str:
    """Return the resolved experiment of a folder."""
    return read_text(folder / "experiment.toml")


def row_of(settings: Mapping[str, str], result: Document | None, error: str | None) -> Row:
    """Return the flat row of one run among others: with its settings, and an error where it has no result."""
    laid = {key: plain(value) for key, value in settings.items()}
    return {"status": "done" if result is not None else "failed", "error": error, **flat(result or {}), **laid}


def overview_of(what: str, results: Iterable[Document | None]) -> Overview:
    """Return one line about several runs: their kind, how many failed, their write amplification and lives."""
    each = list(results)
    known = [result for result in each if result is not None]
    failed = f", {len(each) - len(known)} failed" if len(known) < len(each) else ""
    return Overview(f"{what}{failed}", wafs_of(known), lives_of(known))


def wafs_of(results: Iterable[Document]) -> str:
    """Format as ``1.20 to 2.59``: write amplification of several results."""
    return span([f"{waf:.2f}" for waf in sorted(waf for waf, _ in map(amplification, results) if waf is not None)])


def lives_of(results: Iterable[Document]) -> str:
    """Format as ``3.0 years to 4.1 years``: lives of several runs by one definition, in one unit."""
    return span(lifetime_headline.in_order(list(results)))


def span(texts: list[str]) -> str:
    """Return the first text to the last; one where they are alike, empty without texts."""
    return " to ".join(dict.fromkeys([texts[0], texts[-1]])) if texts else ""
