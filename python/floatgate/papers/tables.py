"""Tables of a paper beside ours: the paper's figure, ours, and ours / the paper's.

A ``[[table]]`` has ``id``, ``title``, ``where``, ``note``, ``keys`` (the names of the columns that say what a row is),
``columns`` (each with ``name``, and if need be ``unit`` of :data:`floatgate.papers.judge.UNITS` and ``scale``, by
which ours is divided) and ``row`` (each with ``keys``, ``ours``, the names of values, and ``paper``, its figures;
``""`` in either stands for none). A value may be a text, which is shown as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.base.units import figure
from floatgate.papers.judge import Findings, shown


def filled(table: Mapping[str, Any], findings: Findings) -> dict[str, Any]:
    """Return the table with ours and the ratio in it, as JSON gives it."""
    rows = []
    for row in table["row"]:
        cells = []
        for number, column in enumerate(table["columns"]):
            paper = row.get("paper", [])[number : number + 1]
            name = row["ours"][number]
            text = findings.look(name) if name else None
            if isinstance(text, str):
                cells.append({"paper": None, "ours": text, "ratio": None})
                continue
            ours = findings.figure(name) if name else None
            scaled = None if ours is None else ours / column.get("scale", 1.0)
            printed = paper[0] if paper and paper[0] != "" else None
            ratio = scaled / printed if scaled is not None and printed else None
            cells.append({"paper": printed, "ours": scaled, "ratio": ratio})
        rows.append({"keys": row["keys"], "cells": cells})
    kept = {key: table[key] for key in ("id", "title", "where", "note", "keys", "columns") if key in table}
    return kept | {"rows": rows}


def cells(table: Mapping[str, Any]) -> tuple[list[str], list[list[str]], int]:
    """Return header, texts and how many columns of text lead, of a filled table; rows without a figure are left out."""
    printed = [
        any(row["cells"][number]["paper"] is not None for row in table["rows"])
        for number in range(len(table["columns"]))
    ]
    header = list(table["keys"])
    for column, beside in zip(table["columns"], printed, strict=True):
        header += [f"{column['name']}: paper", "ours", "ratio"] if beside else [column["name"]]
    rows = []
    for row in table["rows"]:
        if all(cell["paper"] is None and cell["ours"] is None for cell in row["cells"]):
            continue
        texts = [str(key) for key in row["keys"]]
        for column, cell, beside in zip(table["columns"], row["cells"], printed, strict=True):
            unit = column.get("unit", "")
            ours = shown(cell["ours"], unit)
            if beside:
                ratio = "-" if cell["ratio"] is None else figure(cell["ratio"])
                texts += [shown(cell["paper"], unit), ours, ratio]
            else:
                texts.append(ours)
        rows.append(texts)
    return header, rows, len(table["keys"])
