"""The page of a leaderboard: standings, charts, and every field with its WAFs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floatgate.pages.page import report
from floatgate.pages.parts import Cards, Charts, Grid, Items, Part, Section, Text, figure
from floatgate.study.difference_charts import MINUS
from floatgate.study.leaderboard import charts
from floatgate.study.leaderboard.standings import Standing
from floatgate.study.leaderboard.text import fields_table, has_memory, header, notes, rows
from floatgate.study.runs.left_out import of_runs

if TYPE_CHECKING:
    from floatgate.study.leaderboard.loaded import Leaderboard

_FUTURE = "Blue: ranked. Grey squares: they know the future. Diamonds: your own."


def page(board: Leaderboard, command: str | None = None) -> str:
    """Return the leaderboard as one self-contained HTML page.

    Args:
        board: the leaderboard.
        command: the command line that made it, where there was one.
    """
    one, ranked = board.board, board.standings
    parts: list[Part] = [
        *_headline(board),
        *(Text(f"Failed: {text}") for text in ranked.failures),
        Section("Standings", [Grid(header(board), rows(board), 2, stacks=True), Items(notes(board))]),
        *_charts(board),
        *_fields(board),
    ]
    of = (
        f"{len(one.policies)} {one.slot.what}, {len(one.traces)} traces, {len(one.spares)} drives each, "
        f"{one.seeds} seeds: {board.runs.planned} runs"
    )
    left_out = of_runs(board.runs.plan())
    return report(f"leaderboard of {one.slot.what}", parts, of=of, not_modelled=left_out, command=command)


def _headline(board: Leaderboard) -> list[Part]:
    ranked = board.standings
    best = next((row for row in ranked.rows if row.rank == 1), None)
    if best is None or best.ratio is None:
        return [Text("No field counts: on none of them does the baseline copy anything to speak of.", strong=True)]
    cards = [(f"lowest WAF: {best.label}", _against(best, board.board.slot.baseline), _span(best))]
    cards += [
        (f"yours: {row.label}", _against(row, board.board.slot.baseline), f"rank {row.rank}; {_span(row)}")
        for row in ranked.rows
        if row.own and row.ratio is not None
    ]
    return [Cards(cards)]


def _against(row: Standing, baseline: str) -> str:
    return f"{100 * ((row.ratio or 1) - 1):+.0f} % WAF against {baseline}".replace("-", MINUS)


def _span(row: Standing) -> str:
    if row.ratio_95 is None or row.rank_95 is None:
        return "too few traces for an interval"
    low, high = (f"{100 * (end - 1):+.0f} %".replace("-", MINUS) for end in row.ratio_95)
    return f"95 %: {low} to {high}; rank {row.rank_95[0]} to {row.rank_95[1]}"


def _charts(board: Leaderboard) -> list[Part]:
    ranked = board.standings
    known = [row for row in ranked.rows if row.ratio is not None]
    if not known:
        return []
    title = f"WAF / {board.board.slot.baseline}"
    order = sorted(known, key=lambda row: row.ratio or 0.0)
    drawn = [
        figure(
            "leaderboard-means",
            "Means",
            f"Lower is better. Bars: 95 % over samples of the traces. {_FUTURE}",
            lambda width: charts.means(order, title, width),
        )
    ]
    in_ranks = [row for row in known if row.rank is not None]
    memory = has_memory(board)
    if memory:
        drawn.append(
            figure(
                "leaderboard-memory",
                "WAF against memory",
                "Filled, with a line: the front. The axis of memory is one of square roots.",
                lambda width: charts.front(in_ranks, _memory, "DRAM, bytes per page", title, width, roots=True),
            )
        )
    drawn.append(
        figure(
            "leaderboard-cpu",
            "WAF against CPU time",
            f"Of a page write in the simulation. {'Filled: the front of WAF and memory. ' if memory else ''}Line: no "
            "faster one writes less.",
            lambda width: charts.front(in_ranks, _cpu, "CPU, ns per write", title, width),
        )
    )
    return [Section("Charts", [Charts(drawn)])]


def _memory(row: Standing) -> float | None:
    return row.memory_bytes


def _cpu(row: Standing) -> float | None:
    return row.cpu_ns


def _fields(board: Leaderboard) -> list[Part]:
    columns, cells = fields_table(board)
    # A field is a row here: pages are higher than wide.
    turned = [list(column) for column in zip(columns, *cells, strict=True)]
    first, *others = turned
    how = (
        "WAF: mean over the seeds, ± half of Student's 95 % interval over them; n/a: not applicable. The percentage is "
        "the drive's spare space."
    )
    return [Section("Every field", [Text(how), Grid(["trace, drive", *first[1:]], others, 1)])] if others else []
