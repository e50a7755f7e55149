"""Options of ``floatgate live``: how the drive is served, and how it is watched."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from floatgate.base.errors import input_error, quote
from floatgate.cli import groups as g
from floatgate.cli import options as o

if TYPE_CHECKING:
    from floatgate.live.drive import Options


@dataclass(frozen=True)
class Serving(g.Group):
    """How a live drive is served."""

    delay: Annotated[
        bool, typer.Option("--delay", help="Replies leave when the simulated drive is done (mode = timed only).")
    ] = False
    socket: Annotated[
        str | None, typer.Option(metavar="PATH", help="Socket on which clients connect. Default: DIR/socket.")
    ] = None
    exports: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Ranges of the drive with a name, a size and a placement handle, such as data=rest:0,wal=2GiB:1.",
        ),
    ] = None
    cache: Annotated[
        str,
        typer.Option(
            metavar="safe|volatile",
            help="safe: writes go to the file at once. volatile: a kill loses a random half of what was not flushed, "
            "as a power cut does.",
        ),
    ] = "safe"
    journal_max: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Drop the oldest packed parts of the journal beyond this size, such as 10GiB."
        ),
    ] = None
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="Take clients over TCP, too, such as 127.0.0.1:10809; NBD has no password."
        ),
    ] = None
    insecure: Annotated[bool, typer.Option("--insecure", help="--listen may be reached from other machines.")] = False

    def options(self, folder: Path, *, pins: bool) -> Options:
        """Return them as the drive takes them.

        Args:
            folder: of the drive.
            pins: whether the Ready/Busy pins are watched.

        Raises:
            InputError: an option that is unusable.
        """
        from floatgate.live import exports
        from floatgate.live.drive import Options

        if self.insecure and self.listen is None:
            raise input_error("--insecure: says nothing without --listen; expected --listen HOST:PORT beside it")
        return Options(
            folder,
            None if self.socket is None else Path(self.socket),
            tuple(exports.parsed(self.exports)),
            volatile=one_of("--cache", self.cache, ("safe", "volatile")) == "volatile",
            journal_bytes_max=o.size_bytes(self.journal_max, "--journal-max"),
            listen=self.listen,
            insecure=self.insecure,
            delay=self.delay,
            pins=pins,
        )


@dataclass(frozen=True)
class Board(g.Group):
    """The dashboard of a live drive."""

    dashboard: Annotated[
        int | None,
        typer.Option(
            "--dashboard",
            metavar="[PORT]",
            min=0,
            max=65535,
            help="Serve a page to watch the drive, on this machine only; --dashboard=PORT chooses the port.",
        ),
    ] = None
    dashboard_read_only: Annotated[
        bool, typer.Option("--dashboard-read-only", help="The page has no power cut and no comparison of policies.")
    ] = False

    def is_wanted(self) -> bool:
        """Return whether there is to be one.

        Raises:
            InputError: it is to be read only, and there is to be none.
        """
        if self.dashboard_read_only and self.dashboard is None:
            raise input_error("--dashboard-read-only: there is no dashboard; expected --dashboard beside it")
        return self.dashboard is not None


def one_of(option: str, value: str, values: tuple[str, ...]) -> str:
    """Return a value that must be one of a few.

    Args:
        option: that has it.
        value: as it was written.
        values: those that there are.

    Raises:
        InputError: it is another one.
    """
    if value not in values:
        raise input_error(f"{option}: {quote(value)} is unknown; expected {' or '.join(values)}")
    return value
