"""Sweeps: one experiment under many settings, and one flat table.

:mod:`.spec` reads the request, :mod:`.sweep` joins plan, journal and engine of :mod:`floatgate.study.runs`,
:mod:`.loaded` reads a sweep back and :mod:`.read_table` checks its table; :mod:`.page` draws its report.
"""
