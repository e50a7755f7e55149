"""A leaderboard as text: the table of standings, and how to read it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from floatgate.base import units
from floatgate.base.text_table import named, table
from floatgate.results.seed_stats import Mean
from floatgate.study.leaderboard.drives import LARGE_BYTES
from floatgate.study.leaderboard.ranking import RESAMPLES, TRACES_MIN, least_p
from floatgate.study.leaderboard.standings import COUNTS_FROM, Standing, Test

if TYPE_CHECKING:
    from floatgate.study.leaderboard.loaded import Leaderboard

NONE = "-"
_TEXTS = 2
"""Columns from the left that are text."""


def header(board: Leaderboard) -> list[str]:
    """Return the columns of the table of standings."""
    baseline = board.board.slot.baseline
    memory = ["DRAM, bytes per page"] if has_memory(board) else []
    return [
        "rank",
        board.board.slot.name,
        f"WAF / {baseline}",
        "95 %",
        "rank 95 %",
        *(f"p against {name}" for name in _others(board)),
        *memory,
        "CPU, ns per write",
        "traces",
        "front",
    ]


def rows(board: Leaderboard) -> list[list[str]]:
    """Return a row per policy, as the header names its columns."""
    ranked = board.standings
    memory = has_memory(board)
    return [
        [
            _rank(row),
            f"{row.label}{' (own)' if row.own else ''}",
            NONE if row.ratio is None else f"{row.ratio:.3f}",
            NONE if row.ratio_95 is None else f"{row.ratio_95[0]:.2f}-{row.ratio_95[1]:.2f}",
            NONE if row.rank_95 is None else f"{row.rank_95[0]}-{row.rank_95[1]}",
            *(p_text(row.against.get(name)) for name in _others(board)),
            *([NONE if row.memory_bytes is None else units.figure(row.memory_bytes)] if memory else []),
            NONE if row.cpu_ns is None else f"{row.cpu_ns:.0f}",
            f"{row.traces} of {len(ranked.traces)}",
            "*" if row.front else NONE,
        ]
        for row in ranked.rows
    ]


def _others(board: Leaderboard) -> list[str]:
    """Return the policies that the others are tested against; none where there are too few traces."""
    ranked = board.standings
    if len(ranked.traces) < TRACES_MIN:
        return []
    return [name for name in dict.fromkeys([board.board.slot.baseline, ranked.reference]) if name]


def p_text(test: Test | None) -> str:
    """Format p after correction; ``<`` or ``>`` says whether the policy writes less or more than the other one."""
    if test is None:
        return NONE
    p = "below 0.001" if test.p < 0.001 else f"{test.p:.3f}" if test.p < 1 else "1"
    return f"{p} {'<' if test.ratio < 1 else '>' if test.ratio > 1 else '='}"


def _rank(row: Standing) -> str:
    return str(row.rank) if row.rank is not None else "future" if row.knows_future else NONE


def has_memory(board: Leaderboard) -> bool:
    """Return whether a policy of the slot states its memory."""
    return any(row.memory_bytes for row in board.standings.rows)


def notes(board: Leaderboard) -> list[str]:
    """Return how to read the table, what was left out, and what could not run."""
    one, ranked = board.board, board.standings
    baseline, reference = one.slot.baseline, ranked.reference
    fields, traces = len(one.fields), len(ranked.traces)
    how = (
        f"WAF / {baseline}: geometric mean over the {len(ranked.counted)} of {fields} fields (a trace on a drive) on "
        f"which {baseline} has a WAF of {COUNTS_FROM} or more. Where a policy cannot run on all of them, the mean is "
        "adjusted by least squares over policies and fields."
    )
    lines = [how]
    if traces < TRACES_MIN:
        lines.append(
            f"no intervals and no tests: {units.counted(traces, 'trace')} that count; expected {TRACES_MIN} or more"
        )
    else:
        lines.append(
            f"95 %: over {RESAMPLES:,} samples of the {traces} traces, drawn with replacement: how far other traces of "
            "their kind could move a mean or a rank."
        )
        tested = " and ".join(dict.fromkeys(name for name in (baseline, reference) if name))
        least = least_p(traces, sum(row.rank is not None for row in ranked.rows) - 1)
        hopeless = f" No p value can be below {least:.2g} here, for there are {traces} traces." if least > 0.05 else ""
        lines.append(
            f"p against {tested}: Wilcoxon's signed-rank test with one difference per trace, corrected for the number "
            f"of policies (Holm); < and > say which way.{hopeless}"
        )
    return [*lines, *_costs(board), *_missing(board)]


def _costs(board: Leaderboard) -> list[str]:
    cost = "DRAM" if has_memory(board) else "CPU time"
    future = [row.policy for row in board.standings.rows if row.knows_future and row.ratio is not None]
    lines = [
        "CPU: of the whole simulation of a page write, on the machine that ran it; it varies from run to run.",
        f"front: no other ranked policy has less WAF at no more {cost}.",
    ]
    if has_memory(board):
        size = units.binary_bytes(LARGE_BYTES)
        lines.insert(0, f"DRAM: beside the map, on a drive of {size} with pages of 4 KiB.")
    if future:
        lines.append(f"no rank: {' and '.join(future)} {'know' if len(future) > 1 else 'knows'} the future.")
    return lines


def _missing(board: Leaderboard) -> list[str]:
    lines = []
    for row in board.standings.rows:
        for reason, traces in _by_reason(row).items():
            where = "every trace" if len(traces) == len(board.board.traces) else ", ".join(traces)
            lines.append(f"not applicable: {row.policy} on {where}: {reason}")
    lines += [f"left out: {one.name}: {one.reason}" for one in board.board.left_out]
    idle = [trace.name for trace in board.board.traces if trace.name not in board.standings.traces]
    if idle:
        lines.append(f"hardly any copies on any drive, not counted: {', '.join(idle)}")
    return lines


def _by_reason(row: Standing) -> dict[str, list[str]]:
    made: dict[str, list[str]] = {}
    for trace, reason in row.missing.items():
        made.setdefault(plain_reason(reason), []).append(trace)
    return made


def plain_reason(reason: str) -> str:
    """Return why a policy could not run, without the file and the remedy."""
    text = reason.rpartition(".parquet: ")[2].partition("; expected")[0]
    return re.sub(r"^[a-z_.]+: ", "", text)


def text(board: Leaderboard) -> str:
    """Return the standings with their notes as plain text."""
    columns = header(board)
    right = frozenset(range(len(columns))) - {1}
    parts = [table(columns, rows(board), right=right)]
    parts += [named([("note", note)]) for note in notes(board)]
    parts += [named([("failed", failure)]) for failure in board.standings.failures]
    return "\n".join(parts)


def fields_table(board: Leaderboard) -> tuple[list[str], list[list[str]]]:
    """Return the WAF of each policy on each field, with half of the interval over the seeds."""
    one = board.board
    columns = [f"{trace.name}, {spare:.0%}" for trace, spare in one.fields]
    made = []
    for row in board.standings.rows:
        cells = [board.cells[row.policy, trace.name, spare] for trace, spare in one.fields]
        made.append([row.label, *(_waf(cell.mean) for cell in cells)])
    return [one.slot.name, *columns], made


def _waf(mean: object) -> str:
    if not isinstance(mean, Mean):
        return "n/a"
    if mean.interval is None:
        return f"{mean.mean:.3f}"
    return f"{mean.mean:.3f} ± {(mean.interval[1] - mean.interval[0]) / 2:.3f}"
