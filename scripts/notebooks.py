"""Strip the notebooks of `notebooks/` of what a run leaves in them; --run: run them, each from top to bottom.

Outputs stay out of the repository: they would be stale soon, and no diff of them can be read.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import nbformat

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
CELL_SECONDS_MAX = 300
"""The longest time that a cell may take, in seconds: each takes some seconds on two idle cores."""


def read(path: Path) -> Any:
    """Reads a notebook."""
    return nbformat.read(path, as_version=4)


def stripped(notebook: Any) -> str:
    """Writes a notebook without outputs, counts of executions, and what editors add to it."""
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    for number, cell in enumerate(notebook.cells, 1):
        cell["id"] = f"{number:02d}"
        cell["metadata"] = {}
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    nbformat.validate(notebook)
    return f"{nbformat.writes(notebook, indent=1).rstrip()}\n"


def executed(path: Path) -> Any:
    """Runs a notebook in its folder, as Jupyter does, and returns it with its outputs.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed; the message has its code and the error.
    """
    from nbclient import NotebookClient

    notebook = read(path)
    settings = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=CELL_SECONDS_MAX, kernel_name="python3", resources=settings).execute()
    return notebook


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", action="store_true", help="run them and say how long each takes; write nothing")
    run = parser.parse_args().run
    for path in sorted(FOLDER.glob("*.ipynb")):
        if run:
            start = time.monotonic()
            executed(path)
            print(f"{path.name}: {time.monotonic() - start:.0f} s")
        else:
            path.write_text(stripped(read(path)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
