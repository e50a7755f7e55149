"""Drives that a trace fills, with few large blocks: small enough that a short recording wears them.

Pages of the trace are numbered without gaps, so the drive is full of data that the trace replaces.
"""

from __future__ import annotations

import math

from floatgate.run.experiment import Overrides

SPARES = (0.28, 0.15, 0.07)
"""Spare factors of the three drives of a trace."""
PAGES_PER_BLOCK, BLOCKS_MIN = (32, 16, 8), 400
"""Sizes of blocks; the largest with so many blocks is taken."""
STREAMS = 10
"""Open blocks of IDS, the separator with most."""
SMALLEST = math.floor((math.floor((STREAMS + 2) / SPARES[-1]) - 1) * PAGES_PER_BLOCK[-1] * (1 - SPARES[-1])) + 1
"""Pages of a trace whose drive has room for these: what is to spare must be more than they and the two blocks that
collection keeps free."""


LARGE_BYTES = 16 << 30
_LARGE_BLOCK_PAGES = 256


def large(page_bytes: int) -> Overrides:
    """Return the settings of a drive of :data:`LARGE_BYTES`, on which the memory of a policy is measured.

    On the small drives of traces, tables of a fixed size would outweigh what a policy keeps per page.

    Args:
        page_bytes: of its pages.
    """
    return [
        ("drive.geometry.blocks_per_plane", str(LARGE_BYTES // page_bytes // _LARGE_BLOCK_PAGES)),
        ("drive.geometry.pages_per_block", str(_LARGE_BLOCK_PAGES)),
        ("ftl.spare_factor", str(SPARES[-1])),
    ]


def pages_per_block(pages: int) -> int:
    """Return the size of a block of the drive for a trace that writes so many different pages."""
    return next((one for one in PAGES_PER_BLOCK if pages >= BLOCKS_MIN * one), PAGES_PER_BLOCK[-1])


def scaled(pages: int, spare: float, block_pages: int) -> Overrides:
    """Return the settings of a drive.

    Args:
        pages: that the host fills.
        spare: its spare factor.
        block_pages: pages of a block.
    """
    return [
        ("drive.geometry.blocks_per_plane", str(math.ceil(pages / (block_pages * (1 - spare))) + 1)),
        ("drive.geometry.pages_per_block", str(block_pages)),
        ("ftl.spare_factor", str(spare)),
    ]
