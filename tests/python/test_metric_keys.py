"""A metric is named where it is computed and in the file of its section, and nowhere else in Python.

What counts: a whole text (``"lifetime.years"``, ``"waf_bytes"``, ``f"waf_bytes_95.{end}"``), a path into a result
(``look(result, "wear", "erases_max")``, ``result["gc"]["victims"]``, ``run.result.waf``) and a tuple that is one
(``("lifetime", "years")``). Messages, help and docstrings may name a metric as an example. A single word that means
other things as well (``total``, ``read``, ``count``) counts only as part of a path.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from floatgate import _core
from floatgate.results import shapes
from floatgate.study.sweeps.spec import keys_known

PACKAGE = Path(__file__).parents[2] / "python" / "floatgate"
HOMES = ("report/sections/", "papers/")

DOCUMENT = {"schema", "version", "config_hash", "seed", "mode", "not_modelled", "config", "run"}
"""Keys that say which document this is, of which experiment, and what it cost; they measure nothing of a drive."""

ALLOWED = {
    # The answer of `floatgate placement` has a schema of its own with WAFs of many runs.
    "placement/answer.py": {"waf"},
    # Counters of real drives have a schema of their own.
    "cli/measured.py": {"waf"},
    "lab/counters/endurance.py": {"waf"},
    "lab/counters/facts.py": {"waf"},
    "lab/counters/report.py": {"waf"},
    "lab/counters/summary.py": {"waf"},
    # A mean over seeds takes this table whole from the seed with the least evidence; results know no sections.
    "results/seed_stats.py": {"evidence"},
    # The series counts erases in blocks, and pages in pages of the map.
    "results/batch_means.py": {"drive"},
    # A column of the series, which has a table of columns of its own there.
    "results/series.py": {"waf"},
}

COMMON = {"span_s"}
"""Metrics at the top of a result that share their name with columns of traces."""

SETTINGS = re.compile(r"config|setting|experiment|resolved|tomllib")
"""How code calls tables of an experiment, some of which have names of groups of metrics."""

Keys = tuple[str, ...]


def of_groups() -> Iterator[Keys]:
    """The paths of all metrics of a result, as the core declares them."""
    for group in json.loads(_core.metric_groups()):
        for row in group["rows"]:
            words = [word.removesuffix("[]") for word in f"{group['key']}.{row['key']}".split(".") if word]
            yield from itertools.product(*(filled(word, group["names"]) for word in words))


def filled(word: str, names: Mapping[str, Sequence[str]]) -> list[str]:
    """A word of a key with each of the names that its braces stand for."""
    brace = re.search(r"\{(\w+)\}", word)
    return [word] if brace is None else [word.replace(brace[0], name) for name in names[brace[1]]]


def of_shape(shape: shapes.Shape, above: Keys = ()) -> Iterator[Keys]:
    """The paths of a document by its shape."""
    for key, inner in shape.keys.items():
        yield (*above, key)
        yield from of_shape(inner, (*above, key))


METRICS = [path for path in (*of_groups(), *of_shape(shapes.shape_of("lifetime"))) if path[0] not in DOCUMENT]
PATHS = {path[:end] for path in METRICS for end in range(1, len(path) + 1)}
"""Every metric of a result and of a forecast, and every table of them."""
LONE = {path[0] for path in of_groups() if len(path) == 1} - DOCUMENT - COMMON
"""Metrics without a group, which a word of its own names."""
KEYS = set(keys_known())
"""Keys of an experiment."""
TABLES = {key[: at + 1] for key in KEYS for at, char in enumerate(key) if char == "."}


def texts(nodes: Sequence[ast.expr]) -> Keys:
    """The texts that a list of arguments begins with."""
    values = [one.value if isinstance(one, ast.Constant) else None for one in nodes]
    return tuple(itertools.takewhile(lambda one: isinstance(one, str), values))  # type: ignore[arg-type]


def lookup(node: ast.AST) -> tuple[ast.expr, Keys] | None:
    """What ``x["a"]["b"]``, ``x.get("a")``, ``x.a`` or ``look(x, "a", "b")`` starts from, and its keys."""
    keys: Keys = ()
    start: ast.expr
    if isinstance(node, ast.Subscript):
        start, keys = node.value, texts([node.slice])
    elif isinstance(node, ast.Attribute):
        start, keys = node.value, (node.attr,)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        start, keys = node.func.value, texts(node.args[:1])
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "look" and node.args:
        start, keys = node.args[0], texts(node.args[1:])
    if not keys:
        return None
    if isinstance(start, ast.BoolOp):  # (x.get("a") or {}).get("b")
        start = start.values[0]
    inner = lookup(start)
    # ``run.result.waf``: what comes before the result is no key of it.
    if inner is None or (isinstance(start, ast.Attribute) and start.attr in ("result", "_result")):
        return start, keys
    return inner[0], (*inner[1], *keys)


def named_by_path(node: ast.AST) -> str | None:
    """The metric, or the table of metrics, that a lookup leads to."""
    path = lookup(node)
    if path is None or path[1] not in PATHS:
        return None
    start, keys = ast.unparse(path[0]), path[1]
    of_result = start.endswith("result") or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    if isinstance(node, ast.Attribute) and not start.endswith("result"):
        return None
    if SETTINGS.search(start) or not (of_result or len(keys) > 1 or keys[0] in LONE):
        return None
    return ".".join(keys)


def named_by_text(text: str) -> str | None:
    """The metric, or the table of metrics, that a text names; ``waf_bytes_95.low`` is a column of one."""
    if text in KEYS or text in TABLES:
        return None
    key = text.removesuffix(".low").removesuffix(".high").strip(".")
    path = tuple(key.split("."))
    return key if path in PATHS and (len(path) > 1 or path[0] in LONE) else None


def named(tree: ast.AST) -> Iterator[str]:
    """The metrics that code names."""
    for node in ast.walk(tree):
        key = named_by_path(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            key = named_by_text(node.value)
        elif isinstance(node, ast.Tuple | ast.List) and len(texts(node.elts)) == len(node.elts) > 1:
            key = ".".join(texts(node.elts)) if texts(node.elts) in PATHS else None
        if key is not None:
            yield key


def test_metrics_are_named_in_sections_and_papers_alone() -> None:
    elsewhere = {
        module: keys
        for path in sorted(PACKAGE.rglob("*.py"))
        if not (module := path.relative_to(PACKAGE).as_posix()).startswith(HOMES)
        if (keys := set(named(ast.parse(path.read_text("utf-8")))))
    }
    remedy = "name a metric by a function or constant of its section in report/sections (amplification.IN_BYTES)"
    assert elsewhere == ALLOWED, remedy


@pytest.mark.parametrize(
    ("code", "key"),
    [
        ('look(result, "lifetime", "years")', "lifetime.years"),
        ('look(run.result, "latency_us", kind, "p99")', "latency_us"),
        ('look(result, "reclaim")', "reclaim"),
        ('one["wear"]["erases_max"]', "wear.erases_max"),
        ('(one.get("latency_us") or {}).get("write")', "latency_us.write"),
        ('result.get("evidence")', "evidence"),
        ("run.result.flash.programs.total", "flash.programs.total"),
        ("run.result.waf", "waf"),
        ('row["lifetime.years"]', "lifetime.years"),
        ('columns = ["waf_bytes"]', "waf_bytes"),
        ('[f"waf_bytes_95.{end}" for end in ends]', "waf_bytes_95"),
        ('("throughput", "iops")', "throughput.iops"),
        ('look(life, "throttle", "demand_share")', "throttle.demand_share"),
    ],
)
def test_the_search_finds(code: str, key: str) -> None:
    assert key in set(named(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        '"--minimise FIGURE, e.g. waf_bytes"',
        'result["seed"], result.config_hash, result.get("version")',
        'look(experiment, "workload", "kind")',
        'config["drive"]["geometry"]["pages_per_block"]',
        '("workload.format", value), key.startswith("workload.")',
        'counts["total"], facts["count"], row["read"], self.drive.name',
        'COLORS["host"]',
    ],
)
def test_other_words_are_no_metrics(code: str) -> None:
    assert set(named(ast.parse(code))) == set()
