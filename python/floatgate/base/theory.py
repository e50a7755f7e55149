"""Closed forms of write amplification, for Python."""

from __future__ import annotations

from typing import Annotated

from floatgate import _core
from floatgate.base.arguments import U32, checked


@checked
def theory_wa(
    policy: str,
    spare_factor: float,
    pages_per_block: Annotated[int, U32],
    choices: Annotated[int, U32] | None = None,
) -> float:
    """Return the write amplification by the closed form for uniform random writes of one page.

    Args:
        policy: ``greedy``, ``fifo``, ``random`` or ``d-choices``.
        spare_factor: (T - U) / T, between 0 and 1.
        pages_per_block: pages of a block; ``greedy`` and ``d-choices`` depend on it.
        choices: blocks that d-choices draws for each victim.

    Returns:
        Pages programmed per page written by the host.

    Raises:
        InputError: an unknown policy, or a figure outside its range.

    Examples:
        >>> import floatgate
        >>> round(floatgate.theory_wa("greedy", 0.1, 128), 3)
        4.992
    """
    return _core.theory_wa(policy, spare_factor, pages_per_block, choices)
