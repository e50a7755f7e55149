"""Measurements on real things: Ready/Busy captures, counters of drives, contents of files."""
