"""What this floatgate was built from: commit, profile of the core, installed extras.

The core does not know its commit. ``make build``, ``make dev`` and ``make wheel`` write it into ``build.json`` beside
the core (``scripts/build_record.py``), with the SHA-256 of that core. A record of another core does not count. Without
one, pip still knows the commit of an installation from a Git address (PEP 610). Otherwise the commit is unknown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from floatgate import _core
from floatgate.base.errors import InputError
from floatgate.base.json_in import Node, load, parse

RECORD = "build.json"
"""The file of the record, in the folder of the core."""
EXTRAS = {
    "frames": ("pandas", "polars"),
    "cluster": ("bokeh", "distributed"),
    "tune": ("optuna",),
    "policies": ("numba",),
}
"""Extras for users (``pip install 'floatgate[tune]'``), with the modules of their packages."""
_BYTES_MAX = 1 << 16
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True)
class Build:
    """What the core was built from. A record that is missing or belongs to another core leaves all of it unknown.

    Attributes:
        commit: the commit of the sources; None if it is unknown.
        changed: whether the sources differed from the commit; None if that is unknown.
        profile: the profile of Cargo, ``release`` or ``dev``; None if it is unknown.
        unknown: why the commit is unknown; empty if it is known.
    """

    commit: str | None = None
    changed: bool | None = None
    profile: str | None = None
    unknown: str = ""


def current() -> Build:
    """Return what is known about the build of this floatgate."""
    core = Path(str(_core.__file__))
    record = core.with_name(RECORD)
    if not record.exists():
        return _by_pip() or Build(unknown="the build left no record")
    try:
        return _recorded(load(record, "the record of a build", _BYTES_MAX), core)
    except InputError:
        return Build(unknown=f"{RECORD} cannot be read")


def extras() -> dict[str, bool]:
    """Return which extras are installed: those whose packages can all be imported."""
    return {name: all(find_spec(module) is not None for module in modules) for name, modules in EXTRAS.items()}


def _recorded(record: Node, core: Path) -> Build:
    import hashlib

    with core.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if record["core_sha256"].text() != digest:
        return Build(unknown=f"{RECORD} belongs to another core")
    profile = record["profile"].text()
    commit, changed = record.get("commit"), record.get("changed")
    if commit is None or changed is None:
        return Build(profile=profile, unknown="it was not built from a Git checkout")
    return Build(_hash(commit), changed.flag(), profile)


def _hash(commit: Node) -> str:
    if _COMMIT.fullmatch(commit.text()) is None:
        commit.refuse("a hash of Git")
    return commit.text()


def _by_pip() -> Build | None:
    """Return the commit that pip installed from, if it installed this package from a Git address."""
    # Takes longer to import than all else here, and most installations have a record.
    from importlib import metadata

    try:
        package = metadata.distribution("floatgate")
        text = package.read_text("direct_url.json")
        here = Path(str(package.locate_file("floatgate"))).samefile(Path(__file__).parents[1])
        source = parse((text or "").encode(), "direct_url.json", "where pip installed from").get("vcs_info")
        return Build(_hash(source["commit_id"]), changed=False) if here and source is not None else None
    except (metadata.PackageNotFoundError, OSError, InputError):
        return None
