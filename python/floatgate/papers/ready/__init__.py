"""READY (Lee et al., FAST 2012): a guaranteed lifetime by recovery-aware dynamic throttling."""
