"""Many runs: comparisons, seeds, sweeps, searches, plans, and queries over their results.

Comparisons (:mod:`.compare`), seeds (:mod:`.repeat`), sweeps (:mod:`.sweeps`) and searches (:mod:`.tune`) hand their
runs to an engine of :mod:`.runs` and start no threads themselves. All of them keep a plan of runs and a journal there,
and resume from it; so does a plan of drives (:mod:`.planning`), which forecasts them in threads.
:mod:`.compare` holds settings with the runs of their seeds, :mod:`.differences` pairs the runs; :mod:`.varied_charts`
draws settings for all. :mod:`.plan_point` is one drive of a plan with its bounds, :mod:`.plan` chooses and explains.
:mod:`.query` opens folders of results to DuckDB (:mod:`.query_views` makes the views, :mod:`.query_stream` hands rows
over); :mod:`.kinds` has a file for each kind of results, with its rows, its line in a list and its report.
:mod:`.explain` says of one run what limits it, and suggests and tries settings.
"""
