"""A leaderboard that is read back from its folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.base.arguments import checked
from floatgate.base.errors import input_error
from floatgate.base.json_in import Node
from floatgate.report.sections.amplification import IN_BYTES
from floatgate.report.sections.drive import LOGICAL_BYTES, PAGE_BYTES
from floatgate.report.sections.streams import MEMORY_BYTES
from floatgate.results import shapes
from floatgate.study.leaderboard import text
from floatgate.study.leaderboard.request import FILE, Board
from floatgate.study.leaderboard.slots import SLOTS
from floatgate.study.leaderboard.standings import Cell, Standings, standings
from floatgate.study.leaderboard.traces import Entry, LeftOut
from floatgate.study.runs.work import DONE, FAILED
from floatgate.study.sweeps.loaded import LoadedSweep, load_sweep

if TYPE_CHECKING:
    import pyarrow as pa

_COLUMNS = ("run", "status", "error", IN_BYTES, MEMORY_BYTES, LOGICAL_BYTES, PAGE_BYTES)


class Leaderboard:
    """A leaderboard: what was compared on what, and the results.

    Attributes:
        folder: where it is.
        board: what is compared.
        runs: the runs, as a sweep.
    """

    def __init__(self, folder: Path, board: Board, runs: LoadedSweep) -> None:
        """Use :func:`load_leaderboard`.

        Args:
            folder: where it is.
            board: what is compared.
            runs: the runs.
        """
        self.folder, self.board, self.runs = folder, board, runs

    def __repr__(self) -> str:
        return f"<floatgate.Leaderboard {self.folder}: {len(self.board.policies)} {self.board.slot.what}>"

    @cached_property
    def _rows(self) -> dict[int, dict[str, Any]]:
        table = self.runs.arrow()
        there = table.select([one for one in _COLUMNS if one in table.column_names])
        return {row["run"]: row for row in there.to_pylist()}

    @cached_property
    def memory_bytes(self) -> dict[str, float]:
        """The memory of policies per logical page of a large drive; empty for a slot whose policies state none."""
        board, made = self.board, {}
        if board.slot.table != "ftl.separate":
            return {}
        for place, policy in enumerate(board.policies):
            row = self._rows.get((len(board.fields) * len(board.policies) + place) * board.seeds)
            if row is not None and row["status"] == DONE and MEMORY_BYTES in row:
                made[policy] = (row[MEMORY_BYTES] or 0) / (row[LOGICAL_BYTES] / row[PAGE_BYTES])
        return made

    def _unmeasured(self) -> list[str]:
        """Return the failures of runs that tell the memory of policies."""
        board, first = self.board, len(self.board.fields) * len(self.board.policies)
        rows = [(name, self._rows.get((first + place) * board.seeds)) for place, name in enumerate(board.policies)]
        return [f"{name}, memory: {row['error']}" for name, row in rows if row is not None and row["status"] == FAILED]

    @cached_property
    def cells(self) -> dict[tuple[str, str, float], Cell]:
        """The results by policy, trace and spare factor."""
        rows = self._rows
        spent = {row["run"]: row.get("cpu_s") for row in self.runs.runs().to_pylist()}
        board, made, number = self.board, {}, 0
        for trace, spare in board.fields:
            written = trace.pages + trace.page_writes * (1 + trace.passes)
            for policy in board.policies:
                numbers = range(number, number + board.seeds)
                each = [rows[one] | {"cpu_s": spent.get(one)} for one in numbers if one in rows]
                made[policy, trace.name, spare] = _cell(each, written)
                number += board.seeds
        return made

    @cached_property
    def standings(self) -> Standings:
        """The ranks, with intervals and tests."""
        return standings(self.board, self.cells, self.memory_bytes, self._unmeasured())

    def to_arrow(self) -> pa.Table:
        """Return one row per run, as a sweep has them."""
        return self.runs.to_arrow()

    def to_dict(self) -> dict[str, Any]:
        """Return the leaderboard as JSON gives it: what was compared, the standings, every field with its WAFs."""
        ranked, board = self.standings, self.board
        return {
            **board.to_dict(),
            "folder": str(self.folder),
            "table": str(self.runs.folder / "sweep.parquet"),
            "runs": self.runs.planned,
            "baseline": board.slot.baseline,
            "reference": ranked.reference,
            "standings": [row.to_dict() for row in ranked.rows],
            "counted": [{"trace": trace, "spare_factor": spare} for trace, spare in ranked.counted],
            "fields": [self._field(trace, spare) for trace, spare in board.fields],
            "failures": list(ranked.failures),
        }

    def _field(self, trace: Entry, spare: float) -> dict[str, Any]:
        waf: dict[str, Any] = {}
        for policy in self.board.policies:
            cell = self.cells[policy, trace.name, spare]
            interval = None if cell.mean is None or cell.mean.interval is None else list(cell.mean.interval)
            mean = None if cell.mean is None else cell.mean.mean
            waf[policy] = {"mean": mean, "mean_95": interval, "reason": cell.reason}
        return {"trace": trace.name, "spare_factor": spare, "policies": waf}

    def notes(self) -> list[str]:
        """Return how to read the figures."""
        return text.notes(self)

    def text(self) -> str:
        """Return the standings as a table of plain text."""
        return text.text(self)

    def report(self, command: str | None = None) -> str:
        """Return the leaderboard as one self-contained HTML page.

        Args:
            command: the command line that made it, where there was one.
        """
        from floatgate.study.leaderboard.page import page

        return page(self, command)


def _cell(rows: list[dict[str, Any]], written: int) -> Cell:
    """Make a cell of the runs of a policy on a field; nothing of it counts where one has no result."""
    ended = next((row for row in rows if row["status"] != DONE), None)
    if ended is not None:
        return Cell(reason=ended["error"], failed=ended["status"] == FAILED)
    if not rows:
        return Cell(reason="not run yet")
    times = [1e9 * row["cpu_s"] / written for row in rows if row["cpu_s"] is not None]
    return Cell(tuple(row[IN_BYTES] for row in rows), min(times, default=None))


def board_of(kept: Node) -> Board:
    """Read what :meth:`Board.to_dict` has made.

    Raises:
        InputError: it is damaged.
    """
    slot = SLOTS.get(kept["slot"].text())
    if slot is None:
        kept["slot"].refuse(f"one of {', '.join(SLOTS)}")
    policies = tuple(one.text() for one in kept["policies"].elements())
    labels: Mapping[str, str] = kept["labels"].table()
    if not set(policies) <= set(labels) or slot.baseline not in policies:
        kept["policies"].refuse(f"policies with labels, {slot.baseline} among them")
    against = kept.get("against")
    return Board(
        slot,
        policies,
        labels,
        kept["own"].table(),
        tuple(map(Entry.from_kept, kept["traces"].elements())),
        tuple(LeftOut(one["name"].text(), one["reason"].text()) for one in kept["left_out"].elements()),
        tuple(float(one.value) for one in kept["spares"].elements()),
        kept["seeds"].whole(1),
        None if against is None else against.text(),
    )


@checked
def load_leaderboard(folder: str | os.PathLike[str]) -> Leaderboard:
    """Read a leaderboard that ``floatgate leaderboard`` or :func:`floatgate.leaderboard` has written.

    Args:
        folder: where it is.

    Returns:
        The leaderboard; of one that was stopped, the runs that have ended.

    Raises:
        InputError: it holds no leaderboard, or a file of it is damaged.
    """
    path = Path(folder)
    if not (path / FILE).is_file():
        raise input_error(f"{path}: holds no leaderboard; expected a folder that floatgate leaderboard has written")
    board = board_of(shapes.read(path / FILE, "leaderboard"))
    runs = load_sweep(path)
    if runs.planned != board.runs:
        raise input_error(f"{path}: has a plan of {runs.planned} runs; expected {board.runs}, as {FILE} says")
    return Leaderboard(path, board, runs)
