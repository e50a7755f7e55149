"""Readings of one drive from files and folders, in order of time, with the logs of one moment joined."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from floatgate.base import units
from floatgate.base.errors import InputError, input_error, quote, quoted
from floatgate.lab.counters import documents, formats, prometheus
from floatgate.lab.counters.cut import with_cut
from floatgate.lab.counters.reading import NOTHING_STATED, SOURCE, Reading, Stated

_NAMES_MAX = 6
_NOTES_MAX = 3


@dataclass(frozen=True)
class Wanted:
    """How readings are collected.

    Attributes:
        stated: what the user states about counters.
        drive: serial number or device name of the drive, if the files have several.
        by_mtime: whether a file's last change is the time of a reading without one.
    """

    stated: Stated = NOTHING_STATED
    drive: str | None = None
    by_mtime: bool = False


@dataclass
class Series:
    """The readings of one drive in order of time, and notes on what was left out."""

    readings: list[Reading] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def series(paths: Sequence[str], wanted: Wanted) -> Series:
    """Read files and folders.

    Args:
        paths: files and folders.
        wanted: how they are read.

    Raises:
        InputError: a file cannot be read or is damaged, or the readings are not those of one drive.
    """
    made = Series()
    readings: list[Reading] = []
    for path in paths:
        listed = documents.files(path)
        if listed == [path]:
            readings += of_file(path, wanted)
        else:
            readings += _of_folder(path, listed, wanted, made)
    readings = prometheus.settled(_of_one_drive(readings, wanted.drive))
    made.readings = _joined(_by_kind(readings, made), made)
    made.notes += dict.fromkeys(note for reading in made.readings for note in reading.notes)
    return made


def of_file(path: str, wanted: Wanted) -> list[Reading]:
    """Return the readings of a file.

    Args:
        path: the file.
        wanted: how it is read; a date in the name of the file is the time of readings without one.

    Raises:
        InputError: it cannot be read, is damaged, or has no reading.
    """
    try:
        parts = documents.documents(path, by_name=True, by_mtime=wanted.by_mtime)
        readings = [reading for part in parts for reading in formats.readings(part, wanted.stated)]
        if not readings:
            raise formats.refusal(parts[0])
    except InputError as error:
        raise with_cut(path, error, documents.BYTES_MAX) from None
    return readings


def _of_folder(path: str, listed: Iterable[str], wanted: Wanted, made: Series) -> list[Reading]:
    """Return the readings of a folder; files without one are named in a note.

    Raises:
        InputError: no file has a reading.
    """
    readings: list[Reading] = []
    errors: list[InputError] = []
    for name in listed:
        try:
            readings += of_file(name, wanted)
        except InputError as error:
            errors.append(error)
    if errors and not readings:
        raise errors[0]
    made.notes += [f"left out: {error.message}" for error in errors[:_NOTES_MAX]]
    if len(errors) > _NOTES_MAX:
        made.notes.append(f"left out: {len(errors) - _NOTES_MAX} more files of {path}")
    return readings


def _of_one_drive(readings: Sequence[Reading], drive: str | None) -> list[Reading]:
    """Return the readings of the chosen drive, or of the only one.

    Raises:
        InputError: there are several drives, or the chosen one has no reading.
    """
    if drive is not None:
        wanted = _plain_device(drive)
        chosen = [one for one in readings if drive == one.serial or wanted == _plain_device(one.device or "")]
        if not chosen:
            others = list(dict.fromkeys(name for one in readings for name in (one.serial, one.device) if name))
            raise input_error(f"--serial: no reading of {quote(drive)}; expected one of {_listed(others)}")
        readings = chosen
    names = [[one.serial for one in readings], [_plain_device(one.device or "") or None for one in readings]]
    for named in names:
        by_name: dict[str, Reading] = {}
        for name, one in zip(named, readings, strict=True):
            if name is not None:
                by_name.setdefault(name, one)
        if len(by_name) > 1:
            (first_name, one), (other_name, other), *_ = by_name.items()
            raise input_error(
                f"{other.place}: is of drive {quote(other_name)}, and {one.place} of drive {quote(first_name)}; "
                f"expected readings of one drive, or --serial to choose one of {_listed(list(by_name))}"
            )
        if by_name:
            break
    interfaces = {one.interface: one for one in readings if one.interface}
    if len(interfaces) > 1:
        (kind, one), (other_kind, other), *_ = interfaces.items()
        raise input_error(
            f"{other.place}: is of a drive with {other_kind.upper()}, and {one.place} of one with {kind.upper()}; "
            "expected readings of one drive"
        )
    return list(readings)


def _plain_device(name: str) -> str:
    """Return the name of a device without its folder and namespace: ``nvme0`` for ``/dev/nvme0n1``."""
    return re.sub(r"^(nvme\d+)n\d+$", r"\1", name.removeprefix("/dev/"))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMES_MAX} more" if len(names) > _NAMES_MAX else ""
    return quoted(list(names[:_NAMES_MAX])) + more if names else "a drive without a name"


def _by_kind(readings: Sequence[Reading], made: Series) -> dict[str, list[Reading]]:
    """Sort the readings of each kind of log by time, if two or more have one; else they stay in the order of the files.

    Those without a time are then left out: nothing says where they belong.
    """
    kinds: dict[str, list[Reading]] = {}
    for one in readings:
        kinds.setdefault(one.series, []).append(one)
    for kind, several in kinds.items():
        timed = [one for one in several if one.time_s is not None]
        if 1 < len(timed) < len(several):
            made.notes.append(
                f"{units.counted(len(several) - len(timed), 'reading')} without a time left out; the others have one"
            )
            several = kinds[kind] = timed  # noqa: PLW2901 - the rest of the loop is about these
        if all(one.time_s is not None for one in several):
            ordered = sorted(several, key=lambda one: one.time_s or 0.0)
            if ordered != several:
                logs = " and ".join(dict.fromkeys(one.kind for one in several))
                made.notes.append(f"the readings of {logs} are taken in order of time, which is not that of the files")
            kinds[kind] = ordered
    return kinds


def _joined(kinds: dict[str, list[Reading]], made: Series) -> list[Reading]:
    """Join the logs of different kinds that belong to one moment: the first of each kind, the second, ...

    Raises:
        InputError: there are more of one kind than of another, and times do not say which belong together.
    """
    if len(kinds) < 2:
        return [one for several in kinds.values() for one in several]
    counts = {" and ".join(dict.fromkeys(one.kind for one in several)): len(several) for several in kinds.values()}
    if len(set(map(len, kinds.values()))) == 1:
        return [join(several) for several in zip(*kinds.values(), strict=True)]
    if all(one.time_s is not None for several in kinds.values() for one in several):
        return _joined_by_time(kinds, made)
    text = ", ".join(f"{count} of {kind}" for kind, count in counts.items())
    raise input_error(
        f"{next(iter(kinds.values()))[0].place}: the files hold {text}; expected as many of each, "
        "or documents with their times"
    )


def _joined_by_time(kinds: dict[str, list[Reading]], made: Series) -> list[Reading]:
    """Join each reading of the kind with the fewest to those of other kinds that are nearest in time."""
    fewest = min(kinds.values(), key=len)
    others = [(several, [one.time_s or 0.0 for one in several]) for several in kinds.values() if several is not fewest]
    joined, used = [], {id(one) for one in fewest}
    for one in fewest:
        nearest = [_nearest(several, stamps, one.time_s or 0.0) for several, stamps in others]
        joined.append(join([one, *nearest]))
        used |= {id(other) for other in nearest}
    lonely = sum(id(one) not in used for several in kinds.values() for one in several)
    if lonely:
        made.notes.append(f"{_lonely(lonely)} and {'is' if lonely == 1 else 'are'} left out")
    return joined


def _lonely(count: int) -> str:
    """Format as ``1 reading has no counterpart at its time``."""
    whose = "has no counterpart at its time" if count == 1 else "have no counterpart at their time"
    return f"{units.counted(count, 'reading')} {whose}"


def _nearest(several: Sequence[Reading], stamps: Sequence[float], time_s: float) -> Reading:
    """Return the reading that is nearest in time; ``stamps`` are those of the readings, in order."""
    at = bisect_left(stamps, time_s)
    return min(several[max(at - 1, 0) : at + 1], key=lambda one: abs((one.time_s or 0.0) - time_s))


def join(several: Sequence[Reading]) -> Reading:
    """Join logs of one moment into one reading: host and flash from one log where one has both."""
    both = next((one for one in several if one.host is not None and one.media is not None), None)
    ordered = ([both] if both is not None else []) + [one for one in several if one is not both]
    first = ordered[0]
    values = {
        key: next((getattr(one, key) for one in ordered if getattr(one, key) is not None), None)
        for key in (
            *("serial", "device", "model", "time_s", "power_on_hours", "host", "media", "erased", "programs"),
            *("percent_used", "capacity_bytes", "bytes_per_s"),
        )
    }
    timed = next((one for one in ordered if one.time_s is not None), first)
    notes = [note for one in ordered for note in one.notes]
    stamps = [one.time_s for one in ordered if one.time_s is not None]
    if stamps and max(stamps) - min(stamps) > 60:
        notes.append(f"logs of one moment are up to {round(max(stamps) - min(stamps))} s apart")
    questions = [question for one in ordered for question in one.questions]
    answered = [role for role in ("host", "media") if values[role] is not None]
    return replace(
        first,
        **values,  # type: ignore[arg-type]
        kind=" + ".join(one.kind for one in several),
        time_source=timed.time_source,
        interface=next((one.interface for one in ordered if one.interface), ""),
        questions=tuple(one for one in questions if one.role is None or one.role.value not in answered),
        notes=tuple(dict.fromkeys(notes)),
    )


def single(path: str, wanted: Wanted) -> Reading:
    """Return the one reading of a file.

    Raises:
        InputError: the file cannot be read, is damaged, or has no reading or several of one kind.
    """
    readings = prometheus.settled(_of_one_drive(of_file(path, wanted), wanted.drive))
    kinds = {one.series for one in readings}
    if len(kinds) < len(readings):
        raise input_error(f"{path}: holds {len(readings)} readings; expected one of them, in {SOURCE}")
    return readings[0] if len(readings) == 1 else join(readings)
