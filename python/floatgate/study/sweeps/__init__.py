"""Many runs of one experiment: which (points), how (engines), and what comes of them (a journal, one flat table)."""
