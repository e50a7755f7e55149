"""The sections of the result of a run, one file each; :mod:`.orders` says in which order they appear."""
