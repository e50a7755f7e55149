"""What the functions of a policy see: tuples with names, whose tables are the engine's own memory."""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from typing import Any

Blocks = namedtuple(
    "Blocks",
    "now domain first_block blocks pages_per_block first random valid erases closed_at after oldest since any",
)
"""The closed blocks of a domain; `docs/own-policies.md` describes each field."""
Page = namedtuple("Page", "page update context handle request_pages age now")
"""A page that the host writes."""
Moving = namedtuple("Moving", "page stream age now")
"""A live page that leaves a block of ``stream``."""
Reclaimed = namedtuple("Reclaimed", "stream opened_at now")
"""A block without live pages that is about to be erased."""
Wear = namedtuple(
    "Wear",
    "now domain first_block blocks pages_per_block logical_pages least_erased most_worn_free may_pass random"
    " mean_erases valid erases closed_at closed",
)
"""The blocks of a domain, for wear-levelers."""
Epoch = namedtuple(
    "Epoch",
    "number start_s length_s target_s left_bytes capacity_bytes spare_bytes demand_bytes page_write_bytes last_bytes"
    " last_capacity_bytes last_length_s last_waited_s last_delay_s",
)
"""An epoch of a throttle that is about to begin."""
Shape = namedtuple("Shape", "logical_pages pages_per_block blocks domains page_bytes seed")
"""The shape of a drive."""


@cache
def record(name: str, fields: tuple[str, ...]) -> Any:
    """Return a kind of tuple with these fields."""
    return namedtuple(name, fields)
