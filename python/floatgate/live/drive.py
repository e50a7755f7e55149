"""A live drive in a folder: opened, watched, stopped."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from floatgate import _core
from floatgate.live.exports import Export
from floatgate.run.experiment import Experiment
from floatgate.run.run import Run

SOCKET = "socket"
"""Name of the socket in the folder."""
VOLATILE_SEED = 1
SOCKET_PATH_MAX = 107
"""Longest path of a socket that the kernel takes."""


@dataclass(frozen=True)
class Options:
    """How a drive is served.

    Attributes:
        folder: of its files.
        socket: path; None for one in the folder.
        exports: of the drive; none for the whole drive as one.
        volatile: whether unflushed writes lie in a cache that a kill loses.
        journal_bytes_max: limit of the journal's packed parts; None without one.
    """

    folder: Path
    socket: Path | None = None
    exports: tuple[Export, ...] = ()
    volatile: bool = False
    journal_bytes_max: int | None = None

    @property
    def socket_path(self) -> Path:
        """Where clients connect."""
        return self.socket if self.socket is not None else self.folder / SOCKET


class LiveDrive:
    """A drive that serves clients until it is stopped; leaving a ``with`` block stops it."""

    def __init__(self, experiment: Experiment, options: Options) -> None:
        """Open the drive of a folder, new or as it was left, and serve it.

        Args:
            experiment: its settings.
            options: where and how it is served.

        Raises:
            InputError: settings that a live drive cannot have; a folder, files or a socket that cannot be used.
        """
        self.options = options
        self._core = _core.LiveDrive(
            experiment.toml,
            experiment.path,
            experiment.overrides,
            options.folder,
            options.socket_path,
            list(options.exports),
            VOLATILE_SEED if options.volatile else None,
            options.journal_bytes_max,
        )

    def __enter__(self) -> LiveDrive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def look(self) -> dict[str, Any] | None:
        """Return what the drive has counted so far.

        Returns:
            Requests, bytes, write amplification by cause, free units, wear; None once it has stopped.
        """
        shown = self._core.look()
        return None if shown is None else json.loads(shown)

    def save(self) -> None:
        """Save the state of the drive, from which it goes on after a kill.

        Raises:
            InputError: a file cannot be written.
        """
        self._core.save()

    def stop(self) -> Run | None:
        """Stop serving.

        Returns:
            The run over the journal; None if no request came, or the drive has stopped before.

        Raises:
            InputError: a file cannot be written.
            RunError: the drive cannot complete its requests.
        """
        output = self._core.stop()
        return None if output is None else Run.of(output)
