"""Many runs: comparisons, seeds, sweeps, searches, plans, and queries over what they left."""
