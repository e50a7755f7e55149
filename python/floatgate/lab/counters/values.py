"""Numbers as tools print them: digits in groups, hexadecimal, halves of 128 bits, floating point."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from floatgate.base.errors import input_error, quote
from floatgate.base.json_in import Node

HALF = 1 << 64
COUNT_END = 1 << 128
"""No counter of a drive has more than 128 bits."""
MIB, GIB, TIB = 1 << 20, 1 << 30, 1 << 40
UNIT_MAX = 1 << 40
"""Most bytes of a unit."""
_UNIT_DIGITS = 6
_FACTORS = {"": 1, "B": 1} | {
    name: factor
    for power, letter in enumerate("KMGT", 1)
    for name, factor in ((f"{letter}IB", 1024**power), (f"{letter}B", 1000**power))
}
_SIZE = re.compile(r"(\d{1,15})\s*([KMGT]?I?B)?", re.IGNORECASE)
_NAMED_UNIT = re.compile(r"(?:^|_)(\d*)([KMGT]I?B)(?=_|$)", re.IGNORECASE)
_GROUPS = re.compile(r"\d{1,3}(?:([,.'\u2019 \u00a0\u202f])\d{3}(?:\1\d{3})*)|\d+")
_FLOAT = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?")


def count(node: Node | None) -> int | None:
    """Read a counter: a number, digits as text, hexadecimal digits, or two halves of 128 bits; None without a node.

    Raises:
        InputError: it is something else.
    """
    if node is None:
        return None
    if isinstance(node.value, dict):
        high, low = (node[half].whole(most=HALF - 1) for half in ("hi", "lo"))
        return high * HALF + low
    if isinstance(node.value, str):
        value = digits(node.value)
        if value is None:
            node.refuse("a counter, in digits")
        return value
    return node.whole()


def digits(text: str) -> int | None:
    """Read digits, in groups or not, or hexadecimal ones after 0x; None if they are none."""
    plain = text.strip()
    if plain[:2].lower() == "0x":
        return int(plain, 16) if re.fullmatch(r"0[xX][0-9a-fA-F]{1,32}", plain) else None
    if not plain.isascii() and not _GROUPS.fullmatch(plain):
        return None
    joined = re.sub(r"[,.'\u2019 \u00a0\u202f]", "", plain) if _GROUPS.fullmatch(plain) else plain
    if not (joined.isascii() and joined.isdigit() and len(joined) < 40):
        return None
    value = int(joined)
    return value if value < COUNT_END else None


def leading(text: str) -> int | None:
    """Read the digits, in groups or not, that a text begins with; None without them."""
    match = _GROUPS.match(text.strip())
    return None if match is None else digits(match[0])


def halves(text: str) -> int | None:
    """Read a counter of 128 bits that is printed as one number, or as its upper and its lower half."""
    parts = text.split()
    if len(parts) == 2 and all(part.isascii() and part.isdigit() and len(part) < 21 for part in parts):
        high, low = map(int, parts)
        return high * HALF + low if max(high, low) < HALF else None
    return digits(text) if len(parts) == 1 else None


def printed(text: str, place: str) -> int:
    """Read a counter that a line of text shows.

    Raises:
        InputError: it is no counter; ``place`` says which.
    """
    value = halves(text)
    if value is None:
        raise input_error(f"{place} is {quote(text)}; expected a counter, in digits")
    return value


def decimal(text: str) -> Decimal | None:
    """Read a number with or without decimals and exponent; None if it is none."""
    plain = text.strip()
    if len(plain) > 60 or not _FLOAT.fullmatch(plain):
        return None
    return Decimal(plain)


def size(text: str, most: int = UNIT_MAX) -> int | None:
    """Read a size such as ``512`` or ``32MiB`` in bytes; None if it is none, or more than ``most``."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        return None
    bytes_ = int(match[1]) * _FACTORS.get((match[2] or "").upper(), 0)
    return bytes_ if 1 <= bytes_ <= most else None


def named_unit(name: str) -> int | None:
    """Read the unit in the name of an attribute, such as ``Host_Writes_32MiB``, in bytes; None without one."""
    match = _NAMED_UNIT.search(name)
    if match is None or len(match[1]) > _UNIT_DIGITS:
        return None
    bytes_ = int(match[1] or 1) * _FACTORS[match[2].upper()]
    return bytes_ if 1 <= bytes_ <= UNIT_MAX else None


def unit_text(bytes_: int) -> str:
    """Format a unit as ``--attribute`` takes it: 512, 32MiB, 1GB."""
    for power, letter in reversed(list(enumerate("KMGT", 1))):
        for step, name in ((1024**power, f"{letter}iB"), (1000**power, f"{letter}B")):
            if bytes_ >= step and bytes_ % step == 0:
                return f"{bytes_ // step}{name}"
    return str(bytes_)


def tables(content: Node) -> Iterator[Node]:
    """Yield the object itself and the objects directly below it, also those in lists."""
    yield content
    inners = [inner for _, inner in content.items()]
    for inner in inners:
        if isinstance(inner.value, dict):
            yield inner
        elif isinstance(inner.value, list):
            yield from (element for element in inner.elements() if isinstance(element.value, dict))


def plain_key(key: str) -> str:
    """Return a key without what versions of a tool vary: case, underscores, dashes, the unit in brackets."""
    return " ".join(re.sub(r"\(bytes\)|[_\-]", " ", key.lower()).split())
