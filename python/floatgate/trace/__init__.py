"""Traces: what is in them, patterns, conversion, and recordings of running programs."""
