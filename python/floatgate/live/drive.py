"""A live drive in a folder: opened, watched, stopped."""

from __future__ import annotations

import json
import tomllib
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
        listen: ``HOST:PORT`` for clients over TCP; None without them.
        insecure: whether other machines may connect there.
        delay: whether replies leave when the simulated drive is done; in timed mode.
        pins: whether the latest low phases of the Ready/Busy pins are kept; in timed mode.
    """

    folder: Path
    socket: Path | None = None
    exports: tuple[Export, ...] = ()
    volatile: bool = False
    journal_bytes_max: int | None = None
    listen: str | None = None
    insecure: bool = False
    delay: bool = False
    pins: bool = False

    @property
    def socket_path(self) -> Path:
        """Where clients connect."""
        return self.socket if self.socket is not None else self.folder / SOCKET

    @property
    def volatile_seed(self) -> int | None:
        """Seed of the volatile cache; None without one."""
        return VOLATILE_SEED if self.volatile else None


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
        self._core = _core.LiveDrive(experiment.toml, experiment.path, experiment.overrides, options)

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

    def pin(self, die: int, from_s: float) -> dict[str, Any] | None:
        """Return the latest low phases of a die's Ready/Busy pin.

        Args:
            die: its number.
            from_s: seconds of the drive's time; phases that end later are returned.

        Returns:
            ``phases``: begin and end in nanoseconds of the drive's time, and what the die does (0 read, 1 program,
            2 erase); ``whole``: whether none is missing. None without pins, or once the drive has stopped.
        """
        shown = self._core.pin(die, max(0, round(from_s * 1e9)))
        return None if shown is None else json.loads(shown)

    def capture(self, die: int, window_ns: tuple[int, int], path: Path) -> dict[str, int] | None:
        """Write a die's pin in a window of the drive's time as a capture.

        Args:
            die: its number.
            window_ns: begin and end.
            path: of the file, VCD.

        Returns:
            The shape of the drive, as :class:`floatgate.lab.rb.Shape` takes it; None without pins, if phases of that
            time are no longer kept, or once the drive has stopped.

        Raises:
            InputError: the file cannot be written.
        """
        shape = self._core.capture(die, *window_ns, path)
        return None if shape is None else json.loads(shape)

    def cut_power(self) -> dict[str, int] | None:
        """Cut the power: connections end, and what is only in the volatile cache is lost; then it serves again.

        Returns:
            ``connections`` that ended and ``lost_blocks`` of 4 KiB that were not flushed; None once it has stopped.
        """
        done = self._core.cut_power()
        return None if done is None else json.loads(done)

    def experiment_toml(self) -> str:
        """Return the experiment with all settings, over the journal; empty once the drive has stopped."""
        return self._core.experiment_toml() or ""

    def setting(self, key: str) -> str | None:
        """Return a setting of the drive that is a text.

        Args:
            key: with dots between its levels.

        Returns:
            Its value; None without this setting, and where it is no text.
        """
        value: Any = tomllib.loads(self.experiment_toml())
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        return value if isinstance(value, str) else None

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
