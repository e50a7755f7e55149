"""The files of loaded policies, which runs copy into their folders."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

_files: dict[str, Path] = {}
"""The file of each policy by its entry in ``policy_code``: its name and the hash of the file."""


def keep(name: str, sha256: str, file: Path) -> None:
    """Note the file of a policy."""
    _files[f"{name} {sha256}"] = file


def files() -> tuple[str, ...]:
    """Return the files of all loaded policies that are files, each once."""
    return tuple(dict.fromkeys(str(file.resolve()) for file in _files.values() if file.is_file()))


def codes() -> dict[str, str]:
    """Return the hash of the code of each loaded policy, by its name; of one that was loaded again the latest."""
    return dict(entry.split() for entry in _files)


def copy_files(code: Iterable[str], folder: Path) -> None:
    """Copy the files of policies into a folder; those of classes without a file, as in a notebook, are left out.

    Args:
        code: entries of ``policy_code``.
        folder: is made where there is a file.
    """
    for entry in code:
        file = _files.get(entry)
        if file is not None and file.is_file():
            folder.mkdir(exist_ok=True)
            shutil.copyfile(file, folder / file.name)
