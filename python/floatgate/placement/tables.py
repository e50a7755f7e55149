"""The tables of keys and of handles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from floatgate.placement.grouping import NO_HANDLE
from floatgate.placement.keys import NO_STACK, NOBODY, Keys
from floatgate.placement.lives import Lives, OfKeys, of_keys
from floatgate.placement.trial import Trial

HINTS = ("short", "medium", "long", "extreme")
"""Write lifetime hints of Linux (``F_SET_RW_HINT``) from the shortest."""


def key_rows(keys: Keys, lives: OfKeys, handle: Any, trial: Trial) -> list[dict[str, Any]]:
    """Return the keys that write, the most written first; last of those that write as much, writes without a key."""
    identities: list[Any] = list(keys.identities())
    phrases = [
        {
            "key": identities[number],
            "name": keys.names[number],
            **({} if keys.paths is None else {"path": keys.paths[number]}),
            "frames": keys.frames[number],
            "handle": int(handle[number]),
            "page_writes": int(lives.page_writes[number]),
            "updates": int(lives.updates[number]),
            "mean_life_writes": float(mean) if math.isfinite(mean := lives.mean_life[number]) else None,
        }
        for number in range(len(identities))
        if lives.page_writes[number]
    ]
    mine = np.where(keys.of_row == NOBODY, 0, NOBODY)
    nobody = of_keys(trial.lives, mine[trial.rows], 1)
    if nobody.page_writes[0]:
        name = NO_STACK if keys.by == "context" else "(unknown)"
        phrases.append(
            {
                "key": 0 if keys.by == "context" else None,
                "name": name,
                "frames": [],
                "handle": NO_HANDLE,
                "page_writes": int(nobody.page_writes[0]),
                "updates": int(nobody.updates[0]),
                "mean_life_writes": float(mean) if math.isfinite(mean := nobody.mean_life[0]) else None,
            }
        )
    phrases.sort(key=lambda one: -one["page_writes"])
    return phrases


def group_rows(keys: list[dict[str, Any]], handle_of_row: Any, trial: Trial) -> list[dict[str, Any]]:
    """Return the handles that are written to, in their order.

    Args:
        keys: the table of keys.
        handle_of_row: the handle of each row of the trace.
        trial: the trace.
    """
    lives, table = trial.lives, trial.table
    handle = handle_of_row[lives.row]
    resident = _last_handles(lives, handle)
    is_write = np.asarray(table["op"].combine_chunks().cast("string")) == "write"
    pages = np.bincount(lives.row, minlength=len(handle_of_row))
    follows = np.concatenate([[False], np.diff(lives.page) == 1])
    groups: list[dict[str, Any]] = []
    for number in (int(one) for one in np.unique(handle)):
        mine = handle == number
        sizes, requests = np.unique(pages[is_write & (handle_of_row == number)], return_counts=True)
        groups.append(
            {
                "handle": number,
                "keys": [one["key"] for one in keys if one["handle"] == number],
                "page_writes": int(mine.sum()),
                "mean_lifespan_writes": float(lives.life[mine].mean()),
                "hint": None,
                "resident_pages": int((resident == number).sum()),
                "sequential_share": float(follows[mine].mean()),
                "requests_by_pages": {str(int(size)): int(n) for size, n in zip(sizes, requests, strict=True)},
            }
        )
    ranked = sorted(groups, key=lambda one: one["mean_lifespan_writes"])
    for place, group in enumerate(ranked):
        group["hint"] = HINTS[place * len(HINTS) // len(ranked)]
    return groups


def _last_handles(lives: Lives, handle: Any) -> Any:
    """Return for each written page the handle of its last write."""
    _, last = np.unique(lives.page[::-1], return_index=True)
    return handle[::-1][last]
