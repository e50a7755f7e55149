"""Two policies in Python: a victim policy and a separator. docs/own-policies.md explains them."""

import floatgate
from floatgate import NONE


@floatgate.victim_policy(order="closing")
class EmptiestOfOldest:
    """The emptiest of the k blocks that were closed first."""

    k = floatgate.Param(16, least=1, most=4096, doc="blocks that are compared")

    def pick(blocks, p):
        emptiest, block = blocks.first, blocks.first
        for _ in range(p.k):
            if block == NONE:
                break
            if blocks.valid[block] < blocks.valid[emptiest]:
                emptiest = block
            block = blocks.after[block]
        return emptiest


@floatgate.separator()
class ByRequestSize:
    """Pages of large requests apart from those of small ones; moved pages stay with theirs."""

    large_pages = floatgate.Param(8, least=2, most=1024, doc="pages from which a request is large")
    streams = 2

    def write(page, s, p):
        return 1 if page.request_pages >= p.large_pages else 0

    def move(page, s, p):
        return page.stream
