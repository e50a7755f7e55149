"""``floatgate --version``: which floatgate this is, for a report of a fault or the methods of a paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from floatgate import _core
from floatgate.base import build


def show(arguments: Sequence[str] = ()) -> bool:
    """Print version, commit, profile and extras.

    Args:
        arguments: the words behind ``--version``: ``--json`` with its file, or nothing.

    Returns:
        False if there are other words; nothing is printed then.

    Raises:
        InputError: the file for the JSON exists or cannot be written.
    """
    if not arguments:
        print(_text())
        return True
    file = _json_file(arguments)
    if file is None:
        return False
    from floatgate.cli.output import Output

    Output(file).give(_document())
    return True


def _json_file(arguments: Sequence[str]) -> str | None:
    """Return the file of ``--json`` as :mod:`floatgate.cli.json_word` defines it; None if there are other words."""
    match arguments:
        case ["--json"]:
            return "-"
        case ["--json", file] if file == "-" or file.endswith(".json"):
            return file
        case [word] if word.startswith("--json=") and word != "--json=":
            return word.removeprefix("--json=")
    return None


def _document() -> dict[str, Any]:
    known = build.current()
    return {
        "version": _core.__version__,
        "commit": known.commit,
        "changed": known.changed,
        "profile": known.profile,
        "unknown": known.unknown or None,
        "extras": build.extras(),
    }


def _text() -> str:
    known = build.current()
    changed = ", with changes that are not committed" if known.changed else ""
    commit = f"unknown: {known.unknown}" if known.commit is None else known.commit + changed
    installed = [name for name, is_installed in build.extras().items() if is_installed]
    return "\n".join(
        (
            f"floatgate {_core.__version__}",
            f"commit    {commit}",
            f"profile   {known.profile or 'unknown'}",
            f"extras    {', '.join(installed) or 'none'}",
        )
    )
