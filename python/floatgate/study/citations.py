"""The papers of the policies, models and closed forms that a run used, as BibTeX.

Their table is ``references.toml`` beside this.
"""

from __future__ import annotations

import contextlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from floatgate import _core
from floatgate.base.errors import InputError
from floatgate.results import shapes
from floatgate.results.result_view import look
from floatgate.run.experiment import Experiment, from_file
from floatgate.run.run import check, read_text
from floatgate.study.kinds import Folder
from floatgate.study.kinds.folders import must_be_one
from floatgate.study.runs.points import Points
from floatgate.study.sweeps.spec import SweepOptions, points_of
from floatgate.study.sweeps.sweep import planned

SCHEMA = "floatgate.cite/1"
AUTHORS = "The floatgate developers"
TITLE = "floatgate: an SSD endurance and performance laboratory"
NOT_PRINTED = "title as floatgate calls the work"
CLOSED_FORMS = ("closed_forms", "closed_forms_separated")
"""Tables of the sources of closed forms, by victim policy."""
_LATEX = {char: f"\\{char}" for char in "&%$#_{}"} | {"\\": "\\textbackslash{}", "~": "\\~{}", "^": "\\^{}"}


@dataclass(frozen=True)
class Reference:
    """A paper; empty fields are not known.

    Attributes:
        key: of its BibTeX entry.
        named: texts by which a source of the catalogue names it.
        kind: of the entry.
        title: its title.
        authors: names in the order of the paper; ``others`` stands for the rest, braces keep a last name together.
        venue: conference or journal.
        year: of publication.
        volume: of the journal.
        number: of the issue.
        institution: that published it.
        title_by_us: whether the title is how this repository calls the work.
    """

    key: str
    named: tuple[str, ...]
    kind: str = "inproceedings"
    title: str = ""
    authors: tuple[str, ...] = ()
    venue: str = ""
    year: int | None = None
    volume: str = ""
    number: str = ""
    institution: str = ""
    title_by_us: bool = False

    def bibtex(self) -> str:
        """Return the entry."""
        fields = {
            "author": " and ".join(map(_name, self.authors)),
            "title": f"{{{_latex(self.title)}}}",
            "journal" if self.kind == "article" else "booktitle": _latex(self.venue),
            "volume": self.volume,
            "number": self.number,
            "institution": _latex(self.institution),
            "year": "" if self.year is None else str(self.year),
            "note": NOT_PRINTED if self.title_by_us else "",
        }
        return _entry(self.kind, self.key, fields)

    def to_dict(self) -> dict[str, Any]:
        """Return what is known as JSON gives it."""
        fields = {
            "key": self.key,
            "kind": self.kind,
            "authors": [name.strip("{}") for name in self.authors],
            "title": self.title,
            "venue": self.venue,
            "year": self.year,
            "volume": self.volume,
            "number": self.number,
            "institution": self.institution,
            "title_by_us": self.title_by_us,
        }
        return {name: value for name, value in fields.items() if value not in ("", None, [])}


@dataclass(frozen=True)
class Choice:
    """A policy, model or closed form that a run used: key, name, and where it comes from as the catalogue says."""

    key: str
    name: str
    source: str


@dataclass(frozen=True)
class Citations:
    """The papers of a run, each with the policies and models that come from it."""

    papers: Sequence[tuple[Reference, Sequence[Choice]]]

    def text(self) -> str:
        """Return BibTeX: floatgate, then each paper below a comment that says what comes from it."""
        parts = [software()]
        for reference, choices in self.papers:
            comments = [f'% {one.key} = "{one.name}": {one.source}' for one in choices]
            parts.append("\n".join([*comments, reference.bibtex()]))
        return "\n\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the same as JSON gives it (schema ``floatgate.cite/1``)."""
        return {
            "schema": SCHEMA,
            "software": {"key": "floatgate", "authors": [AUTHORS], "title": TITLE, "version": _core.__version__},
            "references": [
                reference.to_dict()
                | {
                    "used_by": [{"key": one.key, "name": one.name, "source": one.source} for one in choices],
                    "bibtex": reference.bibtex(),
                }
                for reference, choices in self.papers
            ],
            "bibtex": self.text(),
        }


def software() -> str:
    """Return the entry of floatgate itself; ``CITATION.cff`` has the same."""
    fields = {"author": f"{{{AUTHORS}}}", "title": f"{{{TITLE}}}", "note": f"Version {_core.__version__}"}
    return _entry("misc", "floatgate", fields)


def of(place: str) -> Citations:
    """Return the papers of a run, or of all runs of a study.

    Args:
        place: a folder with results, a file in it, the JSON of a run, or an experiment.

    Raises:
        InputError: it is none, or cannot be read.
    """
    configs = _configs(place)
    return _cited([*_choices(configs), *_laws(configs)])


def of_closed_forms() -> Citations:
    """Return the papers of the closed forms of write amplification (``floatgate theory wa``)."""
    options = ("--policy", "--separated --policy")
    return _cited([Choice(option, *row) for option, rows in zip(options, closed_forms(), strict=True) for row in rows])


def closed_forms() -> list[list[tuple[str, str]]]:
    """Return victim policy and source of the closed forms: of all pages in one log, and of groups in their own."""
    return [list(_table()[name].items()) for name in CLOSED_FORMS]


def _cited(used: Sequence[Choice]) -> Citations:
    papers = []
    for reference in references():
        choices = [one for one in used if reference in named_in(one.source)]
        if choices:
            papers.append((reference, choices))
    return Citations(papers)


