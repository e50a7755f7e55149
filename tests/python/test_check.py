"""``make check`` runs the tests nearest to a change."""

import re
import subprocess

import pytest

from scripts_as_modules import loaded

check = loaded("check")
CARGO = ["cargo", "test", "-p", "floatgate-python"]
SIMULATOR = [*CARGO, "-p", "floatgate-experiment", "--lib", "--test", "it", "--"]


def test_a_changed_crate_runs_its_own_tests_and_fast_ones_of_the_simulator() -> None:
    assert list(check.cargo_tests(["crates/ftl/src/collect/greedy.rs", "crates/ftl/Cargo.toml", "README.md"])) == [
        [*CARGO, "-p", "floatgate-ftl"],
        [*SIMULATOR, "determinism::", "goldens::", "policies::"],
    ]
    assert list(check.cargo_tests(["crates/capture/src/humps.rs"])) == [[*CARGO, "-p", "floatgate-capture"]]
    assert list(check.cargo_tests(["python/floatgate/run/run.py"])) == []


def test_changed_tests_of_the_simulator_run() -> None:
    (command,) = check.cargo_tests(["crates/experiment/tests/it/timed.rs"])
    assert "timed::" in command


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("python/floatgate/lab/smart.py", "test_smart.py"),
        ("python/floatgate/study/runs/points.py", "test_sweep_points.py"),
        ("python/floatgate/trace/recorder/page_cache.py", "test_record_model.py"),
        ("python/floatgate/cli/compare.py", "test_cli_compare.py"),
        ("tests/python/test_units.py", "test_units.py"),
        ("README.md", "test_pages.py"),
        ("scripts/bench_history.py", "test_bench.py"),
    ],
)
def test_a_changed_module_runs_the_files_that_import_it(path: str, test: str) -> None:
    assert test in check.python_tests([path])


def test_files_that_nothing_imports_run_the_structure_alone() -> None:
    assert check.python_tests(["configs/drives/mlc-20nm.toml"]) == ["test_structure.py"]


def test_the_extension_is_compiled_with_the_features_of_the_workspace() -> None:
    """Else every crate is compiled once for `make dev` and once more for `make test`."""
    alone = _features("-p", "floatgate-python", "-e", "normal,build")
    assert alone <= _features("--workspace", "-e", "all")
    assert any(line.startswith("rand v") for line in alone)


def _features(*chosen: str) -> set[str]:
    """Packages with their features."""
    command = ["cargo", "tree", "--locked", "--prefix", "none", "-f", "{p} {f}", *chosen]
    done = subprocess.run(command, cwd=check.ROOT, capture_output=True, text=True, check=True)
    lines = {line.removesuffix(" (*)") for line in done.stdout.splitlines()}
    return {line for line in lines if re.match(r"\S+ v\d", line)}
