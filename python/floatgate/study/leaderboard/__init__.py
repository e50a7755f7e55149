"""Leaderboards: all policies of a slot on several traces and drives, ranked with intervals.

- :mod:`.drives` sizes a drive for a trace, :mod:`.traces` prepares traces, :mod:`.fields` pairs both.
- :mod:`.request` plans the runs, which are those of a sweep; :mod:`.loaded` reads them back.
- :mod:`.ranking` has the statistics, :mod:`.standings` applies them to results.
- :mod:`.page`, :mod:`.charts` and :mod:`.text` show them.
"""
