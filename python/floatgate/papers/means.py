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
