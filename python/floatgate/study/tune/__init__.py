"""Search for the best settings of an experiment: Optuna proposes, the engines of sweeps run."""
