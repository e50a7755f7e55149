"""Write THIRD-PARTY.md: what a wheel bundles and requires, with licences. Refuses licences that are not permissive.

`make docs` writes the page, and `--check` says whether it is current. Crates and their licences come from
`cargo metadata`, those of Python packages from what is installed, those of what draws charts in pages from its listing.
A wheel bundles no Python package of others: pip installs them beside it.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "THIRD-PARTY.md"
CHARTS = ROOT / "python/floatgate/pages/chart_runtime.json"
"""What is in the bundle that draws the charts of pages; `scripts/chart_runtime.py` writes it."""
DASHBOARD = ROOT / "python/floatgate/live/page/uplot.json"
"""The library that draws the charts of a live drive; it lies beside as its makers publish it, with its licence."""
TARGET = "x86_64-unknown-linux-gnu"
"""Lists of other targets of Linux differ in few crates; their licences are checked by deny.toml."""
ALLOWED = frozenset(
    {
        *("0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0"),
        *("ISC", "MIT", "MIT-0", "PSF-2.0", "Unicode-3.0", "Zlib", "bzip2-1.0.6"),
    }
)
"""Permissive licences, by their names in SPDX; BSD is that of packages that do not say which."""
SOURCES_OF_OTHERS = {
    "liblzma-sys": ("liblzma of XZ Utils", "0BSD", "xz/COPYING.0BSD"),
    "lz4-sys": ("LZ4 library", "BSD-2-Clause", "liblz4/lib/LICENSE"),
    "zstd-sys": ("Zstandard", "BSD-3-Clause", "zstd/LICENSE"),
}
"""Crates that compile C sources of other projects into the core: project, licence, and its text in the crate."""
TEXTS = re.compile(r"(?i)(licen[cs]e|copying|copyright|notice|unlicense)([-._].*)?")
"""Names of the files in a crate that hold its licences."""
NO_SOURCES = frozenset({"pyo3", "pyo3-ffi"})
"""Crates that name a library of the system in `links` and compile nothing."""
CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
}
HEAD = """# Third-party software
<!-- Written by scripts/licences.py; `make docs` renews it. -->
What a wheel of floatgate contains and requires, with licences. The licence of floatgate itself is in `LICENSE`.
`scripts/licences.py` accepts permissive licences alone, and `make lint` runs it.
"""


class Part(NamedTuple):
    """A piece of software, with its licence as an expression of SPDX."""

    name: str
    version: str
    licence: str


def is_allowed(expression: str) -> bool:
    """Return whether a licence expression of SPDX can be met by permissive licences alone."""
    expression = expression.replace("/", " OR ")
    inner = re.search(r"\(([^()]*)\)", expression)
    if inner is not None:
        known = "MIT" if is_allowed(inner[1]) else "refused"
        return is_allowed(f"{expression[: inner.start()]}{known}{expression[inner.end() :]}")
    # AND binds closer than OR.
    alternatives = (alternative.split(" AND ") for alternative in expression.split(" OR "))
    return any(all(licence.strip() in ALLOWED for licence in together) for together in alternatives)


def cargo_metadata() -> Mapping[str, Any]:
    """Return the packages of Cargo.lock and how they depend on each other, without a network."""
    command = ["cargo", "metadata", "--offline", "--locked", "--format-version=1", f"--filter-platform={TARGET}"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    document: Mapping[str, Any] = json.loads(ended.stdout)
    return document


def crates(known: Mapping[str, Any]) -> tuple[list[Part], list[Part]]:
    """Return the crates that are linked into the core, and those that only its build uses.

    Args:
        known: as `cargo metadata` writes it.
    """
    packages = {package["id"]: package for package in known["packages"]}
    linked, all_of_them = (set(_reached(known, packages, of_build=of_build)) for of_build in (False, True))
    return _parts(packages, linked), _parts(packages, all_of_them - linked)


def texts(known: Mapping[str, Any]) -> str:
    """Return the texts of the licences of all that is linked into the core, each text once.

    Args:
        known: as `cargo metadata` writes it.
    """
    packages = {package["id"]: package for package in known["packages"]}
    of_text: dict[str, list[str]] = {}
    for identity in sorted(_reached(known, packages, of_build=False)):
        package = packages[identity]
        if package["source"] is None:
            continue
        folder = Path(package["manifest_path"]).parent
        files = [(file, package["name"]) for file in sorted(folder.iterdir()) if TEXTS.fullmatch(file.name)]
        files = [(file, name) for file, name in files if file.is_file()]
        if not files:
            stated = f"The crate has no text of its licence and states: {package['license']}"
            of_text.setdefault(stated, []).append(package["name"])
        if package["name"] in SOURCES_OF_OTHERS:
            project, _, text = SOURCES_OF_OTHERS[package["name"]]
            files.append((folder / text, project))
        for file, name in files:
            of_text.setdefault(file.read_text("utf-8", "replace").strip(), []).append(f"{name} ({file.name})")
    return "".join(f"{'=' * 78}\n{', '.join(names)}\n{'=' * 78}\n{text}\n\n" for text, names in of_text.items())


def _reached(known: Mapping[str, Any], packages: Mapping[str, Any], *, of_build: bool) -> Iterator[str]:
    nodes = {node["id"]: node for node in known["resolve"]["nodes"]}
    todo = [identity for identity, package in packages.items() if package["name"] == "floatgate-python"]
    kinds = {None, "build"} if of_build else {None}
    met: set[str] = set()
    while todo:
        identity = todo.pop()
        is_macro = any("proc-macro" in target["kind"] for target in packages[identity]["targets"])
        if identity in met or (is_macro and not of_build):
            continue
        met.add(identity)
        yield identity
        todo += [
            inner["pkg"]
            for inner in nodes[identity]["deps"]
            if any(kind["kind"] in kinds for kind in inner["dep_kinds"])
        ]


def _parts(packages: Mapping[str, Any], identities: Iterable[str]) -> list[Part]:
    parts: list[Part] = []
    for identity in identities:
        package = packages[identity]
        if package["source"] is None:
            continue
        parts.append(Part(package["name"], package["version"], package["license"] or "none stated"))
        if package["links"] is not None and package["name"] not in NO_SOURCES:
            if package["name"] not in SOURCES_OF_OTHERS:
                raise SystemExit(
                    f"error: {package['name']}: links = {package['links']!r}; "
                    "expected what it compiles, in SOURCES_OF_OTHERS or NO_SOURCES of scripts/licences.py"
                )
            name, licence, _ = SOURCES_OF_OTHERS[package["name"]]
            parts.append(Part(name, f"in {package['name']}", licence))
    return sorted(parts, key=lambda part: (part.name.lower(), part.version))


def requirements() -> list[str]:
    """Return the Python packages that floatgate requires."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return sorted(canonicalize_name(Requirement(line).name) for line in project["dependencies"])