def _laws(configs: Sequence[Mapping[str, Any]]) -> list[Choice]:
    """Return the closed forms from which steady states of experiments are drawn, with the victim policies they are of.

    Where a study varies one of the two keys, each of its values goes with each of the other one.
    """
    policies = {look(config, "ftl", "collect", "policy") for config in configs}
    keys = [
        key for key in ("precondition", "auto_fill") if any(look(config, "ftl", key) == "steady" for config in configs)
    ]
    return [
        Choice(f"ftl.{key}", "steady", f"the law of {name}, {source}")
        for key in keys
        for name, source in closed_forms()[0]
        if name in policies
    ]


def _configs(place: str) -> list[Mapping[str, Any]]:
    """Return the resolved experiments of a place: several where settings vary."""
    path = Path(place)
    if path.is_file() and path.suffix == ".toml":
        experiment = from_file(place)
        sweep = experiment.sweep
        points = points_of(SweepOptions(), sweep, place, "floatgate cite")[0] if sweep else None
        return _varied(experiment, points)
    if path.is_file() and path.suffix == ".json" and path.name not in {one.file for one in shapes.DOCUMENTS.values()}:
        return [shapes.read(path, "run").value["config"]]
    return _of_folder(must_be_one(place))


def _of_folder(folder: Folder) -> list[Mapping[str, Any]]:
    if folder.kind.name == "sweep":
        plan = planned(folder.path)
        return _varied(plan.base, plan.points)
    if folder.kind.name == "tune":
        from floatgate.study.tune.search import begun

        runs = begun(folder.path).runs
        return _varied(runs.base, runs.points)
    with folder.document() as content:
        configs = list(_inner(content))
        file = folder.path / "experiment.toml"
        if configs or not file.is_file():
            return configs
        config = tomllib.loads(check(Experiment.of_text(read_text(file), str(file))))
        return [config, *(_of_point(point) for point in content.get("points", []))]


def _inner(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the resolved experiments of all results in a document."""
    if isinstance(value, Mapping):
        config = value.get("config")
        if isinstance(config, Mapping):
            yield config
            return
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _inner(one)


def _of_point(point: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a drive of a plan adds to the experiment."""
    return {"lifetime": {"throttle": {"policy": point.get("throttle")}, "reduce": {"policy": point.get("reducer")}}}


def _varied(base: Experiment, points: Points | None) -> list[Mapping[str, Any]]:
    """Return the experiment without the policies that vary, and each of these.

    Sets of policies that the experiment refuses are left out, as their runs fail.
    """
    alone = Experiment(base.toml, base.path, base.overrides)
    replaced = [] if points is None else [axis.key for axis in points.axes]
    configs: list[Mapping[str, Any]] = [_without(tomllib.loads(check(alone)), replaced)]
    for key, value in _values(points):
        slot, _, selector = key.rpartition(".")
        if slot:
            configs.append(_nested(slot.split("."), {selector: value.strip("\"'")}))
            continue
        with contextlib.suppress(InputError):
            configs.append(_without(tomllib.loads(check(alone.with_overrides([(key, value)]))), replaced))
    return configs


def _without(config: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """Remove the settings that each run replaces by another one."""
    for key in keys:
        *names, last = key.split(".")
        table = look(config, *names) if names else config
        if isinstance(table, dict):
            table.pop(last, None)
    return config


def _nested(names: Sequence[str], inner: dict[str, Any]) -> dict[str, Any]:
    for name in reversed(names):
        inner = {name: inner}
    return inner


def _values(points: Points | None) -> list[tuple[str, str]]:
    """List the policies, models and sets of policies that vary, each once."""
    if points is None:
        return []
    keys = {f"{slot}.{entry['selector']}" for slot, entries in _policies().items() for entry in entries}
    keys |= {"policies", "ftl.precondition"}
    pairs = [(axis.key, value) for axis in points.axes if axis.key in keys for value in axis.listed()]
    pairs += [(key, value) for point in points.listed for key, value in point if key in keys]
    return list(dict.fromkeys(pairs))


def _choices(configs: Sequence[Mapping[str, Any]]) -> list[Choice]:
    """Return the policies and models of experiments in the order of the catalogue."""
    return [
        Choice(f"{slot}.{entry['selector']}", entry["name"], entry["source"])
        for slot, entries in _policies().items()
        for entry in entries
        if any(look(config, *slot.split("."), entry["selector"]) == entry["name"] for config in configs)
    ]


@cache
def _policies() -> dict[str, list[dict[str, Any]]]:
    policies: dict[str, list[dict[str, Any]]] = json.loads(_core.catalogue(("policies",)))["policies"]
    return policies


def named_in(source: str) -> list[Reference]:
    """Return the papers that a source of the catalogue names."""
    text = source.lower()
    return [one for one in references() if any(phrase.lower() in text for phrase in one.named)]


@cache
def references() -> tuple[Reference, ...]:
    """Return all papers, in the order of their keys."""
    made = []
    for entry in _table()["reference"]:
        fields: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()
        }
        made.append(Reference(**fields))
    return tuple(sorted(made, key=lambda one: one.key))


def no_paper() -> frozenset[str]:
    """Return the parts of sources that name no paper."""
    return frozenset(_table()["no_paper"])


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("references.toml").read_text("utf-8"))


def _entry(kind: str, key: str, fields: Mapping[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def _name(name: str) -> str:
    return f"{{{_latex(name[1:-1])}}}" if name.startswith("{") else _latex(name)


def _latex(text: str) -> str:
    return "".join(_LATEX.get(char, char) for char in text)
