"""Means and ratios of figures that some runs may lack."""

from __future__ import annotations

import math
from collections.abc import Iterable


def mean(figures: Iterable[float | None]) -> float | None:
    """Return the mean; None where one is not known."""
    known = list(figures)
    whole = [one for one in known if one is not None]
    return sum(whole) / len(whole) if whole and len(whole) == len(known) else None


STUDENT_95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}
"""Quantile 0.975 of Student's t, by the number of figures."""


def mean_95(figures: Iterable[float | None]) -> tuple[float | None, float | None]:
    """Return the mean and half of its 95 % interval; None where one figure is not known or there are not 2 to 5."""
    known = list(figures)
    whole = [one for one in known if one is not None]
    if len(whole) != len(known) or len(whole) not in STUDENT_95:
        return None, None
    middle = sum(whole) / len(whole)
    squares = sum((one - middle) ** 2 for one in whole)
    return middle, STUDENT_95[len(whole)] * math.sqrt(squares / (len(whole) - 1) / len(whole))


def ratio(one: float | None, other: float | None) -> float | None:
    """Return the quotient; None where one of them is not known or nothing."""
    return None if one is None or not other else one / other


def compared(
    firsts: Iterable[float | None], seconds: Iterable[float | None]
) -> tuple[float | None, float | None, float | None, float | None]:
    """Compare figures in pairs, one of each draw.

    Returns:
        The two means to be judged, and mean and half of the 95 % interval of the differences, second less first. Where
        the interval holds 0 both means are their common mean: no difference. None where a figure is not known.
    """
    one, other = list(firsts), list(seconds)
    pairs = list(zip(one, other, strict=True))
    first, second = mean(one), mean(other)
    differences = [None if a is None or b is None else b - a for a, b in pairs]
    middle, half = mean_95(differences)
    if first is None or second is None or middle is None or half is None:
        return None, None, None, None
    if abs(middle) <= half:
        first = second = (first + second) / 2
    return first, second, middle, half
