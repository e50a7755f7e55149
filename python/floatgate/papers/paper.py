"""A paper as one folder: its experiments, claims, tables and figures.

``paper.toml``
    ``title``, ``source``, ``about``, ``differs`` (texts on what differs from the paper and why; ``{NAME}`` or
    ``{NAME|UNIT}`` in them stands for a value), ``[quick]`` and ``[originals]`` (``set`` = settings,
    ``about``; quick: ``workloads`` = those that it keeps, ``each`` = settings by workload or variant),
    ``[workload.NAME]``, ``[variant.NAME]`` and ``[[batch]]``.

    - The ``command`` of a batch is ``lifetime``, ``run``, or one that reads the requests without a drive:
      ``dispatch`` (CPU time of the dispatcher) or ``patterns`` (as ``floatgate trace patterns``).
    - A batch (``command = "run"``) with ``from = NAME`` starts from the drives with which that batch ends. Each run
      takes the drive of the same workload and variant, or of the workload ``from_workload``. This wears a drive in
      without time and measures it in timed mode.
    - ``[group]`` names lists of names, and ``for`` repeats an entry for some of them, here as in claims and tables
      (:mod:`floatgate.papers.groups`).
    - ``subtests = N`` makes N batches of it, ``NAME-1`` to ``NAME-N``, each from the drives of the one before. With
      ``workload.stop_after`` each resumes the workload where the one before ended.
    - With ``responses = true`` timed runs keep how long their reads took, in their order
      (:func:`floatgate.papers.runner.responses`).
    - ``tune`` searches for the best settings, as its table ``search`` says (:mod:`floatgate.papers.searches`).
    - With a table ``capture`` they write Ready/Busy pins, which are measured (:mod:`floatgate.papers.captures`).
``experiment.toml``
    the experiment that all runs start from.
``claims.toml``, ``tables.toml``
    ``[[claim]]`` (:mod:`floatgate.papers.judge`) and ``[[table]]`` (:mod:`floatgate.papers.tables`).
``workloads.py``
    ``prepare(workloads, traces, folder) -> dict[str, Overrides]`` works out settings of workloads first, or makes
    their traces. Keys are workloads, ``BATCH.WORKLOAD`` for the runs of one batch, and ``BATCH.WORKLOAD.VARIANT`` for
    a single run. ``traces`` are the user's; they replace the paper's own. A trace that it does not mention is treated
    as if ``workloads.py`` did not exist.
``values.py``, ``figures.py``
    derive values and figures from the results: ``values(findings) -> dict``, ``figures(findings) -> list[Figure]``.

All but ``paper.toml``, ``experiment.toml`` and ``claims.toml`` may be missing.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn, TypeVar

from floatgate.base.errors import input_error, meant, quote, quoted, reading
from floatgate.papers import groups as names_of
from floatgate.papers.captures import Capture, capture_of
from floatgate.papers.judge import Claim, Findings, problem
from floatgate.papers.searches import SearchSpec, search_of
from floatgate.run.experiment import Experiment, Overrides, flatten, from_file

T = TypeVar("T")
HOME = Path(__file__).parent
COMMANDS = ("lifetime", "run", "dispatch", "patterns", "tune")


@dataclass(frozen=True)
class Choice:
    """A workload or a variant: its name, label and settings."""

    name: str
    label: str
    overrides: Overrides


@dataclass(frozen=True)
class Batch:
    """Some variants of some workloads.

    Attributes:
        name: what values call it.
        command: one of :data:`COMMANDS`.
        workloads: names.
        variants: names.
        overrides: settings of all of them.
        by_workload: settings of the runs of one workload.
        details_s: ``lifetime``: by workload, the interval that is recorded second by second.
        quick: whether it is part of a quick reproduction.
        start: the batch from whose drives its runs start, or None.
        start_workload: the workload of those drives; None for each run's own.
        part: which of the batch's subtests it is, from 0 on.
        responses: ``run``, timed: whether response times of reads are kept.
        series: ``run``: columns of the series that are kept.
        capture: ``run``, timed: which Ready/Busy pins are captured and how they are read, or None.
        search: ``tune``: what is searched.
    """

    name: str
    command: str
    workloads: list[str]
    variants: list[str]
    overrides: Overrides
    by_workload: Mapping[str, Overrides] = field(default_factory=dict)
    details_s: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    quick: bool = True
    start: str | None = None
    start_workload: str | None = None
    part: int = 0
    responses: bool = False
    series: tuple[str, ...] = ()
    capture: Capture | None = None
    search: SearchSpec | None = None

    def start_of(self, workload: str, variant: str) -> tuple[str, str, str] | None:
        """Return batch, workload and variant of the run whose drive a run starts from; None for a new drive."""
        return None if self.start is None else (self.start, self.start_workload or workload, variant)


@dataclass(frozen=True)
class Figure:
    """A figure of a page: ``draw`` makes a chart (:mod:`floatgate.pages.vega`, or Altair) for a width in pixels."""

    id: str
    title: str
    caption: str
    draw: Callable[[int], Any]
    section: str = ""
    """Figures of one section stand together under it."""


@dataclass(frozen=True)
class Paper:
    """A paper that can be reproduced."""

    name: str
    folder: Path
    title: str
    source: str
    about: str
    differs: list[str]
    experiment: Experiment
    workloads: dict[str, Choice]
    variants: dict[str, Choice]
    batches: list[Batch]
    claims: list[Claim]
    tables: list[dict[str, Any]]
    quick: Choice
    quick_workloads: Sequence[str]
    """The workloads of a quick reproduction; claims about others are not judged."""
    quick_by_name: Mapping[str, Overrides]
    originals: Choice

    def module(self, name: str) -> ModuleType | None:
        """Import ``workloads``, ``values`` or ``figures`` of the paper; None if it has no such module."""
        file = self.folder / f"{name}.py"
        if not file.is_file():
            return None
        if self.folder.parent == HOME:
            return importlib.import_module(f"floatgate.papers.{self.folder.name}.{name}")
        loader = _UncachedLoader(f"floatgate_paper_{self.folder.name}_{name}", str(file))
        spec = importlib.util.spec_from_loader(loader.name, loader)
        if spec is None:
            raise input_error(f"{file}: cannot be loaded; expected a Python module")
        module = importlib.util.module_from_spec(spec)
        # Dataclasses look up their module by its name.
        sys.modules[spec.name] = module
        loader.exec_module(module)
        return module

    def prepare(self, workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
        """Work out settings of workloads by the paper's ``workloads.py``; the files that it makes go to ``folder``."""
        module = self.module("workloads")
        return {} if module is None else dict(module.prepare(workloads, traces, folder))

    def values(self, findings: Findings) -> dict[str, Any]:
        """Compute the values of the paper's ``values.py`` from the results."""
        module = self.module("values")
        return {} if module is None else dict(module.values(findings))

    def figures(self, findings: Findings) -> list[Figure]:
        """Return the paper's figures, drawn from our results."""
        module = self.module("figures")
        return [] if module is None else list(module.figures(findings))


