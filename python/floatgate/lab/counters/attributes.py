"""Attributes of a SATA drive turned into counters of bytes by the table or as the user states, else into questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from floatgate.base.json_in import Node
from floatgate.lab.counters.attribute_table import USUAL, Row, row_of
from floatgate.lab.counters.reading import Counter, Programs, Question, Role, Stated

_HOST_ORDER = (241, 246, 225)
"""Of host counters with the same unit, the first of these counts."""


@dataclass(frozen=True)
class Attribute:
    """An attribute as a tool prints it.

    Attributes:
        number: None if the tool does not print it.
        name: as printed.
        value: its count.
        step: the true count may differ by less than this.
        shown: its count as the tool prints it for people beside ``value``; None if it does not.
        node: where it stands, for messages.
    """

    number: int | None
    name: str
    value: int
    step: int = 1
    shown: int | None = None
    node: Node | None = None


@dataclass(frozen=True)
class Drive:
    """What decides the meaning of attributes: the family in the tool's database and the name of the drive."""

    family: str | None = None
    model: str | None = None


@dataclass
class Resolved:
    """Counters of the attributes of a drive, and what is open."""

    host: Counter | None = None
    media: Counter | None = None
    erased: Counter | None = None
    programs: Programs | None = None
    questions: list[Question] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Known:
    """An attribute with its role and unit."""

    attribute: Attribute
    row: Row
    unit_bytes: int
    is_stated: bool = False

    @property
    def counter(self) -> Counter:
        one, unit = self.attribute, self.unit_bytes
        return Counter(one.value * unit, one.step * unit, called(one), unit)

    @property
    def order(self) -> tuple[bool, int, int, int]:
        number = self.attribute.number or 0
        rank = _HOST_ORDER.index(number) if number in _HOST_ORDER else len(_HOST_ORDER)
        return not self.is_stated, self.unit_bytes, rank, number


def called(one: Attribute) -> str:
    """Format as ``attribute 241 (Total_LBAs_Written)``."""
    return f"attribute {one.name}" if one.number is None else f"attribute {one.number} ({one.name})"


def resolved(attributes: Iterable[Attribute], drive: Drive, stated: Stated) -> Resolved:
    """Turn attributes into counters.

    Args:
        attributes: all attributes of the drive.
        drive: its family and model.
        stated: what the user states, which wins.

    Raises:
        InputError: an attribute that counts has two different values.
    """
    known: dict[Role, list[_Known]] = {Role.HOST: [], Role.MEDIA: [], Role.ERASE: []}
    made = Resolved()
    pages: dict[str, Attribute] = {}
    for one, role, row in _counting(attributes, drive, stated):
        if role is not None:
            known[role[0]].append(_Known(one, Row(one.name, *role), role[1], is_stated=True))
        elif row is None:
            continue
        elif row.programs:
            pages[row.programs] = one
        elif row.unit_bytes is not None and row.role in known:
            known[row.role].append(_Known(one, row, row.unit_bytes))
        elif row.role is Role.HOST and stated.unit_bytes is not None:
            known[row.role].append(_Known(one, row, stated.unit_bytes, is_stated=True))
        elif row.role in (Role.HOST, Role.MEDIA):
            made.questions.append(_question(one, row))
    _choose(made, known)
    if len(pages) == 2:
        host, others = pages["host"], pages["others"]
        source = f"{called(host)} and {called(others)}, in pages"
        made.programs = Programs(host.value, host.value + others.value, source)
    _drop_answered(made)
    return made


def _counting(
    attributes: Iterable[Attribute], drive: Drive, stated: Stated
) -> Iterator[tuple[Attribute, tuple[Role, int] | None, Row | None]]:
    """Yield the attributes that count data, with what the user states about them and their row of the table.

    Raises:
        InputError: one has two different values.
    """
    for one in attributes:
        role = stated.of(*([] if one.number is None else [str(one.number)]), one.name)
        row = row_of(one.number, one.name, drive.family, drive.model)
        if (role is None and row is None) or (role is not None and role[0] is Role.NOTHING):
            continue
        _must_agree(one)
        yield one, role, row


def _must_agree(one: Attribute) -> None:
    """Refuse an attribute whose raw value is not the number that the tool prints beside it.

    Raises:
        InputError: the two differ.
    """
    if one.node is not None and one.shown is not None and one.shown != one.value:
        raise one.node.refusal(
            f"has raw.value {one.value} and raw.string {one.shown} of attribute {one.number}",
            f"the same number in both (--attribute {one.number}=nothing leaves it out)",
        )


def _question(one: Attribute, row: Row) -> Question:
    """Return the question about an attribute of an open unit."""
    key = one.name if one.number is None else str(one.number)
    # The common name of 241 says neither what is counted nor in which unit.
    role = None if row.name == "Total_LBAs_Written" else row.role
    return Question(key, one.name, one.value, role, USUAL, "counts in units that each maker chooses")


def _choose(made: Resolved, known: dict[Role, list[_Known]]) -> None:
    """Choose one counter of each role, the stated one or the finest; parts of flash writes are added up."""
    for role, several in known.items():
        whole = sorted((one for one in several if not one.row.part), key=lambda one: one.order)
        counter = whole[0].counter if whole else None
        if counter is None and role is Role.MEDIA:
            counter = _summed(made, [one for one in several if one.row.part])
        if role is Role.HOST:
            made.host = counter
            made.notes += _contradictions(whole)
        elif role is Role.MEDIA:
            made.media = counter
        else:
            made.erased = counter


def _summed(made: Resolved, parts: Sequence[_Known]) -> Counter | None:
    """Add up the flash writes of all parts; None and a note if one is missing."""
    if not parts:
        return None
    if {one.row.part for one in parts} != {"TLC", "SLC"}:
        names = " and ".join(called(one.attribute) for one in parts)
        made.notes.append(f"{names} counts a part of the flash writes alone, and is left out")
        return None
    counters = [one.counter for one in parts]
    source = " + ".join(counter.source for counter in counters)
    value, step = (sum(getattr(one, key) for one in counters) for key in ("value_bytes", "step_bytes"))
    return Counter(value, step, source, max(counter.unit_bytes for counter in counters))


def _contradictions(whole: Sequence[_Known]) -> list[str]:
    """Say which host counters of one drive differ by more than their steps."""
    if len(whole) < 2 or whole[0].is_stated:
        return []
    first, notes = whole[0].counter, []
    for other in whole[1:]:
        counter = other.counter
        apart = abs(counter.value_bytes - first.value_bytes)
        if apart > 2 * max(counter.step_bytes, first.step_bytes) and apart > 0.02 * first.value_bytes:
            notes.append(f"{counter.source} and {first.source} count different amounts; the latter is used")
    return notes


def _drop_answered(made: Resolved) -> None:
    """Drop questions about what another attribute of the drive answers."""
    if made.host is not None:
        made.questions = [one for one in made.questions if one.role is Role.MEDIA]
    if made.media is not None or made.programs is not None:
        made.questions = [one for one in made.questions if one.role is not Role.MEDIA]
