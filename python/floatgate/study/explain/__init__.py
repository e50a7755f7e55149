"""What limits life and latency on a drive under a load, and which settings would change it most.

:mod:`.rules` and :mod:`.settings` are tables: a rule is a condition on figures, a sentence and the settings that it
suggests. :mod:`.figures` has the figures, each computed from metrics of a result. :mod:`.explanation` evaluates the
tables for one folder, ranks the settings and drops those that the core refuses; :mod:`.trial` runs them.
"""
