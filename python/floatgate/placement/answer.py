"""The answer of a placement: the table, its effect, and that of simpler rules."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from floatgate import _core
from floatgate.base.errors import one_line
from floatgate.base.text_out import CsvWriter
from floatgate.placement.grouping import NO_HANDLE
from floatgate.placement.trial import HOST_STREAMS, Refused, Results, result_of
from floatgate.report.sections.amplification import in_pages

SCHEMA = "floatgate.placement/2"
NONE, LOG_DATA, BY_FILE, SEPBIT, ORA = "none", "log-data", "file", "sepbit", "ora"
SIMPLE = (NONE, LOG_DATA, BY_FILE)
"""Rules that need no table by keys, the simplest first."""
AS_WELL = 0.01
"""A rule does as well as another one if its WAF is no more than this share above."""
_NAMED = 3
"""Rows that a line of the answer names; of more it says how many."""
_LABELS = {
    NONE: "no separation",
    LOG_DATA: "log against data",
    BY_FILE: "by file",
    SEPBIT: "SepBIT in the drive",
    ORA: "ORA, which knows the future: a bound, not a choice",
}
_NAMES = {
    "context": ("context", "contexts"),
    "file": ("file", "files"),
    "path-pattern": ("path pattern", "path patterns"),
    "process": ("process", "processes"),
    "thread": ("thread", "threads"),
    "fd": ("descriptor", "descriptors"),
}


@dataclass(frozen=True)
class Applied:
    """The effect of the table on a trace that it was not made from.

    Attributes:
        trace: the other one.
        keys: of its writes.
        matched_keys: that wrote in the first trace, too.
        page_writes: of the other trace.
        matched_page_writes: by matched keys.
        placed_page_writes: of those, with a handle other than 0.
        results: of the runs on the other trace, by separator; ``host-given`` follows the first trace's table.
    """

    trace: str
    keys: int
    matched_keys: int
    page_writes: int
    matched_page_writes: int
    placed_page_writes: int
    results: Results

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON gives it, within ``floatgate.placement/2``."""
        document = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "results"}
        waf, simpler = wafs(self.results), simplest(self.results)
        best = best_of(rows_of(self.results, {}))
        return {**document, "best": best, "simpler": simpler, "waf": waf, "config": config_of(self.results)}


