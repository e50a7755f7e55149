"""One line for a folder of results, whatever its kind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from floatgate.base import units
from floatgate.base.errors import FloatgateError, one_line, reading
from floatgate.report import lifetime_headline
from floatgate.report.amplification import amplification
from floatgate.results import shapes
from floatgate.results.result_view import look
from floatgate.results.run_folders import Found
from floatgate.study.sweeps.journal import FILE as JOURNAL
from floatgate.study.sweeps.journal import TABLE


def told(one: Found) -> dict[str, Any]:
    """What a folder is: ``folder``, ``kind``, ``what`` (in words), ``WAF``, ``life``; the latter two as text."""
    try:
        what, waf, life = _facts(one)
    except FloatgateError as error:
        what, waf, life = f"cannot be read: {one_line(error)}", "", ""
    return {"folder": str(one.path), "kind": one.kind, "what": what, "WAF": waf, "life": life}


def _facts(one: Found) -> tuple[str, str, str]:
    document = one.document()
    with shapes.consuming(one.kind, document):
        return _of_document(one, document.value)


def _of_document(one: Found, content: Mapping[str, Any]) -> tuple[str, str, str]:
    if one.kind in ("run", "lifetime"):
        return _of_result(content)
    if one.kind in ("sweep", "tune"):
        return _of_sweep(one, content)
    if one.kind == "plan":
        return _of_plan(content)
    results = content["runs"] if one.kind == "repeat" else [setting["result"] for setting in content["settings"]]
    known = [result for result in results if result is not None]
    if one.kind == "repeat":
        what = f"{len(results)} seeds"
    else:
        keys = ", ".join(content["settings"][0]["set"])
        what = f"{len(results)} settings of {keys}"
    failed = f", {len(results) - len(known)} failed" if len(known) < len(results) else ""
    wafs = [waf for waf, _ in map(amplification, known) if waf is not None]
    lives = [life for life in map(lifetime_headline.years, known) if life is not None]
    return what + failed, _span([f"{waf:.2f}" for waf in sorted(wafs)]), _span(list(map(units.years, sorted(lives))))


def _of_plan(content: Mapping[str, Any]) -> tuple[str, str, str]:
    known = [point for point in content["points"] if point["error"] is None]
    wafs = [waf for waf, _ in map(amplification, known) if waf is not None]
    lives = [life for point in known if (life := look(point, "lifetime", "years")) is not None]
    what = f"{len(content['points'])} choices of drive and throttle for {content['label']}"
    return what, _span([f"{waf:.2f}" for waf in sorted(wafs)]), _span(list(map(units.years, sorted(lives))))


def _span(texts: list[str]) -> str:
    return " to ".join(dict.fromkeys([texts[0], texts[-1]])) if texts else ""


def _of_result(result: Mapping[str, Any]) -> tuple[str, str, str]:
    drive = look(result, "drive", "name") or "drive"
    size = look(result, "drive", "physical_bytes")
    kind = look(result, "workload", "format") or look(result, "workload", "kind") or ""
    kind = look(result, "config", "workload", "pattern") or kind if kind == "synthetic" else kind
    what = f"{drive}{f' {units.binary_bytes(size)}' if size else ''}, {kind}, {look(result, 'mode') or 'functional'}"
    waf, _ = amplification(result)
    life = lifetime_headline.years(result)
    return what, "" if waf is None else f"{waf:.2f}", "" if life is None else units.years(life)


def _of_sweep(one: Found, plan: Mapping[str, Any]) -> tuple[str, str, str]:
    points = plan.get("points", plan)
    keys = [axis["key"] for axis in points["axes"]]
    keys += [key for key in (points.get("listed") or [{}])[0] if key not in keys]
    journal = one.path / JOURNAL
    ended = 0
    if journal.is_file():
        with journal.open("rb") as file:
            ended = sum(1 for line in file if line.endswith(b"\n"))
    runs = plan["runs"] if "runs" in plan else plan["trials"] * plan["repeat"]
    what = f"{f'{ended} of {runs}' if ended < runs else runs} runs over {', '.join(keys)}"
    return what, _span([f"{waf:.2f}" for waf in _wafs(one.path / TABLE)]), ""


def _wafs(table: Path) -> list[float]:
    """The least and the greatest write amplification of a sweep; none where no run knows it."""
    if not table.is_file():
        return []
    import pyarrow.parquet as pq

    with reading(table, "expected the table of a sweep"):
        known = sorted(
            value for value in pq.read_table(table, columns=["waf_bytes"])[0].to_pylist() if value is not None
        )
    return [known[0], known[-1]] if known else []
