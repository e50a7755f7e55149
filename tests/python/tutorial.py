"""Runs the commands of a page of docs/ as a reader would paste them, one shell from top to bottom."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
_MARK = "=== block {} ==="


@dataclass(frozen=True)
class Block:
    """Commands of a page, and the output that stands below them; None where none does."""

    commands: str
    output: str | None


def blocks(page: Path) -> list[Block]:
    """The commands of a page: fences of ``sh``, each with the plain fence that follows it at once."""
    text = page.read_text("utf-8")
    found = []
    fences = list(_FENCE.finditer(text))
    for number, fence in enumerate(fences):
        if fence[1] != "sh":
            continue
        after = fences[number + 1] if number + 1 < len(fences) else None
        directly = after is not None and after[1] == "" and not text[fence.end() : after.start()].strip()
        found.append(Block(fence[2], after[2] if after is not None and directly else None))
    return found


def run(found: list[Block], folder: Path, replacing: dict[str, str]) -> list[str]:
    """What each block prints on standard output and standard error, all run by one shell.

    Args:
        found: the blocks.
        folder: where.
        replacing: texts of the page that are others here, such as ports.
    """
    script = "set -e\n"
    for number, block in enumerate(found):
        script += f"echo '{_MARK.format(number)}'\n{block.commands}"
    for one, other in replacing.items():
        script = script.replace(one, other)
    tools = folder / ".bin"
    tools.mkdir()
    for name, module in (("floatgate", "-m floatgate"), ("dask", "-m dask"), ("python", "")):
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        (tools / name).chmod(0o755)
    path = f"{tools}:{os.environ['PATH']}"
    # Into a file: whatever a page leaves running in the background would keep a pipe open.
    said = folder / ".said"
    with said.open("wb") as out:
        shell = subprocess.Popen(
            ["bash", "-c", script],
            cwd=folder,
            env={**os.environ, "PATH": path, "NO_COLOR": "1"},
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = shell.wait(timeout=900)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()
    text = said.read_text("utf-8")
    for one, other in replacing.items():
        text = text.replace(other, one)
    assert status == 0, text
    parts = re.split("^" + _MARK.format(r"\d+") + "\n", text, flags=re.M)
    assert len(parts) == len(found) + 1, text
    return parts[1:]
