"""Runs the commands of a page as a reader would paste them in the repository, in one shell from top to bottom.

Commands stand in fences of ``sh`` or ``python``, their output in the plain fence directly below. A comment directly
above a fence says how it runs:

- ``<!-- run: slow -->``: takes more than some seconds; `make extra` runs it;
- ``<!-- run: needs strace -->``: only where that program is installed;
- ``<!-- run: fails -->``: its exit status is not 0;
- ``<!-- run: never, because REASON -->``.

A quoted output may leave out lines. ``...`` stands for any text within a line, such as a time or a path.

As a program it runs pages and prints how long each block took and what differs:
``python tests/python/tutorial.py docs/sweeps.md``; ``--slow`` runs slow blocks too, ``--output`` prints all outputs.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
INPUTS = ("captures", "configs", "python", "scripts", "traces")
"""Folders of the repository that pages name."""

_FENCE = re.compile(r"^(?P<indent> *)```(?P<kind>\w*)\n(?P<text>.*?)^(?P=indent)```$", re.M | re.S)
_MARKS = re.compile(r"<!-- run: (?P<marks>[^>]*?) -->\n *\Z")
_PROMPT = re.compile(r"(\$ |floatgate |python |make |\.venv/bin/)")
_HEAD = re.compile(r"^=== block \d+ at (\d+\.\d+) ===\n", re.M)


@dataclass(frozen=True)
class Block:
    """Commands of a page.

    Attributes:
        line: of the page, where the fence begins.
        commands: what a reader pastes.
        output: what the page quotes below; None where it quotes nothing.
        slow: whether only `make extra` runs it.
        fails: whether its exit status is not 0.
        needs: a program without which it is left out; empty without one.
        never: why it never runs; empty if it runs.
    """

    line: int
    commands: str
    output: str | None
    slow: bool = False
    fails: bool = False
    needs: str = ""
    never: str = ""

    def runs(self, slow: bool) -> bool:
        """Whether this block runs here."""
        return not self.never and (slow or not self.slow) and (not self.needs or shutil.which(self.needs) is not None)


@dataclass(frozen=True)
class Ran:
    """The outcome of a block: its standard output and standard error, and how long it took."""

    block: Block
    output: str
    seconds: float


def blocks(page: Path) -> list[Block]:
    """Reads the commands of a page."""
    text = page.read_text("utf-8")
    read: list[Block] = []
    fences = list(_FENCE.finditer(text))
    for number, fence in enumerate(fences):
        if fence["kind"] not in ("sh", "python"):
            continue
        below = fences[number + 1] if number + 1 < len(fences) else None
        if below is not None and (below["kind"] or text[fence.end() : below.start()].strip()):
            below = None
        marks = _MARKS.search(text[: fence.start()] + fence["indent"])
        read.append(
            Block(
                line=text.count("\n", 0, fence.start()) + 1,
                commands=_commands(fence["kind"], textwrap.dedent(fence["text"])),
                output=None if below is None else textwrap.dedent(below["text"]),
                **_marks(marks["marks"] if marks else "", page),
            )
        )
    return read


def _commands(kind: str, text: str) -> str:
    return f"python - <<'END OF PYTHON'\n{text}END OF PYTHON\n" if kind == "python" else text


def _marks(text: str, page: Path) -> dict[str, Any]:
    reason = re.fullmatch(r"never, because (.+)", text)
    if reason:
        return {"never": reason[1]}
    marks: dict[str, Any] = {}
    for mark in filter(None, text.split(", ")):
        if mark in ("slow", "fails"):
            marks[mark] = True
        elif mark.startswith("needs "):
            marks["needs"] = mark.removeprefix("needs ")
        else:
            raise ValueError(f"{page.name}: unknown mark '{mark}'")
    return marks


def unmarked_commands(page: Path) -> list[str]:
    """Lists first lines of plain fences that look like commands: these would never run."""
    first = (
        fence["text"].strip().split("\n")[0] for fence in _FENCE.finditer(page.read_text("utf-8")) if not fence["kind"]
    )
    return [line for line in first if _PROMPT.match(line)]


def missing(quoted: str, printed: str) -> list[str]:
    """Lists the quoted lines that the output lacks, or has in another order; blanks do not matter."""
    lines = _lines(printed)
    lacking = []
    at = 0
    for line in _lines(quoted):
        if line == "...":
            continue
        pattern = re.compile(".*".join(re.escape(part) for part in line.split("...")))
        place = next((n for n in range(at, len(lines)) if pattern.fullmatch(lines[n])), None)
        if place is None:
            lacking.append(line)
        else:
            at = place + 1
    return lacking


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def free_port() -> str:
    """Finds a port that no program listens on."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return str(listening.getsockname()[1])


