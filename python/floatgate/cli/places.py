"""Where commands that describe something write: a report, and a folder of pictures."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from floatgate.base.errors import input_error, one_line
from floatgate.cli import groups as g
from floatgate.cli.output import Output
from floatgate.results.folder import RunFolder, must_be_new_file, write_text
from floatgate.trace.charts import Picture
from floatgate.trace.page import write_pictures

EXPECTED_REPORT = "a file for the report"


@dataclass(frozen=True)
class Drawings(g.Group):
    """A report and pictures as files."""

    report: Annotated[str | None, typer.Option(metavar="FILE", help="Write an HTML report with charts.")] = None
    pictures: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write the charts as SVG and PNG to a folder.")
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Overwrite files; allow a folder that is not empty.")] = False

    @contextlib.contextmanager
    def claimed(self, json: str | None = None) -> Iterator[RunFolder | None]:
        """Refuse places that cannot be used, and claim the folder of the pictures.

        Args:
            json: the file that the command writes its JSON to.

        Raises:
            InputError: a place cannot be written to, or is taken; --force has nothing to overwrite.
        """
        others = [place for place in (self.report, None if json == "-" else json) if place is not None]
        if self.force and self.pictures is None and not others:
            raise input_error("--force: nothing is written; expected it with --report or --pictures")
        if self.report == "-":
            raise input_error("-: a report is not written to standard output; expected the name of a file")
        if self.report is not None:
            must_be_new_file(self.report, EXPECTED_REPORT, force=self.force)
        if self.pictures is None:
            yield None
            return
        folder = RunFolder.named(self.pictures, force=self.force)
        for place in others:
            folder.expect(place)
        with folder:
            yield folder

    def write(
        self, folder: RunFolder | None, page: Callable[[], str], pictures: Callable[[], Sequence[Picture]]
    ) -> None:
        """Write the report and the pictures that were requested."""
        if self.report is not None:
            write_text(self.report, page(), EXPECTED_REPORT)
        if folder is not None:
            drawn = pictures()
            folder.write(lambda staging, _: write_pictures(drawn, staging))

    def say(self, output: Output) -> None:
        """Say where it is."""
        for name, place in (("report", self.report), ("pictures", self.pictures)):
            if place is not None:
                output.say(f"{name:<10} {one_line(place)}")
