"""Hidden files and folders that are not complete yet, and their removal after a command that was killed.

Each is named ``.floatgate.MARK.RANDOM...`` by the mark of the process that writes it (:mod:`floatgate.base.owner`). No
other process ever makes that name: once the owner has exited, any command may remove it, and commands that start at
once do not disturb each other. What belongs to another host, or to the time before a restart, stays.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from floatgate.base import owner

PREFIX = ".floatgate."
"""How the names begin."""
_ENDING_MAX = 120
"""Bytes of the final name that a hidden name repeats; the mark needs the rest of what a file system allows."""
_rooms: set[Path] = set()
"""Where this process has hidden names."""


def folder_in(room: Path) -> Path:
    """Make a hidden folder."""
    _enter(room)
    return Path(tempfile.mkdtemp(prefix=_prefix(), dir=room))


def file_beside(target: Path) -> Path:
    """Make a hidden file with the extensions of ``target``."""
    _enter(target.parent)
    ending = os.fsdecode(os.fsencode(f".{target.name}")[-_ENDING_MAX:].lstrip(bytes(range(0x80, 0xC0))))
    handle, name = tempfile.mkstemp(prefix=_prefix(), suffix=ending, dir=target.parent)
    os.close(handle)
    return Path(name)


def clean(room: Path) -> None:
    """Remove the leftovers of killed commands in a folder, as far as they can be removed."""
    with contextlib.suppress(OSError):
        for entry in room.iterdir():
            if entry.name.startswith(PREFIX) and owner.has_exited(entry.name.split(".")[2]):
                _remove(entry)


def tidy() -> None:
    """Remove the incomplete files of this process at its end: a signal may come before a caller knows their names."""
    mine = _prefix()
    for room in _rooms:
        with contextlib.suppress(OSError):
            for entry in room.iterdir():
                if entry.name.startswith(mine):
                    _remove(entry)


def _enter(room: Path) -> None:
    """Note a folder that gets hidden names; the first time, what others have left there goes."""
    if room not in _rooms:
        clean(room)
        _rooms.add(room)


def _prefix() -> str:
    """Return how the hidden names of this process begin."""
    return f"{PREFIX}{owner.mark()}."


def _remove(left: Path) -> None:
    with contextlib.suppress(OSError):
        shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
