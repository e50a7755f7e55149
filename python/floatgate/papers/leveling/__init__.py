"""Wear-leveling: its benefit, its cost, and whether it can do harm."""
