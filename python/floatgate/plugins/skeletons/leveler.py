"""A wear-leveler for floatgate: docs/own-policies.md explains what it sees."""

import floatgate
from floatgate import NONE


@floatgate.leveler("NAME")
class CLASS:
    """Cold data of the least erased block move into the most worn free block."""

    apart = floatgate.Param(20, least=1, most=1_000_000, doc="erases that may lie between both blocks")
    cold = floatgate.Param(1.0, least=0.0, most=1000.0, doc="drive writes that data must outlive to be cold")

    def job(wear, s, p):
        """Return the block whose data should move, or NONE."""
        block = wear.least_erased
        if NONE in (block, wear.most_worn_free):
            return NONE
        is_cold = float(wear.now - wear.closed_at[block]) >= p.cold * float(wear.logical_pages)
        return block if is_cold and int(wear.most_worn_free) - int(wear.erases[block]) > p.apart else NONE
