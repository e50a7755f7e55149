"""A separator for floatgate: docs/own-policies.md explains what it sees."""

import floatgate


@floatgate.separator("NAME")
class CLASS:
    """Pages that were written often apart from others."""

    often = floatgate.Param(4, least=1, most=255, doc="writes from which a page was written often")
    streams = 3
    writes = floatgate.State("uint8")

    def write(page, s, p):
        """Return the stream of a page that the host writes."""
        if s.writes[page.page] < 255:
            s.writes[page.page] += 1
        return 1 if s.writes[page.page] >= p.often else 0

    def move(page, s, p):
        """Return the stream of a live page that leaves a block."""
        return 2