class _UncachedLoader(SourceFileLoader):
    """Compile a module from its text at each import.

    Python takes what it compiled before for current if the text has the same size and was changed within the same
    second: an edit of one digit would go unnoticed, and the reproduction would answer for the text before it.
    """

    def path_stats(self, path: object) -> NoReturn:
        """Say that nothing compiled before may stand for the text."""
        raise OSError(path)


def names() -> list[str]:
    """Return the papers that ship, in the order of the alphabet."""
    return sorted(_name(file.parent) for file in HOME.glob("*/paper.toml"))


def _name(folder: Path) -> str:
    """Return the name of a paper: its folder; in those that ship, hyphens replace the underscores of packages."""
    return folder.name.replace("_", "-") if folder.parent == HOME else folder.name


def load(name: str) -> Paper:
    """Load a paper that ships by its name, or any by its folder.

    Raises:
        InputError: there is no such paper, or its files are not what a paper needs.
    """
    folder = HOME / name.replace("-", "_") if name in names() else Path(name)
    if name not in names() and not (folder / "paper.toml").is_file():
        expected = meant(name, names(), "floatgate reproduce")
        raise input_error(f"unknown paper {quote(name)}; {expected}; or a folder with a paper.toml")
    return read(folder)


def read(folder: Path) -> Paper:
    """Read the files of a paper; see :func:`load`."""
    file = folder / "paper.toml"
    table = _toml(file)
    for key in ("title", "source", "workload", "variant", "batch"):
        if key not in table:
            raise input_error(f"{file}: no {quote(key)}; a paper needs it")
    groups = _of_names(file, lambda: names_of.groups_of(table.get("group", {})))
    table = _of_names(file, lambda: _without_groups(table, groups))
    workloads, variants = (_choices(table[kind]) for kind in ("workload", "variant"))
    batches = [_batch(file, entry, workloads, variants) for raw in table["batch"] for entry in _subtests(file, raw)]
    _must_have_drives(file, batches)
    return Paper(
        name=_name(folder),
        folder=folder,
        title=str(table["title"]),
        source=str(table["source"]),
        about=str(table.get("about", "")),
        differs=[str(text) for text in table.get("differs", [])],
        experiment=from_file(str(folder / "experiment.toml")),
        workloads=workloads,
        variants=variants,
        batches=batches,
        claims=_claims(folder / "claims.toml", groups),
        tables=_tables(folder / "tables.toml", groups),
        quick=_choice("quick", table.get("quick", {})),
        quick_workloads=_quick_workloads(file, table.get("quick", {}), workloads),
        quick_by_name={name: flatten(settings) for name, settings in table.get("quick", {}).get("each", {}).items()},
        originals=_choice("originals", table.get("originals", {})),
    )


