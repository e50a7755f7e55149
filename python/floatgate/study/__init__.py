"""Many runs: comparisons, seeds, sweeps, searches, plans, and queries over what they left.

Comparisons (:mod:`.compare`), seeds (:mod:`.repeat`), sweeps (:mod:`.sweeps`) and searches (:mod:`.tune`) hand their
runs to an engine of :mod:`.sweeps` and start no threads themselves. :mod:`.compare` holds settings with the runs of
their seeds, :mod:`.differences` pairs the runs, :mod:`.compare_resume` keeps what is done; :mod:`.varied_charts`
draws settings for all. A plan goes through drives in threads (:mod:`.planning`); :mod:`.plan_point` is one drive with
its bounds, :mod:`.plan` chooses and tells. :mod:`.query` opens folders of results to DuckDB (:mod:`.query_views`
makes the views, :mod:`.query_stream` hands rows over); :mod:`.kinds` has a file for each kind of results, with its
rows, its line in a list and its report.
"""
