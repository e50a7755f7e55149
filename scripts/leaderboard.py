"""Rank all separators on all shipped traces and keep what came out, for the page docs/leaderboard.md.

`python scripts/leaderboard.py` runs `floatgate leaderboard` in a temporary folder and writes docs/data/leaderboard.json
and the charts in docs/img; with a folder of a leaderboard it takes that one. `make docs` then renews the page.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import floatgate
from floatgate.base.errors import STATUS_DONE
from floatgate.pages.parts import WIDE, pictures_of
from floatgate.pages.pictures import Style, drawn
from floatgate.study.leaderboard import text

DOCS = Path(__file__).resolve().parent.parent / "docs"
FILE = DOCS / "data/leaderboard.json"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, metavar="DIR", help="of a leaderboard that is complete")
    folder = parser.parse_args().folder
    with contextlib.ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "leaderboard"
            subprocess.run([sys.executable, "-m", "floatgate", "leaderboard", "--out", str(folder), "-q"], check=True)
        keep(floatgate.load_leaderboard(folder))
    return STATUS_DONE


def keep(board: floatgate.Leaderboard) -> None:
    """Write the tables and the charts of a leaderboard."""
    columns, cells = text.fields_table(board)
    kept: dict[str, Any] = {
        "measured": dt.datetime.now(dt.UTC).date().isoformat(),
        "floatgate": floatgate.__version__,
        "header": text.header(board),
        "rows": text.rows(board),
        "notes": text.notes(board),
        # A field is a row: pages are higher than wide.
        "fields": [list(column) for column in zip(columns, *cells, strict=True)],
    }
    FILE.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(FILE.relative_to(DOCS.parent))
    for picture in pictures_of(board.report):
        file = DOCS / "img" / f"{picture.name}.svg"
        file.write_bytes(drawn(picture.draw(WIDE).to_dict(), picture.title, Style())["svg"])
        print(file.relative_to(DOCS.parent))


if __name__ == "__main__":
    sys.exit(main())
