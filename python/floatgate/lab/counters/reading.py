"""What the formats return: counters of a drive at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from floatgate.base.json_in import Node

NVME_SOURCE = "NVMe data units written"
SOURCE = "a reading of smartctl, nvme-cli or a Prometheus exporter (docs/counters.md)"
"""What a file should be, for messages."""


class Role(StrEnum):
    """What a counter counts."""

    HOST = "host"
    MEDIA = "media"
    ERASE = "erase"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Document:
    """A part of a file that one command printed.

    Attributes:
        place: the file, with the line where the part begins if it is not the whole file.
        node: the part as JSON; None if it is text.
        text: the part as text; empty if it is JSON.
        time_s: when it was read, in seconds since 1970, if the file says so beside it.
        time_source: where the time stands.
    """

    place: str
    node: Node | None = None
    text: str = ""
    time_s: float | None = None
    time_source: str = ""


@dataclass(frozen=True)
class Counter:
    """A counter of bytes since the drive was new.

    Attributes:
        value_bytes: its value.
        step_bytes: the true value may differ by less than this.
        source: what the tool calls it; equal sources are comparable.
        unit_bytes: bytes of one count.
    """

    value_bytes: int
    step_bytes: int
    source: str
    unit_bytes: int


@dataclass(frozen=True)
class Programs:
    """Programs in a unit that the tool leaves open; their ratio is a write amplification all the same.

    Attributes:
        host: programs for data of the host.
        media: all programs.
        source: where they stand.
    """

    host: int
    media: int
    source: str


@dataclass(frozen=True)
class Question:
    """A counter whose unit or role the reading leaves open.

    Attributes:
        key: what ``--attribute`` calls it: a number or a name.
        name: what the tool calls it.
        value: its count.
        role: what it counts, if that is known.
        units: units of bytes that are usual for it.
        why: what is open.
    """

    key: str
    name: str
    value: int
    role: Role | None
    units: tuple[int, ...]
    why: str


@dataclass(frozen=True)
class Reading:
    """Counters of a drive at one moment; what a tool leaves out is None.

    Attributes:
        place: the file, with its line where it holds several documents.
        kind: the log, such as ``nvme smart-log``; readings of one kind are comparable.
        serial: serial number of the drive.
        device: what the tool calls the drive, such as ``sda``.
        model: name of the drive.
        time_s: seconds since 1970.
        time_source: where the time stands.
        power_on_hours: hours that the drive was powered.
        host: bytes that the host wrote.
        media: bytes that the drive programmed.
        erased: bytes that the drive erased.
        programs: host and all programs, in an unknown unit.
        percent_used: the drive's own estimate of its used life.
        capacity_bytes: of the drive.
        interface: ``nvme``, ``sata`` or ``sas``; empty if the tool does not say.
        bytes_per_s: speed of the interface.
        exporter: bytes that smartctl_exporter prints for NVMe, and the size of a block; all readings together show
            in which unit.
        questions: counters whose unit or role is open.
        notes: what a reader should know about the figures.
    """

    place: str
    kind: str
    serial: str | None = None
    device: str | None = None
    model: str | None = None
    time_s: float | None = None
    time_source: str = ""
    power_on_hours: int | None = None
    host: Counter | None = None
    media: Counter | None = None
    erased: Counter | None = None
    programs: Programs | None = None
    percent_used: int | None = None
    capacity_bytes: int | None = None
    interface: str = ""
    bytes_per_s: float | None = None
    exporter: tuple[int, int] | None = None
    questions: tuple[Question, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def series(self) -> str:
        """What its readings over time are sorted by: the log, or for host writes of NVMe any log that has them."""
        is_nvme = self.host is not None and self.host.source == NVME_SOURCE and self.media is None
        return NVME_SOURCE if is_nvme else self.kind

    @property
    def counts(self) -> bool:
        """Whether it has a counter, or one that may turn out to be one."""
        counters = (self.host, self.media, self.programs, self.percent_used, self.exporter)
        return any(counter is not None for counter in counters) or bool(self.questions)


@dataclass(frozen=True)
class Stated:
    """What the user states about counters.

    Attributes:
        attributes: role and bytes of a count, by number or name in lower case.
        unit_bytes: bytes of a count of host writes, wherever a file leaves them open; None if not stated.
    """

    attributes: Mapping[str, tuple[Role, int]] = field(default_factory=dict)
    unit_bytes: int | None = None

    def of(self, *keys: str) -> tuple[Role, int] | None:
        """Return role and unit of the first key that the user states."""
        return next((self.attributes[key.lower()] for key in keys if key.lower() in self.attributes), None)


NOTHING_STATED = Stated()
