"""Search for the best settings of an experiment: Optuna proposes, engines run.

:mod:`.search` asks Optuna batch by batch, :mod:`.proposals` keeps what it proposed; the trials stand in a journal of
runs.
"""
