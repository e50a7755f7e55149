"""Bundle the parts of Vega that reports need in a browser into ``python/floatgate/pages/chart_runtime.js.gz``.

Needs npm, which nothing else here does: the bundle is kept in the repository. ``chart_runtime/package.json`` has the
versions; Vega-Lite's is that of the renderer (``vl_convert.get_vegalite_versions()``). Beside the bundle,
``chart_runtime.json`` lists what is in it with licences and a checksum; their texts are in the bundle itself.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RECIPE = Path(__file__).with_suffix("")
PAGES = ROOT / "python" / "floatgate" / "pages"
BUNDLE = PAGES / "chart_runtime.js.gz"
LISTING = PAGES / "chart_runtime.json"
BYTES_MAX = 400_000
"""Of the bundle in a page, in base64."""


def bundle(folder: Path) -> tuple[str, list[dict[str, str]]]:
    """Return the bundle and the packages in it, by name.

    Args:
        folder: an empty one, where npm installs.
    """
    for file in RECIPE.iterdir():
        shutil.copy(file, folder)
    npm = ["npm", "install", "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--silent"]
    subprocess.run(npm, cwd=folder, check=True)
    (esbuild,) = (folder / "node_modules" / "@esbuild").glob("*/bin/esbuild")
    # Vega-Lite takes four functions of vega-util from vega, and with it all that we leave out.
    command = [str(esbuild), "entry.js", "--bundle", "--minify", "--format=iife", "--target=es2020", "--charset=utf8"]
    command += ["--legal-comments=none", "--alias:vega=vega-util", "--outfile=bundle.js", "--metafile=meta.json"]
    subprocess.run([*command, "--log-level=warning"], cwd=folder, check=True)
    packages = sorted(_packages(folder), key=lambda one: (one["name"], one["version"]))
    return _texts(packages) + (folder / "bundle.js").read_text("utf-8"), [_row(one) for one in packages]


def _packages(folder: Path) -> Iterator[dict[str, Any]]:
    """Find the packages whose code is in the bundle, each with the text of its licence."""
    document = json.loads((folder / "meta.json").read_text())
    (output,) = document["outputs"].values()
    used = [folder / name for name, part in output["inputs"].items() if part["bytesInOutput"]]
    homes = {next(up for up in file.parents if (up / "package.json").exists()) for file in used}
    for home in sorted(homes - {folder}):
        facts = json.loads((home / "package.json").read_text("utf-8"))
        # A text is missing from few packages; those of the same project have the same one.
        files = sorted(home.glob("LICENSE*"))
        text = files[0].read_text("utf-8").strip() if files else f"{facts['license']}, as package.json says"
        yield {**facts, "text": text}


def _row(facts: dict[str, Any]) -> dict[str, str]:
    return {name: facts[name] for name in ("name", "version", "license")}


def _texts(packages: list[dict[str, Any]]) -> str:
    """Return a comment with each text once."""
    of_text: dict[str, list[str]] = {}
    for one in packages:
        of_text.setdefault(one["text"].replace("*/", "* /"), []).append(f"{one['name']} {one['version']}")
    return "/*\n" + "\n\n".join(f"{', '.join(names)}:\n\n{text}" for text, names in of_text.items()) + "\n*/\n"


def main() -> None:
    """Write the bundle and its listing."""
    with tempfile.TemporaryDirectory() as folder:
        text, packages = bundle(Path(folder))
    packed = gzip.compress(text.encode(), compresslevel=9, mtime=0)
    if len(packed) * 4 / 3 > BYTES_MAX:
        raise SystemExit(f"error: the bundle has {len(packed) * 4 // 3} bytes in base64; expected up to {BYTES_MAX}")
    BUNDLE.write_bytes(packed)
    listing = {"sha256": hashlib.sha256(packed).hexdigest(), "packages": packages}
    LISTING.write_text(json.dumps(listing, indent=1) + "\n")
    print(f"{BUNDLE.relative_to(ROOT)}: {len(packed)} bytes, {len(text)} unpacked, {len(packages)} packages")


if __name__ == "__main__":
    main()