@dataclass(frozen=True)
class Placement:
    """The table and its effect.

    Attributes:
        trace: from which it was made.
        by: the kind of its keys.
        policy: that made it.
        handles: that the drive has.
        isolation: which unit a moved page joins.
        reclaim_unit_bytes: size of the drive's erase units.
        collection_units: reclaim units that stand open for moved pages alone.
        span_s: from the first to the last request of the trace.
        keys: ``key``, ``name``, ``path`` (of files, whole), ``frames``, ``handle``, ``page_writes``, ``updates``,
            ``mean_life_writes``, the most written first.
        groups: by handle: ``handle``, ``keys``, ``page_writes``, ``mean_lifespan_writes``, ``hint``,
            ``resident_pages``, ``sequential_share``, ``requests_by_pages``. Here data that are alive at the end of the
            trace count as dying there.
        results: of the runs: simple rules, separators in the drive, ``host-given``.
        isolations: of ``host-given`` with the other kinds of isolation.
        used: handles that rules write to, by their name.
        stand_ins: whether extents replace files in the rules by file.
        applied: the effect of the table on another trace, if there is one.
    """

    trace: str
    by: str
    policy: str
    handles: int
    isolation: str
    reclaim_unit_bytes: int
    collection_units: int
    span_s: float
    keys: list[dict[str, Any]]
    groups: list[dict[str, Any]]
    results: Results
    isolations: Results
    used: Mapping[str, int]
    stand_ins: bool = False
    applied: Applied | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON gives it (schema ``floatgate.placement/2``)."""
        waf = wafs(self.results)
        return {
            "schema": SCHEMA,
            "version": _core.__version__,
            "best": best_of(rows_of(self.results, self.isolations)),
            "simpler": simplest(self.results),
            "trace": self.trace,
            "by": self.by,
            "policy": self.policy,
            "handles": self.handles,
            "isolation": self.isolation,
            "reclaim_unit_bytes": self.reclaim_unit_bytes,
            "collection_units": self.collection_units,
            "span_s": self.span_s,
            "files_are_extents": self.stand_ins,
            "waf": waf,
            "baselines": [
                {
                    "rule": name,
                    "what": self._label(name),
                    "handles": self.used.get(name),
                    "waf": waf[name],
                    "refused": result.why if isinstance(result, Refused) else None,
                }
                for name, result in self.results.items()
            ],
            "waf_by_isolation": wafs(self.isolations),
            "applied": None if self.applied is None else self.applied.to_dict(),
            "groups": self.groups,
            "keys": self.keys,
            "config": config_of(self.results),
        }

    def table(self) -> str:
        """Return the table as CSV: one line for each key that does not use handle 0.

        Names come from the recorded programs; :mod:`floatgate.base.text_out` makes them harmless.
        """
        out = io.StringIO()
        writer = CsvWriter(out)
        of_contexts = self.by == "context"
        head = ["handle", "hint", *(["context"] if of_contexts else []), "page_writes", "updates", "name"]
        writer.row([*head, *(["frames"] if of_contexts else [])])
        hints = self.hints()
        for one in self.keys:
            if one["handle"] != NO_HANDLE:
                phrases = [one["handle"], hints[one["handle"]], *([one["key"]] if of_contexts else [])]
                phrases += [one["page_writes"], one["updates"], one["name"]]
                frames = [" < ".join(one["frames"])] if of_contexts else []
                writer.row([*phrases, *frames])
        return out.getvalue()

    def hints(self) -> dict[int, str]:
        """Return the write lifetime hint of each handle."""
        return {group["handle"]: group["hint"] for group in self.groups}

    def text(self) -> str:
        """Return the answer in words."""
        placed = [one for one in self.keys if one["handle"] != NO_HANDLE]
        written = sum(one["page_writes"] for one in self.keys)
        share = _percent(sum(one["page_writes"] for one in placed), written)
        of_all = f"{len(placed)} of {len(self.keys)} {_NAMES[self.by][1]}"
        lines = [
            *self._headlines(),
            f"placement  {of_all} get a handle other than {NO_HANDLE}; they write {share} of the pages",
            f"WAF        {self._judged(self.results)}; on {one_line(self.trace)}, the source of the table",
        ]
        if (other := self.applied) is not None:
            matched = _percent(other.matched_page_writes, other.page_writes)
            with_handle = _percent(other.placed_page_writes, other.page_writes)
            there = one_line(other.trace)
            known = f"({matched}) come from {_NAMES[self.by][1]} of the table's trace"
            lines += [
                f"applied    {self._judged(other.results)}; on {there}, another recording",
                f"matched    {other.matched_page_writes:,} of its {other.page_writes:,} page writes {known}",
                f"placed     {other.placed_page_writes:,} ({with_handle}) get a handle other than {NO_HANDLE}",
            ]
        return "\n".join([*lines, *self._baselines_text(), *self._groups_text()])

    def _headlines(self) -> list[str]:
        """List the best row and simpler rules that do as well as the table, here and on the other recording."""
        lines = self._first(self.results, self.isolations, "")
        return lines if self.applied is None else [*lines, *self._first(self.applied.results, {}, _ON_THE_OTHER)]

    def _first(self, results: Results, isolations: Results, where: str) -> list[str]:
        simpler = simplest(results)
        if simpler is not None:
            figures = f"WAF {simpler['waf']:.3f} against {simpler['table_waf']:.3f}"
            if simpler["rule"] == NONE and simpler["waf"] < 1 + AS_WELL:
                text = f"without separation hardly a page is copied ({figures} of this table{where})"
                return [f"best       there is nothing to gain: {text}"]
        best = self._best_text(best_of(rows_of(results, isolations)), where)
        if simpler is None:
            return [best]
        better = simpler["waf"] < simpler["table_waf"] * (1 - AS_WELL)
        does = "does better than this table" if better else "does as well as this table"
        near = "" if better else f" (within {100 * AS_WELL:.0f} %)"
        return [best, f"simpler    {self._label(simpler['rule'])} {does}{where}: {figures}{near}"]

    def _best_text(self, best: dict[str, Any], where: str) -> str:
        """Describe the row with the lowest WAF, or those that share it, and those that are hardly above."""
        tie = ", a tie" if len(best["rows"]) > 1 else ""
        text = f"best       WAF {best['waf']:.3f}{where}{tie}: {self._named(best['rows'])}"
        if best["as_well"]:
            text += f"; within {100 * AS_WELL:.0f} %: {self._named(best['as_well'], figures=True)}"
        return text

    def _named(self, rows: Sequence[dict[str, Any]], *, figures: bool = False) -> str:
        names = [self._row_name(row) + (f" ({row['waf']:.3f})" if figures else "") for row in rows]
        more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
        *firsts, last = [*names[:_NAMED], *more]
        return f"{'; '.join(firsts)} and {last}" if firsts else last

    def _row_name(self, row: dict[str, Any]) -> str:
        if row["isolation"] is not None:
            return f"this table with --isolation {row['isolation']}"
        return "this table" if row["rule"] == HOST_STREAMS else self._label(row["rule"])

    def _baselines_text(self) -> list[str]:
        lines = []
        for name, value in wafs(self.results).items():
            waf = "no room" if value is None else f"{value:.3f}"
            handles = self.used.get(name)
            used = "" if handles is None else f", {handles} handle{'s' if handles != 1 else ''}"
            lines.append(f"rule       {waf:>7}  {self._label(name)}{used}")
        for name, value in wafs(self.isolations).items():
            waf = "no room" if value is None else f"{value:.3f}"
            lines.append(f"isolation  {waf:>7}  this table, handles isolated {_ISOLATED[name]}")
        units = self.collection_units
        more = f" and {units} for what collection moves" if units else ""
        open_units = f"one open for each of {self.handles} handles{more}"
        size = f"{self.reclaim_unit_bytes >> 10:,} KiB"
        return [*lines, f"units      {size} each, {open_units}; {self.isolation} isolation"]

    def _groups_text(self) -> list[str]:
        lines = []
        for group in self.groups:
            count = len(group["keys"])
            keys = f"{count} {_NAMES[self.by][count != 1]}, {group['page_writes']:,} page writes"
            lives = f"data live {group['mean_lifespan_writes']:,.0f} page writes on average"
            lines.append(f"handle {group['handle']:<3} {keys}, {lives}, hint {group['hint']}")
        return lines

    def _label(self, rule: str) -> str:
        if rule == HOST_STREAMS:
            return f"this table: by {self.by}, {self.policy}"
        label = _LABELS.get(rule, f"{rule.upper()} in the drive")
        return f"{label} (by extents)" if self.stand_ins and rule in {LOG_DATA, BY_FILE} else label

    def _judged(self, results: Results) -> str:
        waf = wafs(results)
        beside = f"{waf[NONE]:.3f} without"
        if self.policy in waf:
            beside += f"; {waf[self.policy]:.3f} if the drive itself runs {self.policy}"
        return f"{waf[HOST_STREAMS]:.3f} with {self.handles} handles, {beside}"


_ON_THE_OTHER = " on the other recording"
_ISOLATED = {
    "persistent": "persistently, moved pages among the host's",
    "persistent-apart": "persistently, moved pages apart",
    "initial": "initially: moved pages of all handles meet",
}


def rows_of(results: Results, isolations: Results) -> list[dict[str, Any]]:
    """Return the rows of the answer among which one can choose: all but ORA, which no drive can run.

    Args:
        results: of the rules.
        isolations: of the table, under other kinds of isolation.
    """
    rows = [{"rule": name, "isolation": None, "waf": waf} for name, waf in wafs(results).items() if name != ORA]
    rows += [{"rule": HOST_STREAMS, "isolation": name, "waf": waf} for name, waf in wafs(isolations).items()]
    return [row for row in rows if row["waf"] is not None]


def best_of(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the lowest WAF, the rows that have it to the three decimals that are shown, and those that do as well."""
    lowest = min(row["waf"] for row in rows)
    best = [row for row in rows if f"{row['waf']:.3f}" == f"{lowest:.3f}"]
    return {
        "waf": lowest,
        "rows": best,
        "as_well": [row for row in rows if row not in best and row["waf"] <= lowest * (1 + AS_WELL)],
    }


def simplest(results: Results) -> dict[str, Any] | None:
    """Return the simplest rule that does as well as the table and all other simple rules; None if no rule does.

    If the table goes by file, no separate run by file exists.
    """
    waf = wafs(results)
    chosen = waf[HOST_STREAMS]
    if chosen is None:
        return None
    simple = {rule: figure for rule in SIMPLE if (figure := waf.get(rule)) is not None}
    most = min(chosen, *simple.values()) * (1 + AS_WELL)
    for rule, figure in simple.items():
        if figure <= most:
            return {"rule": rule, "waf": figure, "table_waf": chosen}
    return None


def wafs(results: Results) -> dict[str, float | None]:
    """Return the WAF of each run; None where the drive refuses it."""
    return {name: None if isinstance(result, Refused) else in_pages(result)[0] for name, result in results.items()}


def config_of(results: Results) -> dict[str, Any]:
    """Return the settings of the run that follows the table."""
    config: dict[str, Any] = result_of(results, HOST_STREAMS)["config"]
    return config


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole if whole else 0:.1f} %"
