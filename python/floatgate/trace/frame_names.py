"""Names and units of the columns of a dataframe: which one is the time, the operation, the offset, the size."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from floatgate.base.errors import input_error, meant, quote, quoted

NO_TIME = "none"
"""The unit of time of a frame without times."""
DATED = "datetime"
"""The unit of columns that say by their type, or as ISO 8601, what they mean."""
TIME_UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "filetime": 100}
"""Nanoseconds by unit, as ``--columns`` names them."""
BYTE_UNITS = {"bytes": 1, "sectors": 512, "KiB": 1024, "pages": 4096, "MiB": 1 << 20}
"""Bytes by unit, as ``--columns`` names them."""
UNIT_MAX = 1 << 30
"""Most bytes of a unit."""
_SHOWN_MAX = 40

_SUFFIXES = {
    "time": {
        **{name: name for name in TIME_UNITS},
        "nsec": "ns",
        "usec": "us",
        "msec": "ms",
        "sec": "s",
        "secs": "s",
        "seconds": "s",
    },
    "bytes": {"bytes": "bytes", "byte": "bytes", "sectors": "sectors", "sector": "sectors", "kib": "KiB", "mib": "MiB"},
}


@dataclass(frozen=True)
class Role:
    """What a trace needs of a frame.

    Attributes:
        name: of the argument that names the column.
        stems: usual names of the column without their unit, each with the unit that the name alone implies, or None.
        units: of which of the tables of suffixes a name may end; None without units.
    """

    name: str
    stems: Mapping[str, str | None]
    units: str | None = None


def _stems(names: str, unit: str | None = None) -> dict[str, str | None]:
    return dict.fromkeys(names.split(), unit)


TIME = Role("time", _stems("time timestamp ts t datetime arrival arrival_time issue_time submit_time"), "time")
OP = Role("op", _stems("op operation op_type op_name opcode type io_type iotype rw rwbs direction"))
OFFSET = Role(
    "offset",
    {
        **_stems("offset byte_offset io_offset address addr", "bytes"),
        **_stems("sector start_sector", "sectors"),
        **_stems("lba lbn block page lpn"),
    },
    "bytes",
)
SIZE = Role(
    "size",
    {
        **_stems("size length len bytes nbytes io_size request_size", "bytes"),
        **_stems("sectors nr_sectors", "sectors"),
        **_stems("blocks nr_blocks pages nr_pages"),
    },
    "bytes",
)
DEVICE = Role("device", _stems("device dev device_id disk disk_number volume volume_id lun"))


def stem_and_unit(name: str, role: Role) -> tuple[str, str | None]:
    """Split the name of a column into a stem in lower case and the unit that it states, None where it states none."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    stem = re.sub(r"[^a-z0-9]+", "_", words).strip("_")
    if stem in role.stems:
        return stem, role.stems[stem]
    head, _, last = stem.rpartition("_")
    suffixes = _SUFFIXES.get(role.units or "", {})
    return (head, suffixes[last]) if head and last in suffixes else (stem, None)


def find(role: Role, columns: Sequence[str], named: str | None, remedy: str = "") -> str:
    """Return the column of a role.

    Args:
        role: what it is.
        columns: of the frame.
        named: by the caller; None to take the only column with a usual name.
        remedy: what the caller can do instead of naming a column.

    Raises:
        InputError: the frame has no such column, none with a usual name, or several.
    """
    if named is not None:
        return must_have(role.name, columns, named)
    usual = usual_columns(role, columns)
    if len(usual) == 1:
        return usual[0]
    if usual:
        choices = " or ".join(f"{role.name}={quote(name)}" for name in usual)
        raise input_error(f"frame: columns {quoted(usual)} may all be the {role.name}; expected {choices}")
    raise input_error(
        f"frame: no column has a usual name of the {role.name}, and columns are {_shown(columns)}; "
        f"expected {role.name}= with the name of one{remedy}"
    )


def usual_columns(role: Role, columns: Sequence[str]) -> list[str]:
    """Return the columns whose names are usual for a role."""
    return [name for name in columns if stem_and_unit(name, role)[0] in role.stems]


def must_have(argument: str, columns: Sequence[str], named: str) -> str:
    """Return the name of a column.

    Raises:
        InputError: the frame does not have it, or more than once.
    """
    if named not in columns:
        close = meant(named, columns)
        raise input_error(f"{argument}: the frame has no column {quote(named)}, only {_shown(columns)}; {close}")
    if list(columns).count(named) > 1:
        raise input_error(f"{argument}: the frame has column {quote(named)} more than once; expected each column once")
    return named


def _shown(columns: Sequence[str]) -> str:
    if not columns:
        return "none at all"
    more = len(columns) - _SHOWN_MAX
    return quoted(list(columns[:_SHOWN_MAX])) + (f" and {more} more" if more > 0 else "")


def time_unit(column: str, unit: str | None) -> int:
    """Return the nanoseconds of the unit of a column of numbers.

    Raises:
        InputError: the unit is unknown, or neither caller nor name state it.
    """
    stated = unit if unit is not None else stem_and_unit(column, TIME)[1]
    if stated in TIME_UNITS:
        return TIME_UNITS[stated]
    known = ", ".join(map(quote, TIME_UNITS))
    if stated is None:
        raise input_error(
            f"time_unit: column {quote(column)} has numbers, and neither type nor name state their unit; "
            f"expected one of {known}, or a column of datetimes"
        )
    raise input_error(
        f"time_unit: {quote(stated)} is not a unit of numbers; expected one of {known}, or {quote(NO_TIME)}"
    )


def byte_unit(role: Role, column: str | None, unit: str | int | None) -> int:
    """Return the bytes of the unit of a column, or of a constant where there is no column.

    Raises:
        InputError: the unit is unknown, or neither caller nor name state it.
    """
    argument, expected = f"{role.name}_unit", f"expected one of {quoted(list(BYTE_UNITS))}, or a number of bytes"
    stated = unit
    if stated is None:
        stated = "bytes" if column is None else stem_and_unit(column, role)[1]
    if stated is None:
        raise input_error(f"{argument}: the name of column {quote(column)} states no unit; {expected}")
    if isinstance(stated, str) and stated in BYTE_UNITS:
        return BYTE_UNITS[stated]
    if isinstance(stated, str) or not 1 <= stated <= UNIT_MAX:
        raise input_error(f"{argument}: {quote(stated)} is not a unit of addresses or sizes; {expected}")
    return int(stated)
