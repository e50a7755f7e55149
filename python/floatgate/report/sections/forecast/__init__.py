"""A forecast life: its lines of the summary, its cards and charts, the interval it lies in, what plans read of it."""
