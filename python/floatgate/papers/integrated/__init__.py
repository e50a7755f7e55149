"""Integrated lifetime management (paper 2)."""
