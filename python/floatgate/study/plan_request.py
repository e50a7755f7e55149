"""Checks of what a plan tries and what its drives must meet. Errors name the option of the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from floatgate.base.errors import input_error, quote, quoted
from floatgate.base.numbers import above_zero, share
from floatgate.study.plan_drives import named_drives
from floatgate.study.plan_point import JUDGES, Bounds
from floatgate.study.plan_prices import PriceList, Texts, price_list

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
    prices: Texts | None = None,
) -> Bounds:
    """Return the requirements on a drive besides its life.

    Args:
        drives: names or groups of the catalogue that the plan tries; None for the drive of the experiment.
        min_served: least share of the workload that is served; None for the default.
        max_write_p99_ms: milliseconds that 99 of 100 page writes take at most.
        price_per_tb: of the capacity as sold, of flash where a drive is not sold.
        judge: one of :data:`JUDGES`.
        prices: of drives of the catalogue by name or group, per drive or per TB; a name goes before groups.

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
    if prices is not None and known is None:
        raise input_error("--prices: no drives are named; expected --drives beside it, or --price-per-tb")
    priced = PriceList() if prices is None else price_list(prices, known or (), others=per_tb is not None)
    return Bounds(
        Bounds.min_served if served is None else served,
        None if p99_ms is None else 1000 * p99_ms,
        per_tb,
        judge,
        priced.prices,
        priced.unused,
        priced.doubts,
    )


def repriced(bounds: Bounds, drives: Sequence[str], prices: Texts | None, price_per_tb: str | float | None) -> Bounds:
    """Return the requirements of a plan with other prices in place of all that it had.

    Args:
        bounds: those of the plan.
        drives: the drives of the catalogue that it tried; empty for those of an experiment.
        prices: by name or group, per drive or per TB; None for none.
        price_per_tb: of the capacity as sold, for drives without a price; None for none.

    Raises:
        InputError: as for :func:`bounds_of`.
    """
    per_tb = above_zero("--price-per-tb", price_per_tb, "not a price", "a figure above 0")
    if prices is not None and not drives:
        raise input_error("--prices: the plan tries no drives of the catalogue; expected --price-per-tb in its place")
    priced = PriceList() if prices is None else price_list(prices, drives, others=per_tb is not None)
    kept = replace(bounds, price_per_tb=per_tb, prices=priced.prices)
    return replace(kept, unused_prices=priced.unused, price_doubts=priced.doubts)
