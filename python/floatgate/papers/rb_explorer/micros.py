"""The micro-benchmarks of Table 3 by name, and figures over some of them."""

from __future__ import annotations

from collections.abc import Iterable

SIZES = ("512b", "4k", "8k", "16k", "32k")
LARGE = SIZES[1:]
"""Sizes from 4 KiB on."""
ORDERS = ("sq", "rd")
WRITES = ("100w", "50w")
ALIGNMENTS = ("align", "no-align")


def micros(
    sizes: Iterable[str] = SIZES,
    orders: Iterable[str] = ORDERS,
    writes: Iterable[str] = WRITES,
    alignments: Iterable[str] = ALIGNMENTS,
) -> list[str]:
    """Names of all micro-benchmarks with one of these sizes, orders, write shares and alignments."""
    return [
        f"{size}-{order}-{share}-{alignment}"
        for size in sizes
        for share in writes
        for order in orders
        for alignment in alignments
    ]


def mean(figures: Iterable[float | None]) -> float | None:
    """The mean; None where one is not known."""
    known = list(figures)
    whole = [one for one in known if one is not None]
    return sum(whole) / len(whole) if whole and len(whole) == len(known) else None


def ratio(one: float | None, other: float | None) -> float | None:
    """The quotient; None where one of them is not known or nothing."""
    return None if one is None or not other else one / other
