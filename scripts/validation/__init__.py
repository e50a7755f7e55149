"""What only scripts and tests use: independent models beside which floatgate is set, and counts of recorded traces."""
