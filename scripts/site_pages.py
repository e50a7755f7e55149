"""How the pages of the repository become pages of the site (`make site`), without changes to the pages.

GitHub reads CommonMark; the site's renderer wants blank lines before lists and four blanks per level. Pages outside
`docs/` (README.md and others) move into it, and links follow.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from markdown_it.token import Token

MOVED = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "ARCHITECTURE.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "STYLE.md": "STYLE.md",
    "traces/README.md": "traces.md",
}
"""Pages outside docs/, and where the site has them."""

_MARKER = re.compile(r"(?P<indent>\s*)(?P<marker>[-*+]|\d{1,9}[.)])(?P<space>\s+|$)")
_LINK = re.compile(r"(?P<before>\]\()(?P<target>(?!https?:)[^)#\s]+)(?P<after>[)#])")
_COMMONMARK = MarkdownIt("commonmark").enable("table")


def with_site_links(text: str, source: str) -> str:
    """Rewrites the relative links of a page for its place on the site.

    Args:
        text: Markdown.
        source: the path of the page in the repository, such as `docs/timed.md`.
    """
    folder = posixpath.dirname(place(source))

    def rewritten(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link["target"]))
        return link["before"] + posixpath.relpath(place(target), folder or ".") + link["after"]

    fences = re.split(r"(^ *```.*?^ *```$)", text, flags=re.M | re.S)
    return "".join(part if i % 2 else _LINK.sub(rewritten, part) for i, part in enumerate(fences))


def place(source: str) -> str:
    """Names the page or picture of the site that a file of the repository becomes."""
    return MOVED.get(source, source.removeprefix("docs/"))


def with_plain_lists(text: str) -> str:
    """Puts a blank line before each list, and indents by four blanks per level what belongs to an item."""
    lines = text.split("\n")
    tokens = _COMMONMARK.parse(text)
    depths, starts, firsts = _items(tokens, len(lines))
    widths = [0]
    result: list[str] = []
    for number, line in enumerate(lines):
        depth = depths[number]
        marker = _MARKER.match(line)
        if number in starts and marker:
            widths[depth:] = [marker.end()]
            if number in firsts and result and result[-1].strip():
                result.append("")
            result.append("    " * (depth - 1) + f"{marker['marker']} {line[marker.end() :]}".rstrip())
        elif not line.strip():
            result.append(line)
        else:
            own = min(len(line) - len(line.lstrip()), widths[depth])
            kept = line[own:]
            if depth and _MARKER.match(kept) and not _inside_code(tokens, number):
                kept = re.sub(r"^(\s*\d+)([.)])|^(\s*)([-*+])", r"\1\3\\\2\4", kept)
            result.append("    " * depth + kept)
    return "\n".join(result)


def _items(tokens: list[Token], lines: int) -> tuple[list[int], set[int], set[int]]:
    """Finds the depth of each line in lists, the lines that begin an item, and those that begin a list."""
    depths = [0] * (lines + 1)
    starts: set[int] = set()
    firsts: set[int] = set()
    for token in tokens:
        if token.map is None:
            continue
        if token.type == "list_item_open":
            starts.add(token.map[0])
            for line in range(*token.map):
                depths[line] += 1
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            firsts.add(token.map[0])
    return depths, starts, firsts


def _inside_code(tokens: list[Token], line: int) -> bool:
    return any(
        token.map is not None and token.type in ("fence", "code_block") and token.map[0] <= line < token.map[1]
        for token in tokens
    )


API_HEAD = """\
# Python API
Use floatgate from Python: run an experiment, compare settings, forecast a life, read what was kept.

```python
import floatgate

run = floatgate.run({"drive": {"preset": "mlc-20nm"}, "workload": {"requests": 1_000_000}})
print(run.summary())
```

"""


def api_page(package: Path) -> str:
    """Writes the page of the public names of the package, for mkdocstrings.

    Args:
        package: the folder of the package; `__all__` of its `__init__.py` has the names, functions come first.

    Raises:
        ValueError: it has no `__all__`.
    """
    tree = ast.parse((package / "__init__.py").read_text("utf-8"))
    homes = {
        name.asname or name.name: f"{node.module}.{name.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    for node in tree.body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]:
            names = [name for name in ast.literal_eval(node.value) if not name.startswith("_")]
            names.sort(key=lambda name: (name[0].isupper(), name))
            return API_HEAD + "\n".join(_documented(name, homes.get(name, f"{package.name}.{name}")) for name in names)
    raise ValueError(f"{package / '__init__.py'}: no __all__; expected the list of public names")


def _documented(name: str, home: str) -> str:
    return f"::: {home}\n    options:\n      heading: floatgate.{name}\n      toc_label: {name}\n"


def without_roles(docstring: str) -> str:
    """Replaces Sphinx's roles by code: `:func:` and the like, of which Markdown knows nothing."""
    return re.sub(r":(?:attr|class|data|func|meth|mod):`[~.]?([^`]+)`", r"`\1`", docstring)


def rust_page(crates: Path, built: Path) -> str:
    """Writes the page of the crates, with links to their documentation where cargo built it.

    Args:
        crates: the folder of the crates.
        built: the folder that `cargo doc` writes.
    """
    rows = []
    for manifest in sorted(crates.glob("*/Cargo.toml")):
        name = manifest.parent.name
        library = re.search(r'^\[lib\]\nname = "(\w+)"', manifest.read_text("utf-8"), re.M)
        target = library[1] if library else f"floatgate_{name}"
        title = f"`{name}`"
        if (built / target / "index.html").is_file():
            title = f'<a href="rust/{target}/index.html">{name}</a>'
        rows.append(f"| {title} | {_first_sentence(manifest.parent / 'src')} |\n")
    how = "The names lead to the pages that `cargo doc` wrote." if (built / "floatgate_base").is_dir() else _NO_RUST
    return (
        f"# Rust API\nLook up the types and functions of a crate. {how}\n\n| crate | what it is |\n|---|---|\n"
        + "".join(rows)
    )


_NO_RUST = "This site was built without them: `make site RUST=1` runs `cargo doc`, which takes some minutes."


def _first_sentence(source: Path) -> str:
    """Reads the first sentence of the documentation of a crate."""
    for name in ("lib.rs", "main.rs"):
        if (source / name).is_file():
            text = (source / name).read_text("utf-8")
            head = re.match(r"(?://!.*\n)+", text)
            words = " ".join(line.removeprefix("//!").strip() for line in (head[0] if head else "").splitlines())
            # Links within a crate lead nowhere from here.
            words = re.sub(r"\[(`[^`]+`)\]", r"\1", words)
            return words.split(". ")[0].rstrip(".").replace("|", "\\|")
    return ""


def decisions(folder: Path) -> Mapping[str, str]:
    """Lists the pages of decisions by title, in the order of their numbers."""
    listed = {}
    for page in sorted(folder.glob("*.md")):
        title = re.sub(r"^# (\d+[.:] )?", "", page.read_text("utf-8").split("\n", 1)[0])
        listed[f"{int(page.name[:4])}. {title[:1].upper()}{title[1:]}"] = f"decisions/{page.name}"
    return listed
