"""DiskSim's SSD extension compared with floatgate: its results read, its drive set up, its rules computed again.

`scripts/compare_disksim.py` is the command, docs/disksim.md the comparison.
"""
