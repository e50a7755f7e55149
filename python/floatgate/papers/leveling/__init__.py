"""Wear-leveling: what it evens out, what it costs, and whether it may harm."""