def _toml(file: Path) -> dict[str, Any]:
    text = from_file(str(file)).toml or ""
    with reading(file, "expected TOML"):
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise input_error(f"{file}: {error}; expected TOML") from None


def _of_names(file: Path, made: Callable[[], T]) -> T:
    """Expand names, some of which may refer to groups that do not exist."""
    try:
        return made()
    except ValueError as error:
        raise input_error(f"{file}: {error}") from None


def _without_groups(table: Mapping[str, Any], groups: names_of.Groups) -> dict[str, Any]:
    """Return the table of ``paper.toml`` with the names in place of their groups."""
    batches = names_of.entries(table["batch"], groups, "batch", "name", ["workloads", "variants"])
    return {
        **table,
        **{kind: names_of.named(table[kind], groups, kind) for kind in ("workload", "variant")},
        "quick": _by_name(table.get("quick", {}), groups),
        "batch": [_by_name(batch, groups) for batch in batches],
    }


def _by_name(entry: Mapping[str, Any], groups: names_of.Groups) -> dict[str, Any]:
    """Return an entry whose settings by name, ``each``, may use groups."""
    return {**entry, **({"each": names_of.named(entry["each"], groups, "each")} if "each" in entry else {})}


def _tables(file: Path, groups: names_of.Groups) -> list[dict[str, Any]]:
    if not file.is_file():
        return []
    return _of_names(file, lambda: [_table(entry, groups) for entry in _toml(file).get("table", [])])


def _table(entry: Mapping[str, Any], groups: names_of.Groups) -> dict[str, Any]:
    """Return a table with all its rows.

    Raises:
        ValueError: names are wrong, something is missing, or a row has not one of ours for each column.
    """
    kind = f"table {quote(entry.get('id', '?'))}"
    for key in ("columns", "row"):
        if key not in entry:
            raise ValueError(f"{kind}: no {quote(key)}; a table needs it")
    rows = names_of.entries(entry["row"], groups, f"{kind}: row", "keys", ["ours"])
    columns = len(entry["columns"])
    for row in rows:
        ours = len(row.get("ours", []))
        if ours != columns:
            name = names_of.called(row.get("keys", "?"))
            raise ValueError(f"{kind}: row {name}: {ours} of ours; expected {columns}, one per column")
    return {**entry, "row": rows}


def _choices(table: Mapping[str, Any]) -> dict[str, Choice]:
    return {name: _choice(name, entry) for name, entry in table.items()}


def _choice(name: str, entry: Mapping[str, Any]) -> Choice:
    return Choice(name, str(entry.get("about", entry.get("label", name))), flatten(entry.get("set", {})))


def _quick_workloads(file: Path, quick: Mapping[str, Any], workloads: Mapping[str, Choice]) -> list[str]:
    """List the workloads that a quick reproduction keeps: all, unless it names some."""
    kept = [str(name) for name in quick.get("workloads", workloads)]
    for name in kept:
        if name not in workloads:
            raise input_error(
                f"{file}: [quick] names workload {quote(name)}; expected some of {quoted(list(workloads))}"
            )
    return kept


