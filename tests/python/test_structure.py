"""The shape of the source.

Imports between crates point downwards, files do not import one another in a circle, and files and functions keep to the
sizes of STYLE.md.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CRATES = ROOT / "crates"

# From the top: each crate may import those of the rows below its own. `bench` measures whatever it likes.
LAYERS = [
    {"python"},
    {"experiment"},
    {"config", "live"},
    {"sim"},
    {"trace", "host", "ftl", "lifetime"},
    {"stats"},
    {"snapshot"},
    {"flash"},
    {"nand"},
    {"theory", "content", "patterns", "capture", "plugin"},
    {"input"},
    {"base"},
]

# Crates whose files may still import one another in a circle, with the reason.
CIRCLES_ALLOWED: dict[str, str] = {
    "trace": "the table of formats names every reader, and readers open other readers through it",
}

# STYLE.md: beyond about these sizes files and functions want splitting.
FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70
# Larger functions, with the reason.
FUNCTIONS_ALLOWED: dict[str, str] = {}


def test_every_crate_has_its_layer() -> None:
    assert {path.parent.name for path in CRATES.glob("*/Cargo.toml")} == set().union(*LAYERS) | {"bench"}


def test_imports_between_crates_point_downwards() -> None:
    level = {crate: i for i, layer in enumerate(LAYERS) for crate in layer}
    upwards: list[str] = []
    for crate, own in level.items():
        manifest = (CRATES / crate / "Cargo.toml").read_text()
        # What only tests import is no part of the crate.
        needed = manifest.split("[dev-dependencies]")[0]
        others = re.findall(r"^floatgate-(\w+)", needed, re.M)
        upwards.extend(f"{crate} imports {other}" for other in others if level[other] <= own)
    assert upwards == []


# Files of a crate


def without_tests(text: str) -> str:
    """The code of a file without comments, texts in quotes, and the module of its unit tests."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    return re.sub(r"#\[cfg\(test\)\]\s*(?:pub\(crate\) )?(?:mod \w+ \{.*?^\}|mod \w+;)", "", text, flags=re.M | re.S)


def modules_of(crate: str) -> dict[str, str]:
    """The code of each module: `timed::queue` is `timed/queue.rs`, and the empty name is `lib.rs`."""
    source = CRATES / crate / "src"
    modules = {}
    for path in sorted(source.rglob("*.rs")):
        parts = list(path.relative_to(source).with_suffix("").parts)
        if parts[-1] in {"mod", "lib", "main"}:
            parts.pop()
        elif parts[-1].endswith("tests"):
            continue
        modules["::".join(parts)] = without_tests(path.read_text())
    return modules


def branches(tree: str) -> Iterator[str]:
    """The single paths of a `use` with braces: `a::{b, c::{d}}` is `a::b` and `a::c::d`."""
    tree = tree.strip()
    start = tree.find("{")
    if start < 0:
        yield re.sub(r"\s+as\s+\w+$", "", tree)
        return
    prefix, inner, depth, piece = tree[:start], tree[start + 1 : tree.rindex("}")], 0, ""
    for char in inner + ",":
        depth += {"{": 1, "}": -1}.get(char, 0)
        if char == "," and depth == 0:
            if piece.strip():
                yield from (prefix + branch for branch in branches(piece))
            piece = ""
        else:
            piece += char


