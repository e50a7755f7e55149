"""Which placement handle each writer or file of a program should use, found in a recorded trace.

The keys (program contexts, files, path patterns, processes, threads or descriptors) go to handles by a separator that
runs on a drive of its own (PDS or IDS, for contexts), or by how long their data live. Runs on one drive judge the
table: a drive that only knows handles (``host-given``) follows it, as an NVMe drive with flexible data placement, or
with streams, would; beside it there are simpler rules and separators in the drive. These runs are of the trace from
which the table was made; another recording of the program tells what the table is worth on writes from which it was
not.
"""

from __future__ import annotations

from floatgate.placement.answer import SCHEMA, Applied, Placement
from floatgate.placement.drive import DRIVE, ISOLATIONS
from floatgate.placement.keys import BY
from floatgate.placement.making import POLICIES, place

__all__ = ["BY", "DRIVE", "ISOLATIONS", "POLICIES", "SCHEMA", "Applied", "Placement", "place"]
