"""The engine that ``--on`` names."""

from __future__ import annotations

from floatgate.base.errors import input_error, quote
from floatgate.study.runs.engine import Engine, Local


def engine_of(on: str, jobs: int | None) -> Engine:
    """Return the engine that does the runs.

    Args:
        on: ``local``, ``dask://HOST:PORT``, or ``tls://HOST:PORT`` for an encrypted connection.
        jobs: runs at a time on this machine; None for one per core.

    Raises:
        InputError: no such engine, or it does not answer.
    """
    if on == "local":
        return Local(jobs)
    if not on.startswith(("dask://", "tls://")):
        what = "expected local, or dask://HOST:PORT or tls://HOST:PORT of a Dask scheduler"
        raise input_error(f"--on {quote(on)}: unknown; {what}")
    if jobs is not None:
        raise input_error(f"--jobs {jobs}: the workers of a scheduler have threads of their own; expected --on local")
    from floatgate.study.runs.on_dask import Dask

    return Dask(on)
