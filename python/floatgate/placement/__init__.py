"""Which placement handle each writer or file of a program should use, found in a recorded trace.

Keys are program contexts, files, path patterns, processes, threads or descriptors. They are assigned to handles by a
separator that runs on a drive of its own (PDS or IDS, for contexts), or by how long their data live. Runs on one drive
then test the table. A drive that only knows handles (``host-given``) follows it, as an NVMe drive with flexible data
placement or streams would; simpler rules and separators in the drive are run for comparison. These runs use the trace
from which the table was made. A second recording of the program shows how the table does on writes that it was not
made from.
"""

from __future__ import annotations

from floatgate.placement.answer import SCHEMA, Applied, Placement
from floatgate.placement.drive import DRIVE, ISOLATIONS
from floatgate.placement.keys import BY
from floatgate.placement.making import POLICIES, place

__all__ = ["BY", "DRIVE", "ISOLATIONS", "POLICIES", "SCHEMA", "Applied", "Placement", "place"]