class Crate:
    """The dependencies between the files of a crate."""

    def __init__(self, name: str) -> None:
        self.code = modules_of(name)
        self.handed_on = {module: self.re_exports(module) for module in self.code}
        impl = re.compile(r"^impl(?:<[^{]*?>)? (?:[\w:<>, ]+ for )?(\w+)[^{]*\{(.*?)^\}", re.M | re.S)
        self.methods = {module: impl.findall(code) for module, code in self.code.items()}
        self.home = {
            (kind, name): module
            for module, methods in self.methods.items()
            for kind, body in methods
            for name in re.findall(r"^    [\w() ]*\bfn (\w+)", body, re.M)
        }

    def absolute(self, module: str, path: str) -> list[str] | None:
        """A path as module names and items from the crate's root; none if it leaves the crate."""
        parts = path.strip().split("::")
        here = module.split("::") if module else []
        if parts[0] == "crate":
            return parts[1:]
        if parts[0] in {"super", "self"}:
            while parts and parts[0] in {"super", "self"}:
                here = here[:-1] if parts.pop(0) == "super" else here
            return here + parts
        inner = "::".join([*here, parts[0]])
        return here + parts if inner in self.code else None

    def re_exports(self, module: str) -> dict[str, list[str]]:
        """Names that a module only hands on, with where they come from."""
        targets = {}
        for tree in re.findall(r"\bpub(?:\([\w ]+\))? use ([^;]+);", self.code[module]):
            for path in branches(tree):
                target = self.absolute(module, path)
                if target:
                    targets[target[-1]] = target
        return targets

    def file_of(self, path: list[str]) -> str | None:
        """The module that defines an item, behind all re-exports."""
        for _ in range(10):
            depth = next(n for n in range(len(path), -1, -1) if "::".join(path[:n]) in self.code)
            module, rest = "::".join(path[:depth]), path[depth:]
            if not rest or rest[0] not in self.handed_on[module]:
                return module
            further = self.handed_on[module][rest[0]] + rest[1:]
            if further == path:
                return module
            path = further
        return None

    def needs(self, module: str) -> set[str]:
        """The other files that a file needs; what it only hands on does not count."""
        code = re.sub(r"\bpub(?:\([\w ]+\))? use [^;]+;", "", self.code[module])
        paths = [branch for tree in re.findall(r"\buse ([^;]+);", code) for branch in branches(tree)]
        code = re.sub(r"\buse [^;]+;", "", code)
        paths += re.findall(r"(?<![\w:])\$?((?:crate|super|self)(?:::\w+)+)", code)
        children = re.findall(r"\bmod (\w+);", code)
        paths += [path for path in re.findall(r"(?<![\w:])(\w+(?:::\w+)+)", code) if path.split("::")[0] in children]
        absolute = [self.absolute(module, path.lstrip("$").removesuffix("::*")) for path in paths]
        others = {self.file_of(path) for path in absolute if path is not None}
        return {other for other in others if other is not None} - {module}

    def calls(self, module: str) -> set[str]:
        """The other files with methods that methods of the same type call here: needed without an import."""
        others = set()
        for kind, body in self.methods[module]:
            called = set(re.findall(r"\b(?:self\.|Self::)(\w+)\(", body))
            others |= {self.home[kind, name] for name in called if (kind, name) in self.home}
        return others - {module}


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Sets of files each of which reaches every other one."""
    reach = {}
    for start in edges:
        seen: set[str] = set()
        todo = [start]
        while todo:
            for other in edges[todo.pop()] - seen:
                seen.add(other)
                todo.append(other)
        reach[start] = seen
    together = {tuple(sorted(b for b in reach[a] if a in reach[b])) for a in edges if a in reach[a]}
    return sorted(list(group) for group in together)


CRATE_NAMES = sorted(path.parent.name for path in CRATES.glob("*/Cargo.toml"))


@pytest.mark.parametrize("name", CRATE_NAMES)
def test_files_do_not_import_one_another_in_a_circle(name: str) -> None:
    crate = Crate(name)
    cycles = circles({module: crate.needs(module) | crate.calls(module) for module in crate.code})
    if name in CIRCLES_ALLOWED:
        assert cycles, f"{name} has no circle any more: take it from the list"
    else:
        assert cycles == []


# Tests


def test_every_file_of_integration_tests_runs() -> None:
    """``tests/it/main.rs`` would leave out a file silently, and a second program would link everything again."""
    forgotten = []
    for tests in CRATES.glob("*/tests"):
        declared = set(re.findall(r"^mod (\w+);", (tests / "it/main.rs").read_text(), re.M))
        there = {path.stem for path in (tests / "it").glob("*.rs")} | {
            path.parent.name for path in tests.glob("it/*/mod.rs")
        }
        forgotten += [f"{tests.parent.name}: {name}" for name in there - declared - {"main"}]
        forgotten += [str(path.relative_to(CRATES)) for path in tests.glob("*.rs")]
    assert forgotten == []


def code_of_tests(path: Path) -> str:
    """The part of a Rust file that only tests run."""
    text = path.read_text()
    if "tests" in path.parts or path.stem.endswith("tests"):
        return text
    return "\n".join(re.findall(r"^#\[cfg\(test\)\]\nmod \w+ \{.*?^\}", text, re.M | re.S))


def unbounded_loops(code: str) -> Iterator[str]:
    """Loops whose condition or body does not count its rounds."""
    lines = code.splitlines()
    for i, line in enumerate(lines):
        head = re.match(r"( *)(?:'\w+: )?(?:let [^=]+ = )?(?:while .*|loop \{)$", line)
        if head:
            ends = (n for n in range(i, len(lines)) if lines[n].startswith(f"{head[1]}}}") or lines[n].endswith("{}"))
            if "bound.step();" not in "".join(lines[i : next(ends) + 1]):
                yield line.strip()


def test_loops_of_tests_are_bounded() -> None:
    """A wrong threshold must fail a test, not hang it (``floatgate_base::testing::Bound``)."""
    assert list(unbounded_loops("    while drive.erases() == 0 {\n        bound.step();\n    }")) == []
    assert list(unbounded_loops("    while drive.erases() == 0 {\n        drive.read();\n    }"))
    assert list(unbounded_loops("    let drawn = loop {\n        bound.step();\n    };")) == []
    assert list(unbounded_loops("while sim.step() != Done {}"))
    unbounded = {
        str(path.relative_to(ROOT)): loops
        for path in CRATES.rglob("*.rs")
        if path.name != "testing.rs" and (loops := list(unbounded_loops(code_of_tests(path))))
    }
    assert unbounded == {}


# Sizes


def sources(*suffixes: str) -> Iterator[Path]:
    for folder in ["crates", "python", "scripts", "tests"]:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes and "target" not in path.parts:
                yield path


def rust_functions(text: str) -> Iterator[tuple[str, int]]:
    """Names and lengths; by the indentation that rustfmt gives."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        head = re.match(r"( *)(?:pub(?:\([\w ]+\))? )?(?:const |unsafe |async )*fn (\w+)", line)
        if head and not line.rstrip().endswith((";", "}")):
            end = next((n for n in range(i, len(lines)) if lines[n].startswith(head[1] + "}")), i)
            yield head[2], end - i + 1


def python_functions(text: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
            yield node.name, node.end_lineno - node.lineno + 1


def test_files_keep_to_their_size() -> None:
    lines = {path: len(path.read_text().splitlines()) for path in sources(".rs", ".py")}
    too_long = {str(path.relative_to(ROOT)): n for path, n in lines.items() if n > FILE_LINES_MAX}
    assert too_long == {}


def test_functions_keep_to_their_size() -> None:
    too_long = {}
    for path in sources(".rs", ".py"):
        functions = rust_functions if path.suffix == ".rs" else python_functions
        for name, lines in functions(path.read_text()):
            if lines > FUNCTION_LINES_MAX:
                too_long[f"{path.relative_to(ROOT)}:{name}"] = lines
    assert {name: n for name, n in too_long.items() if name not in FUNCTIONS_ALLOWED} == {}
    assert set(FUNCTIONS_ALLOWED) <= set(too_long), "these are short enough now: take them from the list"
