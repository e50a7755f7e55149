"""``floatgate --version``: the commit is that of the record that belongs to the core, or unknown."""

from __future__ import annotations

import hashlib
import json
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import build_record
import floatgate
from conftest import Cli
from floatgate import _core
from floatgate.base import build

ROOT = Path(__file__).parents[2]
CORE = b"a core"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
GOOD = {"core_sha256": hashlib.sha256(CORE).hexdigest(), "profile": "release", "commit": COMMIT, "changed": False}


@pytest.fixture
def core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A core in a folder of its own, which has no record yet."""
    file = tmp_path / "_core.abi3.so"
    file.write_bytes(CORE)
    monkeypatch.setattr(_core, "__file__", str(file))
    return file


def _record(core: Path, **changes: Any) -> build.Build:
    core.with_name(build.RECORD).write_text(json.dumps({**GOOD, **changes}))
    return build.current()


def test_a_record_of_this_core_gives_commit_and_profile(core: Path) -> None:
    assert _record(core) == build.Build(COMMIT, False, "release")
    assert _record(core, changed=True, profile="dev") == build.Build(COMMIT, True, "dev")


@pytest.mark.parametrize(
    ("changes", "profile"),
    [
        ({"core_sha256": "0" * 64}, None),
        ({"commit": "main"}, None),
        ({"commit": 7}, None),
        ({"changed": "no"}, None),
        ({"profile": None}, None),
        ({"commit": None, "changed": None}, "release"),
        ({"changed": None}, "release"),
    ],
)
def test_the_commit_is_unknown_where_the_record_does_not_prove_it(
    changes: dict[str, Any], profile: str | None, core: Path
) -> None:
    known = _record(core, **changes)
    assert (known.commit, known.changed, known.profile) == (None, None, profile)
    assert known.unknown


def test_a_damaged_record_is_no_error(core: Path) -> None:
    core.with_name(build.RECORD).write_text('{"commit": ')
    assert build.current() == build.Build(unknown="build.json cannot be read")


def _installed_from(address: dict[str, Any] | None, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Installed(metadata.Distribution):
        def read_text(self, filename: str) -> str | None:
            return json.dumps(address) if filename == "direct_url.json" and address is not None else None

        def locate_file(self, path: Any) -> Any:
            return package / path

    monkeypatch.setattr(metadata, "distribution", lambda _: Installed())


def test_pip_knows_the_commit_of_a_git_address(core: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = Path(floatgate.__file__).parents[1]
    address = {"url": "https://example.org/floatgate", "vcs_info": {"vcs": "git", "commit_id": COMMIT}}
    unknown = build.Build(unknown="the build left no record")
    _installed_from(address, here, monkeypatch)
    assert build.current() == build.Build(COMMIT, False, None)
    # Another floatgate is installed than the one that runs.
    (tmp_path / "floatgate").mkdir()
    _installed_from(address, tmp_path, monkeypatch)
    assert build.current() == unknown
    for other in ({"url": "file:///a", "dir_info": {"editable": True}}, {"vcs_info": {"commit_id": "v1"}}, None):
        _installed_from(other, here, monkeypatch)
        assert build.current() == unknown


def _git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    ended = subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return ended.stdout.strip()


def test_what_is_written_of_a_checkout_is_its_commit(tmp_path: Path) -> None:
    assert build_record.record(CORE, "dev", tmp_path)["commit"] is None
    _git(tmp_path, "init", "--quiet")
    (tmp_path / "a").write_text("1")
    assert build_record.record(CORE, "dev", tmp_path)["commit"] is None
    _git(tmp_path, "add", "a")
    _git(tmp_path, "commit", "--quiet", "--message", "a")
    commit = _git(tmp_path, "rev-parse", "HEAD")
    known = build_record.record(CORE, "dev", tmp_path)
    assert known == {**GOOD, "profile": "dev", "commit": commit}
    # Sources that lie in the repository of someone else have no commit of their own.
    (tmp_path / "inner").mkdir()
    assert build_record.record(CORE, "dev", tmp_path / "inner")["commit"] is None
    (tmp_path / "a").write_text("2")
    assert build_record.record(CORE, "dev", tmp_path)["changed"] is True


def test_what_the_script_writes_is_read_back(core: Path) -> None:
    written = build_record.write(core, "release")
    assert written == core.with_name(build.RECORD)
    assert build.current().profile == "release"


def test_extras_are_those_of_the_project() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {name: tuple(package.split(">")[0] for package in extras[name]) for name in extras}
    assert {name: named[name] for name in named if name not in ("dev", "site")} == build.EXTRAS


def test_an_extra_without_one_of_its_packages_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "EXTRAS", {"here": ("json",), "half": ("json", "no_such_module")})
    assert build.extras() == {"here": True, "half": False}


def test_text_and_json_say_the_same(cli: Cli, tmp_path: Path) -> None:
    lines = cli("--version").done().splitlines()
    assert [line.split()[0] for line in lines] == ["floatgate", "commit", "profile", "extras"]
    answer = json.loads(cli("--version", "--json").done())
    assert lines[0] == f"floatgate {answer['version']}" == f"floatgate {floatgate.__version__}"
    assert (answer["commit"] or f"unknown: {answer['unknown']}") in lines[1]
    assert lines[2].split()[1] == (answer["profile"] or "unknown")
    installed = [name for name, is_installed in answer["extras"].items() if is_installed]
    assert lines[3].split(maxsplit=1)[1] == (", ".join(installed) or "none")
    file = tmp_path / "version.json"
    for words in (["--json=-"], ["--json", "-"]):
        assert json.loads(cli("--version", *words).done()) == answer
    assert cli("--version", "--json", str(file)).done() == ""
    assert json.loads(file.read_text()) == answer
    assert "exists already" in cli("--version", f"--json={file}").refused()
