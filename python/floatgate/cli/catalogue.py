"""``floatgate drives``, ``policies`` and ``schema``: the available choices."""

from __future__ import annotations

import json as json_module
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated, Any

import typer

from floatgate import _core
from floatgate.base import units
from floatgate.base.errors import input_error, meant, quote
from floatgate.base.text_table import table
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.results import drive_array
from floatgate.results.drive_array import DriveArray
from floatgate.results.sold_drives import AS_SOLD


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("drives")(drives)
    app.command("policies")(policies)
    app.command("schema")(schema)


def _catalogue(*sections: str) -> dict[str, Any]:
    catalogue: dict[str, Any] = json_module.loads(_core.catalogue(sections))
    return catalogue


def drives(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Show this drive's settings.")] = None,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """List the drives of the catalogue, or show the settings of one drive."""
    output = Output(json, quiet=quiet, force=None)
    arrays = drive_array.of_catalogue()
    entries = [{**entry, "array": asdict(arrays[entry["name"]])} for entry in drive_array.entries_of_catalogue()]
    if name is not None:
        matching = [entry for entry in entries if entry["name"] == name]
        if not matching:
            names = [entry["name"] for entry in entries]
            raise input_error(f"unknown drive {quote(name)}; {meant(name, names, 'floatgate drives')}")
        output.give(matching[0])
        if not output.prints_json:
            output.say(matching[0]["toml"].rstrip("\n"))
        return
    output.give({"drives": entries})
    if not output.prints_json:
        output.say(_drives_table(entries))


def _drives_table(entries: list[dict[str, Any]]) -> str:
    """Return all drives in one table with shared columns: those that one can buy, then those of papers."""
    current = [entry for entry in entries if entry["group"] == "current"]
    papers = [entry for entry in entries if entry["group"] != "current"]
    lines = table(_DRIVES_HEADER, [_drive(entry) for entry in [*current, *papers]], right=_DRIVES_RIGHT).splitlines()
    return "\n".join([*lines[: 1 + len(current)], "", _OF_PAPERS, *lines[1 + len(current) :]])


_OF_PAPERS = "drives from papers"
_DRIVES_HEADER = [
    *("drive", "visible", "spare", "channels x dies x planes", "page / map", "P/E cycles", "rated TBW", "rated DWPD"),
    "description",
]
_DRIVES_RIGHT = frozenset({1, 2, 3, 4, 5, 6, 7})


def _drive(entry: dict[str, Any]) -> list[str]:
    """Format the cells of a drive; a dash for a missing rating. Capacities are in the units of the drive's name.

    A drive that ships scaled shows the rating of its visible part; that of the whole drive follows its description.
    """
    rated = entry["rated"] or {}
    shown = units.decimal_bytes if entry["group"] == "current" else units.binary_bytes
    tbw, dwpd, years = rated.get("tbw_bytes"), rated.get("dwpd"), rated.get("years")
    whole, visible = "", rated.get("visible_tbw_bytes")
    if tbw is not None and visible is not None and abs(visible / tbw - 1) > AS_SOLD:
        whole, tbw = f" Rated as sold: {tbw / 1e12:,.0f} TB.", visible
    return [
        entry["name"],
        shown(entry["logical_bytes"]),
        units.percent1(entry["spare_factor"]),
        DriveArray(**entry["array"]).product(),
        f"{_kib(entry['page_bytes'])} / {_kib(entry['mapping_bytes'])} KiB",
        str(entry["pe_cycles"]),
        "-" if tbw is None else f"{tbw / 1e12:,.0f} TB",
        "-" if dwpd is None else f"{units.figure(dwpd, 2)} for {years:g} y",
        entry["summary"] + whole,
    ]


def _kib(size: int) -> str:
    """Convert the bytes of a page to KiB, without the unit: 16, 0.5."""
    return f"{size / 1024:g}"


def policies(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Show this policy, or list this slot.")] = None,
    policy: o.Policy = None,  # noqa: ARG001 - loaded when it is read
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """List the policies of every slot or of one, and the sets of policies; show one with parameters, source and cost.

    A slot is named by its key or the last word of it: ftl.separate, separate.
    """
    output = Output(json, quiet=quiet, force=None)
    catalogue = _catalogue("policies", "common_params", "policy_sets")
    slots: dict[str, list[dict[str, Any]]] = catalogue["policies"]
    common: dict[str, list[dict[str, Any]]] = catalogue.get("common_params", {})
    sets: list[dict[str, Any]] = catalogue["policy_sets"]
    names = dict.fromkeys(entry["name"] for entries in (*slots.values(), sets) for entry in entries)
    of_slot = {slot: entries for slot, entries in slots.items() if name in (slot, slot.rpartition(".")[2])}
    listed = name is None or (name not in names and bool(of_slot))
    if of_slot and listed:
        slots, sets = of_slot, []
    elif name is not None:
        slots = {slot: [entry for entry in entries if entry["name"] == name] for slot, entries in slots.items()}
        slots = {slot: entries for slot, entries in slots.items() if entries}
        sets = [entry for entry in sets if entry["name"] == name]
        if not slots and not sets:
            raise input_error(f"unknown policy {quote(name)}; {meant(name, names, 'floatgate policies')}")
    used = {slot: common.get(slot, []) for slot in slots}
    output.give({"policies": slots, "common_params": used, "policy_sets": sets})
    if output.prints_json:
        return
    if listed:
        rows = [[slot, entry["name"], entry["summary"]] for slot, entries in slots.items() for entry in entries]
        rows += [["--policies", entry["name"], entry["summary"]] for entry in sets]
        output.say(table(["slot", "policy", "description"], rows))
    else:
        texts = [_policy(slot, entry, common.get(slot, [])) for slot, (entry, *_) in slots.items()]
        output.say("\n\n".join([*texts, *(_set(entry) for entry in sets)]))


def _set(entry: dict[str, Any]) -> str:
    """Format a set of policies: the sets that it consists of, or its keys."""
    lines = [f"--policies {entry['name']}", f"  {entry['summary']}", f"  source: {entry['source']}"]
    if entry["parts"]:
        return "\n".join([*lines, f"  the sets {', '.join(entry['parts'])}"])
    lines += [f'  {key} = "{value}"' for key, value in entry["over"].items()]
    return "\n".join([*lines, *(f'  {key} = "{value}" where nothing sets it' for key, value in entry["under"].items())])


def _policy(slot: str, entry: dict[str, Any], common: list[dict[str, Any]]) -> str:
    from floatgate.report.sections import streams

    lines = [f"[{slot}]", f'{entry["selector"]} = "{entry["name"]}"', f"  {entry['summary']}"]
    lines += [f"  {key}: {entry[key]}" for key in ("source", "cost", "memory") if entry.get(key, "-") != "-"]
    if slot == "ftl.separate" and (held := streams.order(entry["name"])):
        lines.append(f"  streams: {held}")
    if slot == "ftl.separate" and (note := streams.shared_blocks(entry["name"])):
        lines.append(f"  note: {note} (docs/separation.md)")
    for title, params in (("parameters", entry.get("params", [])), ("parameters of the slot", common)):
        if params:
            width = max(len(param["name"]) for param in params)
            lines.append(f"  {title}:")
            lines += [f"    {param['name']:<{width}}  {param['summary']}" for param in params]
    return "\n".join(lines)


class Document(StrEnum):
    """A document that has a schema."""

    EXPERIMENT = "experiment"
    RESULT = "result"
    FORECAST = "forecast"


def schema(
    of: Annotated[Document, typer.Argument(help="Which document.")] = Document.EXPERIMENT,
    json: o.Json = None,
) -> None:
    """Print a JSON schema: of the experiment file, for editors, or of result.json or lifetime.json, for programs."""
    from floatgate.results import shapes

    made = {
        Document.EXPERIMENT: _core.schema,
        Document.RESULT: _core.result_schema,
        Document.FORECAST: shapes.forecast_schema,
    }
    Output(json or "-", force=None).give(made[of]())
