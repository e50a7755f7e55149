"""Explains one run or forecast: which rules hold, and which settings would change it most.

The rules and settings are tables below the report (``floatgate.report.sections.limits``). :mod:`.case` reads a folder,
:mod:`.explanation` evaluates the tables for it, ranks the settings and drops those that the core refuses
(:mod:`.defaults`); :mod:`.trial` runs them.
"""
