"""Pattern-based write scheduling and read-balance wear-leveling (paper 1)."""
