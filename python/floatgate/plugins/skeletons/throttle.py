"""A throttle for floatgate: docs/own-policies.md explains what it sees."""

import floatgate


@floatgate.throttle("NAME")
class CLASS:
    """Page writes are spread over an epoch that is likely to exceed its capacity."""

    share = floatgate.Param(1.0, least=0.0, most=1.0, doc="share of the epoch over which the writes are spread")

    def delay(epoch, s, p):
        """Return the delay of every page write of the epoch, seconds."""
        if epoch.demand_bytes <= epoch.capacity_bytes:
            return 0.0
        pages = max(epoch.capacity_bytes / epoch.page_write_bytes, 1.0)
        return p.share * epoch.length_s / pages