def replacements(page: Path, folder: Path) -> dict[str, str]:
    """Texts of a page that are others in a test: folders and ports that tests share, builds."""
    here = {"/tmp/": f"{folder}/tmp/"}
    if page.name == "sweeps.md":
        here |= {"8786": free_port(), "8787": free_port()}
    if page.name == "README.md":
        here |= {"make demo": "floatgate run configs/experiments/demo.toml --out runs/demo --force"}
    return here


def run(page: Path, folder: Path, slow: bool, commands: str | None = None) -> list[Ran]:
    """Runs the blocks of a page in an empty folder that has what the repository's root has.

    With ``commands``, the address of a server of ``commands.py``, its processes are the commands of floatgate.

    Raises:
        AssertionError: where a command fails that should not, or the other way round; with the whole output.
    """
    chosen = [block for block in blocks(page) if block.runs(slow)]
    replacing = replacements(page, folder)
    script = "set -e\n" + "".join(_script(number, block) for number, block in enumerate(chosen))
    script += f"{_head(len(chosen))}\n"
    for one, other in replacing.items():
        script = script.replace(one, other)
    text, status = _shell(script, folder, commands)
    for one, other in replacing.items():
        text = text.replace(other, one)
    assert status == 0, text
    parts = _HEAD.split(text)
    assert len(parts) == 2 * len(chosen) + 3, text
    times = [float(time) for time in parts[1::2]]
    return [Ran(block, parts[2 * number + 2], times[number + 1] - times[number]) for number, block in enumerate(chosen)]


def _head(number: int) -> str:
    return f'echo "=== block {number} at $EPOCHREALTIME ==="'


def _script(number: int, block: Block) -> str:
    if block.fails:
        return f"{_head(number)}\nset +e\n{block.commands}status=$?\nset -e\n[ $status -ne 0 ]\n"
    return f"{_head(number)}\n{block.commands}"


def _shell(script: str, folder: Path, commands: str | None) -> tuple[str, int]:
    """Runs a script with ``floatgate`` and ``python`` in its path; its output and exit status."""
    tools = folder / ".venv" / "bin"
    tools.mkdir(parents=True)
    client = f"-I -S {Path(__file__).parent / 'command_client.py'} {commands}"
    floatgate = client if commands else "-m floatgate"
    for name, module in (("floatgate", floatgate), ("dask", "-m dask"), ("python", "")):
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        (tools / name).chmod(0o755)
    (folder / "tmp").mkdir()
    for name in INPUTS:
        (folder / name).symlink_to(ROOT / name)
    # Into a file: whatever a page leaves running in the background would keep a pipe open.
    printed = folder / ".printed"
    with printed.open("wb") as out:
        shell = subprocess.Popen(
            ["bash", "-c", script],
            cwd=folder,
            env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = shell.wait(timeout=3600)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()
    return printed.read_text("utf-8"), status


def _main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Run the commands of pages and print what differs.")
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--slow", action="store_true", help="run slow blocks, too")
    parser.add_argument("--output", action="store_true", help="print what each block prints")
    options = parser.parse_args(arguments)
    differ = False
    for page in options.pages:
        with tempfile.TemporaryDirectory() as folder:
            for ran in run(page, Path(folder), options.slow):
                print(f"{page.name}:{ran.block.line}: {ran.seconds:.1f} s")
                lacking = missing(ran.block.output or "", ran.output)
                differ = differ or bool(lacking)
                print("".join(f"  lacks {line}\n" for line in lacking), end="")
                if options.output or lacking:
                    print(textwrap.indent(ran.output, "  | "), end="")
    return int(differ)


if __name__ == "__main__":
    sys.exit(_main())
