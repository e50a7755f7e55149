"""``make wheel``: the record of the build comes into the wheel; what a wheel is tried with exists."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest

import build_record
import wheel

ROOT = Path(__file__).parents[2]
INFO = "floatgate-0.1.0.dist-info"
LICENCES = f"{INFO}/licenses/THIRD-PARTY.txt"


def _built(file: Path, files: dict[str, str]) -> Path:
    listing = "".join(f"{name},sha256=x,{len(text)}\n" for name, text in files.items())
    with zipfile.ZipFile(file, "w") as made:
        for name, text in {**files, f"{INFO}/RECORD": f"{listing}{INFO}/RECORD,,\n"}.items():
            made.writestr(name, text)
    return file


def test_a_wheel_gets_the_record_of_its_core(tmp_path: Path) -> None:
    files = {"floatgate/__init__.py": "1", "floatgate/_core.abi3.so": "core", wheel.RECORD: "of an earlier build"}
    built = _built(tmp_path / "built.whl", files)
    wheel.add_files(built, tmp_path / "new.whl", "a licence", tmp_path)
    with zipfile.ZipFile(tmp_path / "new.whl") as new:
        assert new.testzip() is None
        assert sorted(new.namelist()) == sorted([*files, LICENCES, f"{INFO}/RECORD"])
        assert new.read(LICENCES) == b"a licence"
        assert new.read("floatgate/__init__.py") == b"1"
        record = new.read(wheel.RECORD)
        assert json.loads(record) == build_record.record(b"core", "release", tmp_path)
        rows = list(csv.reader(io.StringIO(new.read(f"{INFO}/RECORD").decode())))
    kept = ["floatgate/__init__.py", "floatgate/_core.abi3.so", f"{INFO}/RECORD"]
    assert [row[0] for row in rows] == [*kept, wheel.RECORD, LICENCES]
    assert [row[2] for row in rows[3:]] == [str(len(record)), "9"]
    assert all(row[1].startswith("sha256=") for row in rows[3:])


def test_a_wheel_without_its_core_is_refused(tmp_path: Path) -> None:
    built = _built(tmp_path / "built.whl", {"floatgate/__init__.py": "1"})
    with pytest.raises(ValueError, match="unpack"):
        wheel.add_files(built, tmp_path / "new.whl", "a licence", tmp_path)


def test_the_first_commands_are_those_of_the_readme() -> None:
    commands = wheel.first_commands((ROOT / "README.md").read_text())
    assert [command.split()[1] for command in commands] == ["lifetime", "plan", "compare"]
    named = [word for command in [*commands, *wheel.OTHERS] for word in command.split() if "/" in word]
    files = [word for word in named if word.split("/")[0] in wheel.INPUTS]
    assert files
    assert all((ROOT / file).is_file() for file in files)
    with pytest.raises(SystemExit, match="0 commands of floatgate; expected 3"):
        wheel.first_commands("no commands")
