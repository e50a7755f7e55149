"""The trivial rule: files that are written as a log against all other data.

A file is a log if both hold:

1. It is appended to: nine in ten of the steps from one of its requests to the next are appends. An append begins at
   the end of the request before or within it and reaches at least as far (the last page of a log is written again until
   it is full). Or it begins anew at the lowest page of the file or of an extent of the recorder
   (``recorder/layout.py``), as in a log that is reused.
2. Its data die in the order in which they were written: of the pages that die one after another, nine in ten pairs
   were written in that order. Pages that the next append replaces are left out. A file whose data die in no other way
   is no log: it may as well be data that are written once.

Files with fewer than :data:`REQUESTS_MIN` requests, two steps, say too little and count as data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from floatgate.placement.lives import Lives
from floatgate.trace.recorder.layout import EXTENT_PAGES

REQUESTS_MIN = 3
SHARE = 0.9


def logs(lives: Lives, of_row: Any, files: int, address: Any) -> Any:
    """Return which files are logs.

    Args:
        lives: the page writes of a trace.
        of_row: by row of the trace the number of its file, negative where it has none.
        files: how many there are.
        address: of each page write, its page on the recorder's drive.
    """
    file = of_row[lives.row]
    are_logs = np.zeros(files, dtype=bool)
    order = np.argsort(file, kind="stable")
    starts = np.searchsorted(file[order], np.arange(files + 1))
    for number in range(files):
        mine = order[starts[number] : starts[number + 1]]
        if len(mine) >= REQUESTS_MIN:
            are_logs[number] = _is_log(address[mine], lives.row[mine], mine, lives.died[mine], mine + lives.life[mine])
    return are_logs


def _is_log(page: Any, row: Any, born: Any, died: Any, dies: Any) -> bool:
    _, first, count = np.unique(row, return_index=True, return_counts=True)
    if len(first) < REQUESTS_MIN:
        return False
    low, high = page[first], page[first] + count
    append = (low[1:] >= low[:-1]) & (low[1:] <= high[:-1]) & (high[1:] >= high[:-1])
    anew = (low[1:] % EXTENT_PAGES == 0) | (low[1:] == low.min())
    if np.mean(append | anew) < SHARE:
        return False
    # Replaced by the next append: its pages from where that begins.
    request = np.repeat(np.arange(len(first)), count)
    begins = np.append(np.where(append, low[1:], np.iinfo(np.int64).max), np.iinfo(np.int64).max)
    mortal = np.flatnonzero(died & (page < begins[request]))
    if not len(mortal):
        return False
    # Data that die at one moment, as when a file is deleted, die in the order of their pages.
    by_death = mortal[np.lexsort((page[mortal], dies[mortal]))]
    in_order = np.diff(born[by_death]) > 0
    return len(in_order) == 0 or float(in_order.mean()) >= SHARE
