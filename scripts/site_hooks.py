"""What mkdocs calls while it builds the site (`make site`); `site_pages.py` does the work."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

import site_pages
import words

ROOT = Path(__file__).resolve().parent.parent
CARGO_DOC = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "doc"
OFFLINE_SEARCH = "assets/javascripts/iframe-worker.js"
"""Runs the search from file://, where browsers allow no workers."""


def on_config(config: Any) -> Any:
    """Gives headings the anchors that GitHub gives them, and lists the decisions in the navigation."""
    config.mdx_configs["toc"]["slugify"] = lambda text, _separator: words.anchor(text)
    pages = site_pages.decisions(ROOT / "docs" / "decisions")
    config.nav.append({"Decisions": [{title: page} for title, page in pages.items()]})
    return config


def on_files(files: Files, *, config: Any) -> Files:
    """Adds pages from outside docs/, those of the interfaces, the notebooks, and the script of the offline search."""
    made = {place: (ROOT / source).read_text("utf-8") for source, place in site_pages.MOVED.items()}
    made["python-api.md"] = site_pages.api_page(ROOT / "python" / "floatgate")
    made["rust-api.md"] = site_pages.rust_page(ROOT / "crates", CARGO_DOC)
    made[OFFLINE_SEARCH] = (ROOT / "scripts" / "iframe-worker.js").read_text("utf-8")
    made["assets/stylesheets/site.css"] = (ROOT / "scripts" / "site.css").read_text("utf-8")
    made |= {f"notebooks/{path.name}": path.read_text("utf-8") for path in ROOT.glob("notebooks/*.ipynb")}
    for place, text in made.items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_others: Any) -> str:
    """Fits links and lists of a page to the site."""
    sources = {place: source for source, place in site_pages.MOVED.items()}
    name = page.file.src_uri
    if name == "index.md":
        page.meta["hide"] = ["navigation"]
    return site_pages.with_plain_lists(site_pages.with_site_links(markdown, sources.get(name, f"docs/{name}")))


def on_post_build(*, config: Any) -> None:
    """Copies the pages of the Rust crates, where cargo built them."""
    if (CARGO_DOC / "floatgate_base").is_dir():
        shutil.copytree(CARGO_DOC, Path(config.site_dir) / "rust", dirs_exist_ok=True)
