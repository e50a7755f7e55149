"""A victim policy for floatgate: docs/own-policies.md explains what it sees."""

import floatgate
from floatgate import NONE


@floatgate.victim_policy("NAME", order="closing")
class CLASS:
    """The emptiest of the oldest blocks."""

    oldest = floatgate.Param(16, least=1, most=4096, doc="blocks that are compared")

    def pick(blocks, p):
        """Return the block to collect next, or NONE."""
        emptiest, block = blocks.first, blocks.first
        for _ in range(p.oldest):
            if block == NONE:
                break
            if blocks.valid[block] < blocks.valid[emptiest]:
                emptiest = block
            block = blocks.after[block]
        return emptiest
