"""The recorded traces that come with the project, in the folder ``traces`` of its checkout."""

from __future__ import annotations

from pathlib import Path

from floatgate.base.errors import input_error, meant, quote

FOLDER = Path(__file__).resolve().parents[3] / "traces"
CONTEXTS = (
    *("gcc-build", "cscope", "rendering", "two-at-once", "three-at-once"),
    *("sqlite-updates", "sqlite-content", "postgres-updates", "decision-support"),
    *("build-content", "media-content"),
)
"""Those with program contexts."""
SMALL_CACHES = (
    *("load-beside-updates", "decision-refreshes", "reporting", "make-trees", "rocksdb-compaction"),
    *("cscope-rounds", "build-and-cscope", "three-interleaved"),
)
"""Those with contexts, processes, threads and descriptors, recorded through small caches."""
READS = ("sqlite-queries", "text-search")
"""Those that hardly write, with the reads that miss the page cache."""
BLOCKS = ("pgbench-ext4",)
"""Those that were recorded below the file system, without contexts."""


def path(name: str) -> Path:
    """Return the file of a recorded trace.

    Raises:
        InputError: there is no such trace, or no checkout.
    """
    known = [*CONTEXTS, *SMALL_CACHES, *READS, *BLOCKS]
    if name not in known:
        raise input_error(f"unknown recorded trace {quote(name)}; {meant(name, known)}")
    file = FOLDER / (f"{name}.nbdkit-log.zst" if name in BLOCKS else f"{name}.parquet")
    if not file.is_file():
        what = f"{file}: the recorded trace {quote(name)} is not there"
        raise input_error(
            f"{what}; expected floatgate to be installed from its checkout (pip install -e), or a trace of yours"
        )
    return file