def _subtests(file: Path, entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Yield the batches of an entry: one per subtest, each from the drives of the one before."""
    count = entry.get("subtests")
    if count is None:
        return [entry]
    if not isinstance(count, int) or count < 1:
        what = f"batch {quote(str(entry.get('name', '')))}: subtests is {count}"
        raise input_error(f"{file}: {what}; expected a whole number from 1")
    names = [f"{entry.get('name', '')}-{number}" for number in range(1, count + 1)]
    first = {**entry, "name": names[0]}
    later = {key: value for key, value in entry.items() if key != "from_workload"}
    pairs = enumerate(itertools.pairwise(names), start=1)
    return [first, *({**later, "name": name, "from": before, "part": part} for part, (before, name) in pairs)]


def _batch(
    file: Path, entry: Mapping[str, Any], workloads: Mapping[str, Choice], variants: Mapping[str, Choice]
) -> Batch:
    name = str(entry.get("name", ""))
    if not name:
        raise input_error(f"{file}: a [[batch]] without a name; expected one")
    for kind, known in (("workloads", workloads), ("variants", variants)):
        for one in entry.get(kind, []):
            if one not in known:
                raise input_error(
                    f"{file}: batch {quote(name)}: unknown {quote(one)}; {kind} are {quoted(list(known))}"
                )
    if entry.get("command", COMMANDS[0]) not in COMMANDS:
        raise input_error(f"{file}: batch {quote(name)}: unknown command; expected one of {quoted(list(COMMANDS))}")
    try:
        capture = capture_of(entry["capture"]) if "capture" in entry else None
        search = search_of(entry.get("search", {})) if entry.get("command") == "tune" else None
    except ValueError as error:
        raise input_error(f"{file}: batch {quote(name)}: {error}") from None
    named = list(entry.get("workloads", workloads))
    detail = entry.get("detail_s") or {}
    by_workload = detail if isinstance(detail, Mapping) else dict.fromkeys(named, detail)
    return Batch(
        name=name,
        command=entry.get("command", COMMANDS[0]),
        workloads=named,
        variants=list(entry.get("variants", variants)),
        overrides=flatten(entry.get("set", {})),
        by_workload={one: flatten(settings) for one, settings in entry.get("each", {}).items()},
        details_s={one: (float(ends[0]), float(ends[1])) for one, ends in by_workload.items()},
        quick=bool(entry.get("quick", True)),
        start=None if entry.get("from") is None else str(entry["from"]),
        start_workload=entry.get("from_workload"),
        part=int(entry.get("part", 0)),
        responses=bool(entry.get("responses", False)),
        series=tuple(str(column) for column in entry.get("series", ())),
        capture=capture,
        search=search,
    )


def _must_have_drives(file: Path, batches: list[Batch]) -> None:
    """Refuse batches that start from drives which no batch saves."""
    by_name = {batch.name: batch for batch in batches}
    for batch in batches:
        if batch.start is None:
            continue
        wrong = _no_drive(batch, by_name)
        if wrong:
            raise input_error(f"{file}: batch {quote(batch.name)}: {wrong}")


def _no_drive(batch: Batch, by_name: Mapping[str, Batch]) -> str | None:
    """Return why the batch cannot start from the drive that it names; None if it can."""
    before = by_name.get(str(batch.start))
    if before is None:
        others = [name for name in by_name if name != batch.name]
        return f"starts from the unknown batch {quote(str(batch.start))}; expected one of {quoted(others)}"
    for one, does in ((batch, "starts from"), (before, "saves")):
        if one.command != "run":
            return f"batch {quote(one.name)} is of {quote(one.command)}, which {does} no drive; expected 'run'"
    if batch.quick and not before.quick:
        return f"is part of a quick reproduction, and batch {quote(before.name)}, from which it starts, is not"
    workloads = batch.workloads if batch.start_workload is None else [batch.start_workload]
    for kind, mine, theirs in (
        ("workload", workloads, before.workloads),
        ("variant", batch.variants, before.variants),
    ):
        for name in mine:
            if name not in theirs:
                return f"{kind} {quote(name)} is not in batch {quote(before.name)}; expected some of {quoted(theirs)}"
    seen = {batch.name}
    while before is not None:
        if before.name in seen:
            return f"starts from itself by way of {quote(str(batch.start))}; expected a batch that starts anew first"
        seen.add(before.name)
        before = by_name.get(before.start) if before.start is not None else None
    return None


def _claims(file: Path, groups: names_of.Groups) -> list[Claim]:
    claims: list[Claim] = []
    listed = _toml(file).get("claim", [])
    for entry in _of_names(file, lambda: names_of.entries(listed, groups, "claim", "id", ["each", "values"])):
        missing = [key for key in ("id", "text", "where") if not entry.get(key)]
        if missing:
            raise input_error(f"{file}: claim {quote(entry.get('id', '?'))}: no {quote(missing[0])}; a claim needs it")
        wrong = problem(entry)
        if wrong:
            raise input_error(f"{file}: claim {quote(entry['id'])}: {wrong}")
        if entry["id"] in [claim.id for claim in claims]:
            raise input_error(f"{file}: claim {quote(entry['id'])} is there twice; expected each once")
        claims.append(Claim(entry["id"], entry["text"], entry["where"], entry))
    return claims
