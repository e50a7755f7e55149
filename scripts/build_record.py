"""Write down what a core was built from, beside it: ``floatgate --version`` reads that. `make build`, `make dev`."""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RECORD = "build.json"


def record(core: bytes, profile: str, checkout: Path = ROOT) -> dict[str, Any]:
    """Return the record of a core.

    Args:
        core: the file of the core.
        profile: the profile of Cargo that it was built with.
        checkout: the sources. Their commit is null if they are not the root of a Git checkout.
    """
    commit, changed = None, None
    root = _git(checkout, "rev-parse", "--show-toplevel")
    if root is not None and Path(root).resolve() == checkout.resolve():
        commit = _git(checkout, "rev-parse", "--verify", "HEAD")
        status = _git(checkout, "status", "--porcelain", "--untracked-files=normal")
        changed = None if status is None else status != ""
    return {
        "core_sha256": hashlib.sha256(core).hexdigest(),
        "profile": profile,
        "commit": commit,
        "changed": changed,
    }


def _git(checkout: Path, *arguments: str) -> str | None:
    try:
        ended = subprocess.run(["git", *arguments], cwd=checkout, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return ended.stdout.strip() if ended.returncode == 0 else None


def write(core: Path, profile: str, checkout: Path = ROOT) -> Path:
    """Write the record beside the core, and return its file."""
    target = core.with_name(RECORD)
    beside = target.with_suffix(".new")
    beside.write_text(json.dumps(record(core.read_bytes(), profile, checkout), indent=2) + "\n")
    return beside.replace(target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("profile", choices=["dev", "release"])
    parser.add_argument("core", type=Path, nargs="?", default=ROOT / "python/floatgate/_core.abi3.so")
    arguments = parser.parse_args()
    write(arguments.core, arguments.profile)


if __name__ == "__main__":
    main()
