"""Code for scripts and tests only: independent models to compare floatgate with, and counts of recorded traces."""
