"""Placements in the forms in which programs take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from floatgate.base.errors import input_error, meant, quote
from floatgate.placement.answer import Placement
from floatgate.placement.formats import fcntl, fio, live, rocksdb
from floatgate.placement.grouping import NO_HANDLE
from floatgate.placement.keys import BY

FORMATS = ("table", "csv", "fio", "fcntl", "rocksdb", "live")


@dataclass(frozen=True)
class Form:
    """A format of placements.

    Attributes:
        files: makes their texts, by name.
        usage: a line that says what to do with them, of the folder in which they are.
        keys: the kinds of keys that it supports.
        why: it needs them.
    """

    files: Callable[[Placement], Mapping[str, str]]
    usage: Callable[[str], str]
    keys: tuple[str, ...]
    why: str = ""


_PATHS = ("file", "path-pattern")
_FORMS = {
    "fio": Form(fio.files, fio.usage, BY),
    "fcntl": Form(fcntl.files, fcntl.usage, _PATHS, "these hints are of files, by their paths"),
    "live": Form(live.files, live.usage, _PATHS, "exports hold files, by their paths"),
    "rocksdb": Form(rocksdb.files, rocksdb.usage, ("path-pattern",), "RocksDB's hints are of kinds of files"),
}


def check(format: str, by: str) -> None:
    """Refuse a format before the work starts.

    Raises:
        InputError: the format does not exist, or does not support such keys.
    """
    if format not in FORMATS:
        raise input_error(f"--format {quote(format)}: unknown format; {meant(format, FORMATS)}")
    form = _FORMS.get(format)
    if form is not None and by not in form.keys:
        raise input_error(f"--format {format} --by {by}: {form.why}; expected --by {' or --by '.join(form.keys)}")


def files_of(format: str, placement: Placement) -> Mapping[str, str]:
    """Return the files of a format, by name; none for ``table`` and ``csv``, whose file is always written.

    Raises:
        InputError: the table is empty, or the recording lacks data that the format needs.
    """
    form = _FORMS.get(format)
    made = {} if form is None else form.files(placement)
    if all(one["handle"] == NO_HANDLE for one in placement.keys):
        why = "no data die within the trace" if placement.policy == "lifetime" else "its separator forms no groups"
        raise input_error(
            f"{placement.trace}: the table is empty: no {placement.by} gets a handle other than {NO_HANDLE} ({why}); "
            "expected a longer recording, or one of a program that overwrites or deletes what it wrote"
        )
    return made


def usage_of(format: str, folder: str) -> str | None:
    """Return what to do with the files that lie in ``folder``."""
    form = _FORMS.get(format)
    return None if form is None else form.usage(folder)
