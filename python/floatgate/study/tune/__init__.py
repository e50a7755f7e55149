"""Search for the best settings of an experiment: Optuna proposes, engines run.

:mod:`.search` requests proposals from Optuna batch by batch, :mod:`.proposals` keeps them; the trials are in a journal
of runs.
"""
