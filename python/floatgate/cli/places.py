"""Where commands write pictures, and where those that describe something write a report."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated

import typer

from floatgate.base.errors import InterruptedRunError, input_error, one_line
from floatgate.cli import groups as g
from floatgate.cli.output import Output
from floatgate.pages.parts import pictures_of
from floatgate.pages.pictures import Style, write
from floatgate.results.folder import RunFolder, must_be_new_file, write_text

EXPECTED_REPORT = "a file for the report"
PICTURES = ("pictures", "picture_width", "picture_font", "picture_palette")
"""Parameters of a command that its pictures have."""


@dataclass(frozen=True)
class Pictures(g.Group):
    """The figures of a report as files."""

    pictures: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Write each figure as SVG, PNG and PDF to a folder, with its data as CSV and captions."
        ),
    ] = None
    picture_width: Annotated[
        str | None, typer.Option(metavar="WIDTH", help="Their width, such as 85mm or 640px. Default: 560px, as 148mm.")
    ] = None
    picture_font: Annotated[
        str | None,
        typer.Option(
            metavar="FONT", help="Their font, such as serif or the name of an installed one (fc-list : family)."
        ),
    ] = None
    picture_palette: Annotated[
        str | None, typer.Option(metavar="colour|grey", help="Their colours. Default: colour.")
    ] = None

    def checked(self, out: str | None = None, *, force: bool = False) -> Files | None:
        """Return the folder of the pictures and their look; None without one.

        Args:
            out: the folder of the results.
            force: whether the folder may have files.

        Raises:
            InputError: an option is unusable, or belongs to pictures that are not written.
        """
        look = [(name, value) for name in PICTURES[1:] if (value := getattr(self, name)) is not None]
        if self.pictures is None:
            if look:
                option = look[0][0].replace("_", "-")
                raise input_error(f"--{option}: no pictures are written; expected it with --pictures DIR")
            return None
        if not self.pictures:
            raise input_error("--pictures: an empty path; expected a folder")
        if out is not None and os.path.realpath(out) == os.path.realpath(self.pictures):
            what = f"{self.pictures} is the folder of --out"
            raise input_error(f"--pictures: {what}; expected another folder, which may be in that one")
        style = Style.of(self.picture_width, self.picture_font, self.picture_palette)
        return Files(RunFolder.named(self.pictures, force=force), style)


@dataclass(frozen=True)
class Files:
    """A folder of pictures: where it is and how they look."""

    folder: RunFolder
    style: Style

    def write(self, page: Callable[[], str]) -> None:
        """Write the pictures of a page.

        Raises:
            InputError: the folder cannot be written to, or is no longer free.
            InterruptedRunError: after Ctrl-C; the folder is as it was.
        """
        try:
            listed = pictures_of(page)
            self.folder.write(lambda staging, _: write(listed, staging, self.style))
        except KeyboardInterrupt:
            what = f"interrupted while the pictures were drawn; {self.folder.path} was not written"
            raise InterruptedRunError(f"{what}, other results are complete") from None

    def line(self) -> str:
        """Return the last line of a summary."""
        return f"{'pictures':<10} {one_line(self.folder.path)}"


@dataclass(frozen=True)
class Drawings(Pictures):
    """A report and pictures as files."""

    report: Annotated[str | None, typer.Option(metavar="FILE", help="Write an HTML report with charts.")] = None
    force: Annotated[bool, typer.Option("--force", help="Overwrite files; allow a folder that is not empty.")] = False

    @contextlib.contextmanager
    def claimed(self, json: str | None = None) -> Iterator[Files | None]:
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
        files = self.checked(force=self.force)
        if files is None:
            yield None
            return
        for place in others:
            files.folder.expect(place)
        with files.folder:
            yield files

    def write(self, files: Files | None, page: Callable[[], str]) -> None:
        """Write the report and the pictures that were requested."""
        if self.report is not None:
            write_text(self.report, page(), EXPECTED_REPORT)
        if files is not None:
            files.write(page)

    def say(self, output: Output) -> None:
        """Say where it is."""
        for name, place in (("report", self.report), ("pictures", self.pictures)):
            if place is not None:
                output.say(f"{name:<10} {one_line(place)}")
