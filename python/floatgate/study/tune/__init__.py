"""Search for the best settings of an experiment: Optuna proposes, the engines of sweeps run.

:mod:`.search` asks Optuna batch by batch, :mod:`.proposals` keeps what it proposed; the trials stand in a journal of
sweeps.
"""
