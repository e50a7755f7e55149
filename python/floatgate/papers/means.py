"""Means and ratios of figures that some runs may lack."""

from __future__ import annotations

from collections.abc import Iterable


def mean(figures: Iterable[float | None]) -> float | None:
    """Return the mean; None where one is not known."""
    known = list(figures)
    whole = [one for one in known if one is not None]
    return sum(whole) / len(whole) if whole and len(whole) == len(known) else None


def ratio(one: float | None, other: float | None) -> float | None:
    """Return the quotient; None where one of them is not known or nothing."""
    return None if one is None or not other else one / other
