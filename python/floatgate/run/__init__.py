"""Runs and forecasts: from an experiment to a result."""
