"""Write amplification by closed form under uniform writes: what more spare space or greedy collection would save.

The forms are those of ``floatgate theory`` (``crates/theory``). Under other writes the drive copies less than they say;
the share of the copies that goes is then an estimate, which a run has to prove.
"""

from __future__ import annotations

from collections.abc import Callable

from floatgate import _core
from floatgate.report.sections.limits.subject import Subject

LAWS = ("greedy", "fifo", "random", "d-choices")
"""Victim policies with a closed form."""
SPARE_MAX = 0.5
"""The largest spare factor to suggest."""


def more_spare(case: Subject) -> float | None:
    """Return twice the spare factor, at most :data:`SPARE_MAX`; None where it is that already."""
    spare = case.setting("ftl.spare_factor")
    if spare is None or spare >= SPARE_MAX:
        return None
    return min(SPARE_MAX, float(f"{2 * spare:.2g}"))


def pages_per_block(case: Subject) -> int | None:
    """Return the pages of the map of a block."""
    pages, size, unit = (case.metric(f"drive.{key}") for key in ("pages_per_block", "page_bytes", "mapping_bytes"))
    return max(1, pages * size // unit) if pages and size and unit else None


def law(case: Subject) -> str:
    """Return the victim policy whose closed form applies: the drive's own, or greedy where it has none."""
    policy = str(case.setting("ftl.collect.policy"))
    return policy if policy in LAWS else "greedy"


def waf_now(case: Subject) -> float | None:
    """Return write amplification at the spare factor that collection had."""
    return _waf(case, law(case), effective(case))


def effective_with_more(case: Subject) -> float | None:
    """Return the effective spare factor with :func:`more_spare`; free and open blocks take as much of it as before."""
    more, now = more_spare(case), effective(case)
    return None if more is None or now is None else float(now + more - case.setting("ftl.spare_factor"))


def waf_with_more(case: Subject) -> float | None:
    """Return the same with :func:`more_spare`."""
    return _waf(case, law(case), effective_with_more(case))


def waf_greedy(case: Subject) -> float | None:
    """Return the same under greedy collection; None where it is greedy, or its policy has no closed form."""
    own = case.setting("ftl.collect.policy")
    return _waf(case, "greedy", effective(case)) if own in LAWS and own != "greedy" else None


def saved(copies: object, case: Subject, other: Callable[[Subject], float | None]) -> float | None:
    """Return the part of ``copies`` that goes, as the copies of the closed form do; None where one is not known.

    Args:
        copies: what collection copies, as a share of something.
        case: the run.
        other: write amplification of the closed form afterwards.
    """
    before, after = waf_now(case), other(case)
    if not isinstance(copies, float) or before is None or after is None or before <= 1.0:
        return None
    return copies * (1.0 - (after - 1.0) / (before - 1.0))


def effective(case: Subject) -> float | None:
    """Return the spare factor that collection had, free and open blocks left out."""
    known = case.metric("drive.effective_spare_factor")
    spare: float | None = case.metric("drive.spare_factor") if known is None else known
    return spare


def _waf(case: Subject, policy: str, spare: float | None) -> float | None:
    pages = pages_per_block(case)
    if spare is None or not 0.0 < spare < 1.0 or pages is None:
        return None
    choices = case.setting("ftl.collect.choices") if policy == "d-choices" else None
    return _core.theory_wa(policy, spare, pages, choices)
