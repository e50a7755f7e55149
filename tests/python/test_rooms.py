"""The rooms of the Python package: imports point downwards, nothing is imported in a circle, colours have one home.

A room is a folder of ``python/floatgate``. ARCHITECTURE.md draws them.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import floatgate
from floatgate.results.shapes import DOCUMENTS
from floatgate.study.kinds import KINDS

PACKAGE = Path(__file__).parents[2] / "python" / "floatgate"

# From the top: each room may import those of the rows below its own.
FLOORS = [
    {"cli"},
    {"papers"},
    {"study"},
    {"live"},
    {"lab", "placement"},
    {"run"},
    {"trace", "plugins"},
    {"report"},
    {"results"},
    {"pages"},
    {"base"},
]

# Packages of others and modules of Python that take so long to import that a function does, where it uses them.
HEAVY = {
    "altair",
    "concurrent.futures",
    "dask",
    "distributed",
    "duckdb",
    "hashlib",
    "importlib.metadata",
    "jinja2",
    "markupsafe",
    "numpy",
    "optuna",
    "pandas",
    "polars",
    "pyarrow",
    "rich",
    "vl_convert",
}

# Modules of our own that functions import, beside those of the command line, with the reason.
LATE: dict[str, str] = {
    "pages.charts": "a picture for a notebook",
    "pages.vega": "a picture for a notebook",
    "papers.page": "a page, where one is drawn",
    "plugins.compiled": "Numba, where a policy is compiled",
    "plugins.interpreted": "NumPy, where a policy is declared",
    "report.card": "a card for a notebook",
    "report.lifetime_report": "a page, where one is drawn",
    "report.lifetime_summary": "a summary, where one is printed",
    "report.page": "a page, where one is drawn",
    "report.sections.amplification": "a run, where it is shown",
    "report.sections.run_charts": "a picture for a notebook",
    "report.summary": "a summary, where one is printed",
    "study.cards": "a card for a notebook",
    "study.compare_report": "a page, where one is drawn",
    "study.leaderboard.page": "a page, where one is drawn",
    "study.plan_report": "a page, where one is drawn",
    "study.runs.on_dask": "needs dask, an extra",
    "study.sweeps.page": "a page, where one is drawn",
    "study.tune.page": "a page, where one is drawn",
    "study.tune.search": "a search, where a folder holds one",
    "study.varied_charts": "a picture for a notebook",
    "trace.parquet_columns": "needs numpy at once",
    "trace.parquet_trace": "formats that Python reads are imported when a trace has one",
    "trace.recorder.text_trace": "formats that Python reads are imported when a trace has one",
}

TYPING = "type checking"
FUNCTION = "in a function"
TOP = "at the top"


@dataclass(frozen=True)
class Import:
    """``module`` imports ``target``, both named from ``floatgate`` on; ``where`` is one of the words above."""

    module: str
    target: str
    where: str


def modules() -> dict[str, Path]:
    """Our modules by name, ``study.sweeps.page``; the package itself is the empty name."""
    named = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
        named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return named


MODULES = {name: path for name, path in modules().items() if not name.startswith("plugins.skeletons.")}


def statements(node: ast.AST, where: str = TOP) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    """The import statements below a node, with where they stand."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, where
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from statements(child, FUNCTION)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from statements(child, TYPING)
        else:
            yield from statements(child, where)


def packages(statement: ast.Import | ast.ImportFrom) -> list[str]:
    """What a statement imports, with every name of ``from``: ``floatgate.base.units``."""
    if isinstance(statement, ast.Import):
        return [name.name for name in statement.names]
    assert statement.level == 0, "imports are absolute"
    return [f"{statement.module}.{name.name}" for name in statement.names]


def ours(name: str) -> str | None:
    """The module of ours that a dotted name leads to; none for packages of others and for the core."""
    top, _, rest = name.partition(".")
    if top != "floatgate" or rest.startswith("_core"):
        return None
    while rest and rest not in MODULES:
        rest = rest.rpartition(".")[0]
    return rest


IMPORTS = [
    Import(module, target, where)
    for module, path in MODULES.items()
    for statement, where in statements(ast.parse(path.read_text("utf-8")))
    for name in packages(statement)
    if (target := ours(name)) is not None and target != module
]


def room(module: str) -> str:
    return module.partition(".")[0]


def test_every_module_has_a_room() -> None:
    assert {room(module) for module in MODULES} == set().union(*FLOORS) | {"", "__main__"}


def test_imports_point_downwards() -> None:
    floor = {name: i for i, names in enumerate(FLOORS) for name in names}
    inside = [one for one in IMPORTS if room(one.module) in floor]
    upwards = [
        one
        for one in inside
        if room(one.target) != room(one.module) and floor.get(room(one.target), -1) <= floor[room(one.module)]
    ]
    assert upwards == []


def test_nothing_is_imported_in_a_circle() -> None:
    """Neither at the top nor by functions. What only types need is not imported when a program runs."""
    needs: dict[str, set[str]] = {module: set() for module in MODULES}
    for one in IMPORTS:
        if one.where != TYPING:
            needs[one.module].add(one.target)
    # What imports nothing that is left goes, until nothing is left but circles.
    while free := [module for module, targets in needs.items() if not targets & needs.keys()]:
        for module in free:
            del needs[module]
    assert {module: targets & needs.keys() for module, targets in needs.items()} == {}


def test_functions_import_only_what_is_listed() -> None:
    late = {one.target for one in IMPORTS if one.where == FUNCTION and room(one.module) not in ("cli", "__main__")}
    assert late == set(LATE)


def test_functions_import_packages_of_others_only_where_these_are_heavy() -> None:
    light = {
        f"{module}: {name}"
        for module, path in MODULES.items()
        if room(module) != "cli"
        for statement, where in statements(ast.parse(path.read_text("utf-8")))
        for name in packages(statement)
        if where == FUNCTION and not any(f"{name}.".startswith(f"{one}.") for one in HEAVY | {"floatgate"})
    }
    assert light == set()


def test_every_document_has_a_kind_of_results() -> None:
    """In the same order: a folder is of the first kind whose file it has."""
    assert list(KINDS) == list(DOCUMENTS)
    assert all(kind.name == name for name, kind in KINDS.items())


def test_the_package_shows_its_public_names() -> None:
    assert dir(floatgate) == sorted(floatgate.__all__)


def test_colours_stand_in_the_palette() -> None:
    """One palette: a colour that stands elsewhere is a second one of its name before long."""
    elsewhere = {
        module: colours
        for module, path in MODULES.items()
        if module != "pages.palette" and (colours := re.findall(r"#[0-9a-fA-F]{6}\b", path.read_text("utf-8")))
    }
    assert elsewhere == {}


def test_html_stands_in_templates() -> None:
    """Not in code: what a page looks like is decided in one place, and texts are escaped there."""
    tag = re.compile(r"</(?:p|div|h[123]|table|tr|t[dh]|span|pre|ul|li|b|figure)>|<(?:p|div|h[123]|table|span)[ >]")
    literals = {
        f"{module}: {node.value[:60]}"
        for module, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and tag.search(node.value)
    }
    assert literals == set()
