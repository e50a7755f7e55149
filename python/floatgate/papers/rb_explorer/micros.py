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
    """Return names of all micro-benchmarks with one of these sizes, orders, write shares and alignments."""
    return [
        f"{size}-{order}-{share}-{alignment}"
        for size in sizes
        for share in writes
        for order in orders
        for alignment in alignments
    ]
