"""Runs as folders."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from floatgate.plugins.kept import copy_files
from floatgate.results.folder import RunFolder
from floatgate.results.result_view import look

if TYPE_CHECKING:
    from floatgate.run.run import Run


def write_files(run: Run, folder: Path) -> None:
    """Write ``result.json``, ``experiment.toml`` and ``series.parquet`` of one run into ``folder``."""
    import pyarrow.parquet as pq

    (folder / "result.json").write_text(run.result_json.rstrip("\n") + "\n", "utf-8")
    (folder / "experiment.toml").write_text(run.experiment_toml, "utf-8")
    pq.write_table(run.series, folder / "series.parquet")
    if run.timeline is not None:
        pq.write_table(run.timeline, folder / "timeline.parquet", compression="zstd")
    code = look(run.result, "config", "policy_code")
    if code:
        copy_files(code, folder / "policies")


def write_run(
    run: Run,
    target: RunFolder,
    *,
    report: bool = True,
    command: str | None = None,
    requests: Path | None = None,
    settled: Callable[[], None] | None = None,
) -> Path:
    """Write a run folder and return its path.

    Args:
        run: the run.
        target: where to.
        report: whether to draw ``report.html``.
        command: the command line that made the run, for the foot of the report.
        requests: the log of requests, to be moved into the folder.
        settled: called once the results are in their place.
    """

    def fill(staging: Path, _final: Path) -> None:
        write_files(run, staging)
        if requests is not None:
            shutil.move(requests, staging / requests.name)

    def done(folder: Path) -> None:
        run.folder = folder
        if settled is not None:
            settled()

    return target.write(fill, done, (lambda: run.report(command)) if report else None)
