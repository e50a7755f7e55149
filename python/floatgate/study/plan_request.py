"""Checks of what a plan tries and what its drives must meet. Errors name the option of the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from floatgate.base.errors import input_error, quote, quoted
from floatgate.base.numbers import above_zero, share
from floatgate.study.plan_drives import flash_as_listed, named_drives
from floatgate.study.plan_point import JUDGES, Bounds, Price

_SIZE = re.compile(r"\d+(\.\d+)?\s*([KMGTPkmgtp]?i?[Bb])?")


def must_name_drives_once(drive: str | None, drives: Sequence[str] | None) -> None:
    """Refuse a drive beside the drives of a plan.

    Raises:
        InputError: both are there.
    """
    if drive is not None and drives is not None:
        raise input_error("--drive: the plan already tries those of --drives; expected only one of the two options")


def must_be_variants(capacities: Sequence[str] | None, spare_factors: Sequence[str] | None) -> None:
    """Refuse capacities that are no sizes, and spare factors that are no shares.

    Raises:
        InputError: with the first one.
    """
    _must_be_sizes(capacities)
    _must_be_spares(spare_factors)


def _must_be_sizes(capacities: Sequence[str] | None) -> None:
    for text in capacities or ():
        if not _SIZE.fullmatch(text):
            raise input_error(f"--capacities: {quote(text)} is not a size; expected sizes such as 64GiB,128GiB")


def _must_be_spares(spare_factors: Sequence[str] | None) -> None:
    for text in spare_factors or ():
        if not _is_spare(text):
            raise input_error(
                f"--spare-factors: {quote(text)} is not a share; expected figures from 0 to 1 such as 0.07,0.28"
            )


def _is_spare(text: str) -> bool:
    try:
        return 0 <= float(text) < 1
    except ValueError:
        return False


def bounds_of(
    drives: Sequence[str] | None,
    min_served: str | float | None = None,
    max_write_p99_ms: str | float | None = None,
    price_per_tb: str | float | None = None,
    judge: str = JUDGES[0],
    prices: Mapping[str, str] | Mapping[str, float] | None = None,
) -> Bounds:
    """Return the requirements on a drive besides its life.

    Args:
        drives: names or groups of the catalogue that the plan tries; None for the drive of the experiment.
        min_served: least share of the workload that is served; None for the default.
        max_write_p99_ms: milliseconds that 99 of 100 page writes take at most.
        price_per_tb: of the capacity as sold, of flash where a drive is not sold.
        judge: one of :data:`JUDGES`.
        prices: of drives of the catalogue by name or group; a name goes before groups.

    Raises:
        InputError: a drive is unknown; a value is no share, no time, no price or no criterion; a price has no drive.
    """
    known = None if drives is None else named_drives(drives)
    served = share("--min-served", min_served)
    expected = "milliseconds, more than 0"
    p99_ms = above_zero("--max-write-p99", max_write_p99_ms, "not a length of time", expected)
    per_tb = above_zero("--price-per-tb", price_per_tb, "not a price", "a figure above 0")
    if judge not in JUDGES:
        raise input_error(f"--judge: {quote(judge)} is not a criterion; expected one of {quoted(list(JUDGES))}")
    return Bounds(
        Bounds.min_served if served is None else served,
        None if p99_ms is None else 1000 * p99_ms,
        per_tb,
        judge,
        *(((), ()) if prices is None else _prices(prices, known, others=per_tb is not None)),
    )


def _prices(
    prices: Mapping[str, str] | Mapping[str, float], drives: Sequence[str] | None, *, others: bool
) -> tuple[tuple[Price, ...], tuple[str, ...]]:
    """Return the prices of the drives of a plan, and the names and groups with a price of which it tries none.

    ``others`` says whether drives without a price have another one.

    Raises:
        InputError: a price is none, or of an unknown drive; two groups give a drive different prices; a drive has none.
    """
    if drives is None:
        raise input_error("--prices: no drives are named; expected --drives beside it, or --price-per-tb")
    named: dict[str, float] = {}
    of_groups: dict[str, float] = {}
    unused: list[str] = []
    for name, value in prices.items():
        price = above_zero(f"--prices {name}", value, "not a price", "a figure above 0") or 0.0
        members = named_drives([name], "--prices")
        (unused if set(members).isdisjoint(drives) else []).append(name)
        if members == [name]:
            named[name] = price
            continue
        for member in members:
            if of_groups.setdefault(member, price) != price and member not in prices:
                raise input_error(f"--prices: two prices of {quote(member)}, by its groups; expected one, or its own")
    of_drive = of_groups | named
    made = {name: Price(name, of_drive[name], flash_as_listed(name)) for name in drives if name in of_drive}
    without = [name for name in drives if name not in made]
    if without and not others:
        raise input_error(
            f"--prices: no price of {quoted(without)}; expected one for each drive, or --price-per-tb for the others"
        )
    return tuple(made.values()), tuple(unused)
