"""Run lint and the tests nearest to what has changed; `make check`.

Changed are files that differ from the commit named by --since (HEAD: uncommitted ones). A changed crate runs its own
tests; `experiment`, whose tests take minutes, runs the modules of `tests/it` that changed, and the fast ones that every
result passes through. A changed Python module runs the test files that import it or name its command. All of them run
in `make test`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
TESTS = ROOT / "tests/python"
EXPERIMENT_TESTS = ("goldens::", "determinism::", "policies::")
"""Modules of the experiment crate's tests that run after a change to any crate below it."""
NO_SIMULATION = {"capture", "content", "patterns", "python", "bench", "theory", "input"}
"""Crates that no simulation uses."""
ALWAYS = ("test_structure.py",)
SHARED = ("-p", "floatgate-python")
"""Added to any crate that is named to cargo: the extension depends on all others and has no tests. The crate is then
compiled with its features of the workspace, and not again with only those that it needs itself."""


def changed(since: str) -> list[str]:
    """Return paths that differ from a commit, new ones included, relative to the root."""
    listed = [
        ["git", "diff", "--name-only", "--diff-filter=d", since],
        ["git", "ls-files", "--others", "--exclude-standard"],
    ]
    texts = [subprocess.run(one, cwd=ROOT, check=True, capture_output=True, text=True).stdout for one in listed]
    return sorted({line for text in texts for line in text.splitlines()})


def cargo_tests(paths: Iterable[str]) -> Iterator[list[str]]:
    """Yield the cargo commands for changed files of crates."""
    touched = sorted({path.split("/")[1] for path in paths if re.match(r"crates/\w+/.*\.(rs|toml)$", path)})
    own = [crate for crate in touched if crate not in {"experiment", "bench", "python"}]
    if own:
        yield ["cargo", "test", *SHARED, *(word for crate in own for word in ("-p", f"floatgate-{crate}"))]
    modules = {match[1] + "::" for path in paths if (match := re.match(r"crates/experiment/tests/it/(\w+)\.rs", path))}
    if set(touched) - NO_SIMULATION:
        modules |= set(EXPERIMENT_TESTS)
    if modules - {"main::"}:
        program = ("-p", "floatgate-experiment", "--lib", "--test", "it")
        yield ["cargo", "test", *SHARED, *program, "--", *sorted(modules - {"main::"})]


def python_tests(paths: Iterable[str]) -> list[str]:
    """Return the test files for changed files of the package, of its tests and of scripts."""
    chosen = set(ALWAYS)
    modules: set[str] = set()
    for path in map(Path, paths):
        if path.parent == Path("tests/python") and path.name.startswith("test_"):
            chosen.add(path.name)
        elif path.suffix == ".py" and path.parts[0] in ("python", "scripts"):
            modules.add(".".join(path.with_suffix("").parts[1:]).removesuffix(".__init__"))
        elif path.suffix == ".md":
            chosen.add("test_pages.py")
    for test in sorted(TESTS.glob("test_*.py")):
        text = test.read_text("utf-8")
        if any(concerns(text, module) for module in modules):
            chosen.add(test.name)
    return sorted(chosen)


def concerns(test: str, module: str) -> bool:
    """Return whether the text of a test file imports a module or runs the command that it holds."""
    package, _, name = module.rpartition(".")
    if package == "floatgate.cli":
        return re.search(rf'\b(?:cli|call|main)\([^)]*"{name.replace("_", "[-_ ]")}"', test) is not None
    imports = rf"^\s*from {re.escape(package)} import [^\n]*\b{name}\b" if package else rf"^\s*import {name}\b"
    whole = rf"\b{re.escape(module)}\b"
    return re.search(imports, test, re.M) is not None or re.search(whole, test) is not None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--since", default="HEAD", metavar="COMMIT", help="what to compare with (HEAD)")
    paths = changed(parser.parse_args().since)
    files = [f"tests/python/{name}" for name in python_tests(paths)]
    commands = [["make", "--no-print-directory", "lint"], *cargo_tests(paths)]
    commands.append([PYTHON, "-m", "pytest", "-q", "--numprocesses", "auto", "--dist", "loadfile", *files])
    for command in commands:
        begun = time.monotonic()
        print("+", " ".join(command), flush=True)
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
        if status:
            return status
        print(f"  {time.monotonic() - begun:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