def python_packages(names: Iterable[str]) -> list[Part]:
    """Return packages with all that they require, as installed here."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    todo, parts = [canonicalize_name(name) for name in names], dict[str, Part]()
    while todo:
        name = todo.pop()
        if name in parts:
            continue
        package = metadata.distribution(name)
        parts[name] = Part(name, package.version, python_licence(package.metadata))
        for line in package.requires or []:
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
                todo.append(canonicalize_name(wanted.name))
    return [parts[name] for name in sorted(parts)]


def python_licence(facts: Any) -> str:
    """Return the licence of a Python package: its expression, else its classifier, else its line."""
    classifiers = [line.rpartition(" :: ")[2] for line in facts.get_all("Classifier") or [] if "License" in line]
    stated = [CLASSIFIERS[name] for name in classifiers if name in CLASSIFIERS]
    line = str(facts.get("License") or "none stated").splitlines()[0]
    return str(facts.get("License-Expression") or " AND ".join(stated) or line)


def refused(parts: Iterable[Part]) -> list[str]:
    """Return an error for each part whose licence is not permissive, or is no expression of SPDX."""
    allowed = ", ".join(sorted(ALLOWED, key=str.lower))
    return [
        f"{part.name} {part.version}: licence {part.licence!r}; expected one of {allowed}"
        for part in parts
        if not is_allowed(part.licence)
    ]


def of_charts() -> list[Part]:
    """Return the packages of JavaScript that reports and the dashboard carry along."""
    packages = [*json.loads(CHARTS.read_text())["packages"], json.loads(DASHBOARD.read_text())]
    return [Part(one["name"], one["version"], one["license"]) for one in packages]


def page(linked: Iterable[Part], in_pages: Iterable[Part], of_build: Iterable[Part], required: Iterable[Part]) -> str:
    """Return THIRD-PARTY.md."""
    lines = [HEAD]
    lines.append("## In the wheel\nLinked into the core, on Linux with x86-64:\n")
    lines += ["| crate or library | version | licence |", "|---|---|---|"]
    lines += [f"| {part.name} | {part.version} | {part.licence} |" for part in linked]
    lines.append(
        "\nIn reports and the dashboard, to draw their charts in a browser; the texts of these licences lie in the "
        "bundle or beside it:\n"
    )
    lines += ["| package of JavaScript | version | licence |", "|---|---|---|"]
    lines += [f"| {part.name} | {part.version} | {part.licence} |" for part in in_pages]
    lines.append("\n## In the build alone\nMacros and tools of the build; nothing of them is in the wheel:\n")
    lines += ["| crate | version | licence |", "|---|---|---|"]
    lines += [f"| {part.name} | {part.version} | {part.licence} |" for part in of_build]
    lines.append("\n## Required\nThe wheel contains no Python package of others. These are installed beside it:\n")
    lines += ["| package | licence |", "|---|---|"]
    lines += [f"| {part.name} | {part.licence} |" for part in required]
    return "\n".join(lines) + "\n"


def names_of(text: str) -> set[str]:
    """Return what the rows of the page begin with: names, with the versions of crates."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    return {" ".join(row[:-1]) for row in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write THIRD-PARTY.md, and refuse licences that are not permissive.")
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if the page lacks a name")
    check = parser.parse_args().check
    linked, of_build = crates(cargo_metadata())
    installed = python_packages(requirements())
    errors = refused([*linked, *of_charts(), *of_build, *installed])
    text = page(linked, of_charts(), of_build, [part for part in installed if part.name in requirements()])
    if check and (not PAGE.exists() or names_of(PAGE.read_text()) != names_of(text)):
        errors.append(f"{PAGE.name}: is out of date; expected what `make docs` writes")
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    if errors:
        sys.exit(1)
    if not check:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
