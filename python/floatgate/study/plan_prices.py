"""Prices of the drives of a plan: by name or by group of the catalogue, per drive or per TB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from floatgate.base import units
from floatgate.base.errors import input_error, quote, quoted
from floatgate.base.numbers import above_zero, listed
from floatgate.study.plan_drives import flash_as_sold, named_drives, sold_bytes
from floatgate.study.plan_point import TB, Price

_PER_TB = "/tb"
_EXPECTED = "a figure above 0 such as 60, or a price per TB such as 60/TB"

Texts = Mapping[str, str] | Mapping[str, float] | Mapping[str, str | float]


@dataclass(frozen=True)
class PriceList:
    """The prices of a plan.

    Attributes:
        prices: of its drives.
        unused: names and groups with a price of which the plan tries no drive.
        doubts: sentences on groups whose price per drive covers drives of several capacities.
    """

    prices: tuple[Price, ...] = ()
    unused: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Amount:
    """A price, of a drive or per TB of its capacity as sold."""

    value: float
    per_tb: bool
    source: str = field(default="", compare=False)

    @classmethod
    def of(cls, name: str, text: str | float) -> _Amount:
        """Read ``60`` or ``60/TB``.

        Raises:
            InputError: it is neither.
        """
        per_tb = isinstance(text, str) and text.lower().replace(" ", "").endswith(_PER_TB)
        figure = text.rpartition("/")[0].strip() if per_tb and isinstance(text, str) else text
        value = above_zero(f"--prices {name}", figure, "not a price", _EXPECTED) or 0.0
        return cls(value, per_tb, f"{name}={text if isinstance(text, str) else format(text, 'g')}")

    def of_drive(self, name: str) -> Price:
        """Return the price of a drive of the catalogue as sold; per TB of flash where it is not sold."""
        flash = flash_as_sold(name)
        price = self.value * (sold_bytes(name, flash) or flash) / TB if self.per_tb else self.value
        return Price(name, price, flash, self.source)


def pairs(text: str | None) -> dict[str, str] | None:
    """Split ``NAME=PRICE,NAME=PRICE``.

    Raises:
        InputError: a drive or group has two prices.
    """
    if text is None:
        return None
    made: dict[str, str] = {}
    for pair in listed("--prices", text) or []:
        name, _, value = (part.strip() for part in pair.partition("="))
        if name in made:
            raise input_error(f"--prices: {quote(name)} given twice; expected one price for each drive")
        made[name] = value
    return made


def price_list(texts: Texts, drives: Sequence[str], *, others: bool) -> PriceList:
    """Return the prices of the drives of a plan; a drive's own price goes before those of its groups.

    Args:
        texts: prices by name or group, per drive or per TB (``60/TB``).
        drives: the drives of the plan.
        others: whether drives without a price have another one.

    Raises:
        InputError: a price is none, or of an unknown drive; two groups give a drive different prices; a drive has none.
    """
    named: dict[str, _Amount] = {}
    of_groups: dict[str, _Amount] = {}
    unused: list[str] = []
    doubts: list[str] = []
    for name, text in texts.items():
        amount = _Amount.of(name, text)
        members = named_drives([name], "--prices")
        (unused if set(members).isdisjoint(drives) else []).append(name)
        if members == [name]:
            named[name] = amount
            continue
        doubts += _doubts(name, amount, [one for one in members if one in drives and one not in texts])
        for member in members:
            if of_groups.setdefault(member, amount) != amount and member not in texts:
                raise input_error(f"--prices: two prices of {quote(member)}, by its groups; expected one, or its own")
    of_drive = of_groups | named
    made = tuple(of_drive[name].of_drive(name) for name in drives if name in of_drive)
    without = [name for name in drives if name not in of_drive]
    if without and not others:
        raise input_error(
            f"--prices: no price of {quoted(without)}; expected one for each drive, or --price-per-tb for the others"
        )
    return PriceList(made, tuple(unused), tuple(doubts))


def _doubts(group: str, amount: _Amount, members: Sequence[str]) -> list[str]:
    """Note that a price per drive covers drives of several capacities; nothing where it does not."""
    sizes = sorted({sold_bytes(name, flash_as_sold(name)) or flash_as_sold(name) for name in members})
    if amount.per_tb or len(sizes) < 2:
        return []
    price, ends = f"{amount.value:g}", " to ".join(units.decimal_bytes(size) for size in (sizes[0], sizes[-1]))
    return [f"{group}={price} is one price for drives of {ends}; {group}={price}/TB would be per TB"]
