"""The Containerfile: its paths exist, its versions are those of the project, and its last stage needs no network."""

from __future__ import annotations

import re
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NETWORK = re.compile(r"\b(apt|apt-get|curl|wget|git|cargo|maturin)\b|https?://")


def _stages() -> list[list[tuple[str, str]]]:
    """The instructions of each stage, with their arguments on one line."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Containerfile").read_text(), flags=re.M).replace("\\\n", " ")
    stages: list[list[tuple[str, str]]] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            stages.append([])
        stages[-1].append((word, " ".join(rest.split())))
    return stages


def _of(stage: list[tuple[str, str]], word: str) -> list[str]:
    return [rest for name, rest in stage if name == word]


def _tracked() -> list[str]:
    ended = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    return ended.stdout.splitlines() or pytest.skip("not a Git checkout")


def test_images_are_public_ones_of_the_versions_of_the_project() -> None:
    build, run = (_of(stage, "FROM")[0] for stage in _stages())
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    python = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert build == f"docker.io/library/rust:{cargo['rust-version']}-slim-bookworm AS build"
    assert run == f"docker.io/library/python:{python.removeprefix('>=')}-slim-bookworm"


def test_maturin_is_that_of_the_project() -> None:
    (maturin,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert any(f'"{maturin}"' in command for command in _of(_stages()[0], "RUN"))


def test_scripts_exist_and_what_is_copied_comes_from_the_checkout_or_the_first_stage() -> None:
    build, run = _stages()
    assert _of(build, "COPY") == [". ."]
    assert _of(run, "COPY") == ["--from=build /wheels /wheels"]
    scripts = re.findall(r"\bscripts/\S+", " ".join(_of(build, "RUN")))
    assert scripts == ["scripts/wheel.py"]
    assert all((ROOT / script).is_file() for script in scripts)
    names = {word for word, _ in [*build, *run]}
    assert names == {"FROM", "RUN", "WORKDIR", "COPY", "USER", "ENTRYPOINT", "CMD"}


def test_the_last_stage_needs_no_network() -> None:
    commands = _of(_stages()[1], "RUN")
    assert not [command for command in commands if NETWORK.search(command)]
    installs = [command for command in commands if "pip install" in command]
    assert len(installs) == 1
    assert "--no-index --find-links /wheels" in installs[0]


def test_the_build_itself_is_offline() -> None:
    commands = _of(_stages()[0], "RUN")
    build = next(place for place, command in enumerate(commands) if "scripts/wheel.py" in command)
    assert commands[build].startswith("CARGO_NET_OFFLINE=true ")
    assert commands[build - 1] == "cargo fetch --locked"


def test_it_runs_floatgate_without_the_rights_of_root() -> None:
    run = _stages()[1]
    assert (_of(run, "USER"), _of(run, "ENTRYPOINT")) == (["floatgate"], ['["floatgate"]'])
    words = [word for word, _ in run]
    assert words.index("USER") > max(place for place, word in enumerate(words) if word == "RUN")


def test_nothing_is_ignored_that_is_in_the_repository() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    assert len(patterns) > 5
    for path in _tracked():
        above = [path, *(str(folder) for folder in Path(path).parents)]
        assert not [pattern for pattern in patterns if any(fnmatch(part, pattern) for part in above)], path
