"""Build a wheel, and try it as its users do; `make wheel`.

The wheel is installed into an empty environment in a temporary folder. The first commands of README.md run there, with
nothing of the checkout but its traces and experiments.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

import build_record
import licences

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
INPUTS = ("configs", "traces")
"""Folders of the checkout that commands of README.md name."""
RECORD = f"floatgate/{build_record.RECORD}"
TEXTS = "THIRD-PARTY.txt"
"""The file of licence texts, beside THIRD-PARTY.md in the wheel."""
FIRST_COMMANDS = 3
"""Commands of README.md that run, from the top: its forecast, its plan and its comparison."""
OTHERS = (
    "floatgate run configs/experiments/demo.toml --out runs/demo",
    "floatgate reproduce ready --quick --out ready",
    "floatgate man",
)
"""What `make demo` runs, a small reproduction of generated workloads, and the man page."""
REFUSED = (
    "floatgate reproduce separation --quick --out separation",
    "expected floatgate to be installed from its checkout (pip install -e), or a trace of yours",
)
"""A reproduction of recorded traces, which are not in the wheel, and what its error must say."""


def build() -> Path:
    """Build a wheel into ``dist/``, with the record of its build, and return its file."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["maturin", "build", "--release", "--locked", "--out", folder]
        subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=True)
        (built,) = Path(folder).glob("*.whl")
        DIST.mkdir(exist_ok=True)
        target = DIST / built.name
        beside = target.with_suffix(".new")
        add_files(built, beside, licences.texts(licences.cargo_metadata()))
    return beside.replace(target)


def add_files(wheel: Path, target: Path, licence_texts: str, checkout: Path = ROOT) -> None:
    """Write a wheel with the record of its build, and the licences of what is linked into its core.

    Args:
        wheel: as maturin built it, with the profile ``release``.
        target: the new file.
        licence_texts: as :func:`licences.texts` returns them.
        checkout: the sources of the wheel.
    """
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as written:
        (core,) = (name for name in source.namelist() if re.fullmatch(r"floatgate/_core\.[^/]*so", name))
        (listing,) = (name for name in source.namelist() if name.endswith(".dist-info/RECORD"))
        record = json.dumps(build_record.record(source.read(core), "release", checkout), indent=2)
        added = {RECORD: record, f"{listing.removesuffix('RECORD')}licenses/{TEXTS}": licence_texts}
        for entry in source.infolist():
            if entry.filename not in (*added, listing):
                written.writestr(entry, source.read(entry), zipfile.ZIP_DEFLATED)
        rows = [row for row in csv.reader(io.StringIO(source.read(listing).decode())) if row and row[0] not in added]
        for name, text in added.items():
            written.writestr(name, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            rows.append([name, f"sha256={digest}", str(len(text.encode()))])
        lines = io.StringIO()
        csv.writer(lines, lineterminator="\n").writerows(rows)
        written.writestr(listing, lines.getvalue())


def first_commands(readme: str) -> list[str]:
    """Return the commands of floatgate with which README.md begins."""
    commands = re.findall(r"^```sh\n(floatgate .*)\n```$", readme, re.M)
    if len(commands) < FIRST_COMMANDS:
        raise SystemExit(f"error: README.md: {len(commands)} commands of floatgate; expected {FIRST_COMMANDS}")
    return commands[:FIRST_COMMANDS]


def try_out(wheel: Path, commands: list[str]) -> None:
    """Install a wheel into an empty environment, and run commands there.

    Args:
        wheel: the file.
        commands: words with blanks between them; each must end with status 0 and print something.

    Raises:
        SystemExit: a command failed or printed nothing, floatgate is not that of the wheel, or REFUSED is not refused.
    """
    with tempfile.TemporaryDirectory(prefix="floatgate-wheel-") as name:
        folder = Path(name).resolve()
        environment, work = folder / "environment", folder / "work"
        venv.create(environment, with_pip=True)
        work.mkdir()
        for inputs in INPUTS:
            (work / inputs).symlink_to(ROOT / inputs)
        without = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        env = {key: value for key, value in os.environ.items() if key not in without}
        env["PATH"] = f"{environment / 'bin'}{os.pathsep}{env['PATH']}"
        _run(["python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)], work, env)
        where = _run(["python", "-c", "import floatgate; print(floatgate.__file__)"], work, env).strip()
        if environment not in Path(where).resolve().parents:
            raise SystemExit(f"error: {where}: is not in the new environment; expected floatgate of the wheel")
        for command in ["floatgate --version", *commands]:
            _shown(command, _run(command.split(), work, env))
        command, remedy = REFUSED
        error = _run(command.split(), work, env, status=2)
        if remedy not in error:
            raise SystemExit(f"error: {command}: the error was {error!r}; expected one that says {remedy!r}")
        _shown(command, error)


def _shown(command: str, output: str) -> None:
    if not output.strip():
        raise SystemExit(f"error: {command}: printed nothing")
    print(f"$ {command}", *output.splitlines()[:4], sep="\n", flush=True)


def _run(words: list[str], folder: Path, env: dict[str, str], status: int = 0) -> str:
    """Return standard output of a command, or standard error where its status is not 0."""
    ended = subprocess.run(["env", *words], cwd=folder, env=env, capture_output=True, text=True, check=False)
    if ended.returncode != status:
        raise SystemExit(f"error: {' '.join(words)}: status {ended.returncode}\n{ended.stdout}{ended.stderr}")
    return ended.stderr if status else ended.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description="Build a wheel into dist/, and try it in an empty environment.")
    parser.add_argument("--build-only", action="store_true", help="do not try the wheel")
    parser.add_argument("--wheel", type=Path, help="try this wheel; build none")
    arguments = parser.parse_args()
    wheel = arguments.wheel.resolve() if arguments.wheel else build()
    if not arguments.build_only:
        try_out(wheel, [*first_commands((ROOT / "README.md").read_text()), *OTHERS])
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
