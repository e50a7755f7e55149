"""Check that comments, docs, messages and names are in plain words; part of `make lint`.

STYLE.md has the rules, `RULES` below those that a program can see.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = "docs/glossary.md"
RULES = {
    "phrase": "a banned construction in a comment, a page or a message",
    "noun": "a participle as a name or a noun",
    "verb": "the documentation of a public function does not begin with a verb",
    "long": "a sentence of more than 35 words in a page or a doc comment",
    "glossary": "a term twice or out of order, or a link to a term that is missing",
}
SKIPPED = ("scripts/words.py", "tests/python/test_words.py", "tests/golden/", "captures/")
"""Paths that quote the banned words, or are no prose."""
GENERATED = "<!-- Written by scripts/"
"""Begins the second line of a generated page, whose words are checked where they come from."""

PHRASES = {
    r"so that": 'say "to ..." or begin a new sentence',
    r"whoever": "name who: the caller, the user, the policy",
    r"nobody can": "undefined, unknown, impossible",
    r"there (?:is|are|was|were) none": "name what is missing",
    r"ha(?:s|ve|d) (?:a|no) say": "has an effect, has no effect",
    r"hears?|heard": "is notified, receives",
    r"(?:tells?|told|telling) of": "reports, describes",
    r"(?:is|are|was|were|be|been|being) told(?! apart)": "is notified, receives, is known",
    r"pays? for nothing": "pays only for features it uses",
    r"what (?:is|are|was|were|has been|had been) (?:found|given|asked|told|said)": "name the thing",
    r"(?:asks|asked|asking) for": "requests, requires",
    r"(?:cannot|can|could) be had|to be had": "is (not) available",
    r"know(?:s|ing)? nothing (?:of|about)": "does not model, ignores",
    r"stands? (?:more|fewer|so many|as many) (?:cycles|programs|reads|erases|writes)": "endures",
    r"judg(?:es|ed|ing) (?:the |a |each |every )?victims?": "selects or vetoes victims",
    r"and so on": "list the rest or state the rule",
    r"(?:pages|bytes|bits|cycles|us|ms|ns|seconds|drives) an? (?:logical |physical |host |flash )?(?:block|page|unit"
    r"|request|write|die|plane|channel|superblock|stream|context|entry)": 'write "per block", "per page"',
    r"(?:pages|bytes|cycles|erases|reads|writes|programs|requests|drives) an? "
    r"(?:second|minute|hour|day|week|year|epoch|lap|pass)": 'write "per second"',
}
NOUNS = ("found", "given", "asked", "told", "said")
REMEDIES = {
    "noun": "name the thing: interval, settings, required, report",
    "verb": "begin with a verb and its object: Returns the ..., Counts ..., Checks whether ...",
    "long": "split it: one idea per sentence",
}
PARTICIPLE = "|".join(NOUNS)
PARTICIPLE_NAME = re.compile(rf"\b\w*(?:{PARTICIPLE})\w*\b", re.I)
# "the found of", "a told,": a participle that no noun follows. "the given file" is an adjective.
NOUN_IN_PROSE = re.compile(
    rf"\b(?:the|an?|its|each|every|this|that|any) (?:{PARTICIPLE})"
    r"(?=\s*(?:[.,;:)]|$)|\s+(?:of|is|are|was|were|and|or|in|by|for|with|has|to)\b)",
    re.I,
)
PHRASE = re.compile("|".join(rf"(\b(?:{one})\b)" for one in PHRASES).replace(" ", r"\s+"), re.I)
PHRASE_REMEDIES = list(PHRASES.values())
WORDS_MAX = 35

VERBS, NOUNS_TOO, NOUN_GOES_ON = (
    frozenset(re.sub(r"#.*", "", part).split())
    for part in (ROOT / "scripts/words_verbs.txt").read_text("utf-8").split("\n\n")
)

RUST_TOKEN = re.compile(
    r"""(?=[/"'br])(?:
    (?P<comment>//[^\n]*) | (?P<block>/\*.*?\*/)
    | (?P<string>\bb?r(?P<hashes>\#*)".*?"(?P=hashes) | b?"(?:[^"\\]|\\.)*")
    | (?P<char>'(?:\\[^\n']+|\\'|[^\\'\n])')
    )""",
    re.S | re.X,
)
PYTHON_TOKEN = re.compile(
    r"""(?=[\#"'rRbBfFuU])(?:
    (?P<comment>\#[^\n]*)
    | (?P<string>(?:\b[rRbBfFuU]{1,2})?(?:"{3}.*?"{3} | '{3}.*?'{3} | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'))
    )""",
    re.S | re.X,
)
TOML_TOKEN = re.compile(r"""(?P<comment>\#[^\n]*)|(?P<string>"{3}.*?"{3}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')""", re.S)


@dataclass(frozen=True)
class Violation:
    """One violation of a rule."""

    path: str
    line: int
    rule: str
    text: str
    remedy: str

    def __str__(self) -> str:
        """Format it for an editor: file, line, rule, text and remedy."""
        return f"{self.path}:{self.line}: {self.rule}: {self.text}: {self.remedy}"


@dataclass
class Prose:
    """Lines of text that belong together, each with its number in the file."""

    kind: str
    lines: list[tuple[int, str]]

    def joined(self) -> str:
        """Join the lines; code in backticks becomes one word."""
        text = "\n".join(text for _, text in self.lines)
        return re.sub(r"`[^`\n]+`", lambda code: "x" * len(code[0]), text) if "`" in text else text

    def line_at(self, text: str, offset: int) -> int:
        """Return the number in the file of the line at an offset of the joined text."""
        return self.lines[text.count("\n", 0, offset)][0]


# Texts and code of a file


class Lines:
    """Numbers of lines by offset."""

    def __init__(self, text: str) -> None:
        """Find the beginnings of lines."""
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def at(self, offset: int) -> int:
        """Return the number of the line at an offset, from 1."""
        return bisect_right(self.starts, offset)


def take_apart(text: str, token: re.Pattern[str], kind_of: Mapping[str, str]) -> tuple[list[Prose], str]:
    """Return the comments and strings of a file, and its code with blanks in their place."""
    lines = Lines(text)
    prose: list[Prose] = []
    code, done = [], 0
    for match in token.finditer(text):
        start, end = match.span()
        between = text[done:start]
        code.append(between)
        code.append("\n" * match[0].count("\n") or " ")
        number, raw = lines.at(start), match[0]
        done = end
        if match.lastgroup == "char":
            continue
        if match["comment"] is None:
            own_line = not text[lines.starts[number - 1] : start].strip()
            kind = "doc" if own_line and raw.startswith(('"""', 'r"""', "/**")) else "string"
            # Adjacent strings are one, and a backslash at the end of a line joins it with the next.
            piece = [(number + i, line) for i, line in enumerate(unquoted(raw).split("\n"))]
            if prose and prose[-1].kind == kind == "string" and not between.strip():
                prose[-1].lines.extend(piece)
            else:
                prose.append(Prose(kind, piece))
            continue
        marker = next(mark for mark in kind_of if raw.startswith(mark))
        kind, piece = kind_of[marker], [(number, raw[len(marker) :])]
        last = prose[-1] if prose else None
        if last and last.kind == kind and last.lines[-1][0] == number - 1 and not between.strip():
            last.lines.extend(piece)
        else:
            prose.append(Prose(kind, piece))
    code.append(text[done:])
    return prose, "".join(code)


def unquoted(raw: str) -> str:
    """Strip the quotes of a string, and the backslash at the end of its lines."""
    body = raw.lstrip("rRbBfFuU#").rstrip("#").strip("\"'")
    return re.sub(r"\\(?=\n)", "", body).replace("\\n", "  ") if "\\" in body else body


def is_message(prose: Prose) -> bool:
    """Return whether a string is prose: three words, with blanks between them."""
    return len(re.findall(r"[a-z]{2,}[,;:.]? ", " ".join(text for _, text in prose.lines))) >= 2


# Rules on prose


def phrases(path: str, prose: Prose) -> Iterator[Violation]:
    """Yield banned constructions and participles that stand as nouns."""
    text = prose.joined()
    for match in PHRASE.finditer(text):
        remedy = PHRASE_REMEDIES[match.lastindex - 1] if match.lastindex else ""
        yield Violation(path, prose.line_at(text, match.start()), "phrase", " ".join(match[0].split()), remedy)
    for match in NOUN_IN_PROSE.finditer(text):
        words = " ".join(match[0].split())
        yield Violation(path, prose.line_at(text, match.start()), "noun", words, REMEDIES["noun"])


def long_sentences(path: str, prose: Prose) -> Iterator[Violation]:
    """Yield sentences above the limit of words."""
    for paragraph in paragraphs(prose):
        text, shown = paragraph.joined(), "\n".join(line for _, line in paragraph.lines)
        if text.count(" ") + text.count("\n") < WORDS_MAX:
            continue
        start = 0
        for end in [match.end() for match in re.finditer(r"[.!?][\"')*_]*(?=\s|$)", text)] + [len(text)]:
            sentence = text[start:end]
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if len(words) > WORDS_MAX:
                line = paragraph.line_at(text, start + len(sentence) - len(sentence.lstrip()))
                begins = " ".join(shown[start:end].split()[:6])
                yield Violation(path, line, "long", f"{len(words)} words, {begins} ...", REMEDIES["long"])
            start = end


def paragraphs(prose: Prose) -> Iterator[Prose]:
    """Split a text at blank lines, list items, headings, cells of tables and entries of `Args:`; leave code out."""
    current: list[tuple[int, str]] = []
    fenced = False
    for number, raw in prose.lines:
        line = raw.strip()
        if line.startswith("```"):
            fenced = not fenced
            line = ""
        elif fenced:
            continue
        begins = re.match(r"(?:[-*+]|\d+\.) |[#|>]|[\w*]+: ", line)
        if current and (not line or begins):
            yield Prose(prose.kind, current)
            current = []
        if line.startswith("|"):
            yield from (Prose(prose.kind, [(number, cell)]) for cell in line.split("|"))
        elif line.startswith("#") or (line.endswith(":") and " " not in line):
            continue
        elif line:
            current.append((number, line))
    if current:
        yield Prose(prose.kind, current)


# Rules on names and functions


def is_noun(name: str) -> bool:
    """Return whether a name uses a participle as a noun; `not_found` does not, nor do names of tests (sentences)."""
    parts = [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
    before = {"is", "was", "were", "are", "be", "been", "not", "never", "as", "has", "have"}
    return len(parts) < 4 and any(
        part in NOUNS and (i == 0 or parts[i - 1] not in before) for i, part in enumerate(parts)
    )


RUST_BINDS = re.compile(
    r"(?:\b(?:let|mut|ref|fn|struct|enum|type|mod|trait|const|static|for)\s+|\|&?|\b(?:Some|Ok|Err)\()$"
)


def rust_names(path: str, code: str) -> Iterator[Violation]:
    """Yield the names that Rust code binds or declares to a participle."""
    lines = Lines(code)
    for match in PARTICIPLE_NAME.finditer(code):
        start, end = match.span()
        before, after = code[lines.starts[lines.at(start) - 1] : start], code[end : end + 2]
        pattern = before.endswith(("Some(", "Ok(", "Err(")) and after[:1] == ")"
        declared = after[:1] == ":" and after != "::"
        variant = match[0][0].isupper() and not before.strip() and after[:1] in ",({ "
        binds = RUST_BINDS.search(before) is not None and (pattern or not before.endswith("("))
        if (binds or declared or variant) and is_noun(match[0]):
            yield Violation(path, lines.at(start), "noun", match[0], REMEDIES["noun"])


def rust_functions(path: str, text: str) -> Iterator[Violation]:
    """Yield public functions of Rust whose documentation does not begin with a verb."""
    lines = Lines(text)
    function = r"((?:^[ \t]*///[^\n]*\n)+)(?:^[ \t]*#\[[^\n]*\n)*^[ \t]*pub(?:\([^)]*\))? (?:const |unsafe )*fn (\w+)"
    for match in re.finditer(function, text, re.M):
        first = match[1].split("\n", 1)[0].strip().removeprefix("///").strip()
        if not begins_with_verb(first):
            yield Violation(path, lines.at(match.start()), "verb", f"{match[2]}: {first}", REMEDIES["verb"])


def python_names(path: str, text: str) -> Iterator[Violation]:
    """Yield what Python code binds to a participle, and public functions whose documentation begins with no verb."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name, line = node.name, node.lineno
            if not isinstance(node, ast.ClassDef) and not path.startswith("tests/"):
                yield from python_function(path, node)
        elif isinstance(node, ast.arg):
            name, line = node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name, line = node.id, node.lineno
        else:
            continue
        if is_noun(name):
            yield Violation(path, line, "noun", name, REMEDIES["noun"])


def python_function(path: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Violation]:
    """Yield a public function whose documentation does not begin with a verb; properties are things, not actions."""
    decorators = {ast.unparse(one).rpartition(".")[2] for one in node.decorator_list}
    documentation = ast.get_docstring(node, clean=False)
    if node.name.startswith("_") or not documentation or decorators & {"property", "cached_property"}:
        return
    first = documentation.strip().split("\n", 1)[0]
    if not begins_with_verb(first):
        yield Violation(path, node.lineno, "verb", f"{node.name}: {first}", REMEDIES["verb"])


def begins_with_verb(line: str) -> bool:
    """Return whether a line begins with a verb, imperative or third person; a plural before "of" is a noun."""
    match = re.match(r"([A-Za-z]+)([^\w]*)(\w*)", line)
    if not match:
        return False
    word, rest = match[1].lower(), match[3].lower()
    if word in VERBS:
        return match[2].strip() not in (".", ",") or word in ("stop", "end", "go")
    stems = [word.removesuffix("s"), word.removesuffix("es")]
    stems += [word.removesuffix("ies") + "y"] if word.endswith("ies") else []
    if not word.endswith("s") or (not VERBS & {*stems} and word != "has"):
        return False
    return word not in NOUNS_TOO or (rest not in NOUN_GOES_ON and not match[2].startswith((".", ",", ";", ":", " (")))


# The glossary


def glossary(root: Path, pages: Iterable[str]) -> Iterator[Violation]:
    """Yield terms that stand twice or out of order in the glossary, and links to terms that it does not have."""
    path = root / GLOSSARY
    terms: list[tuple[int, str]] = []
    if path.exists():
        lines = enumerate(path.read_text("utf-8").split("\n"), 1)
        terms = [(number, line.removeprefix("## ").strip()) for number, line in lines if line.startswith("## ")]
    anchors: set[str] = set()
    last = ""
    for number, term in terms:
        if anchor(term) in anchors:
            yield Violation(GLOSSARY, number, "glossary", term, "the term stands twice: keep one entry")
        elif term.casefold() < last.casefold():
            yield Violation(GLOSSARY, number, "glossary", term, f"sort the terms: it goes before {last!r}")
        anchors.add(anchor(term))
        last = max(last, term, key=str.casefold)
    for page in pages:
        text = (root / page).read_text("utf-8")
        for match in re.finditer(r"\]\(([^)\s]*glossary\.md)?#([^)\s]+)\)", text):
            if (match[1] or page == GLOSSARY) and match[2] not in anchors:
                line = text.count("\n", 0, match.start()) + 1
                yield Violation(page, line, "glossary", f"#{match[2]}", "no such term: add it to docs/glossary.md")


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


# Files


def of_file(path: str, text: str) -> Iterator[Violation]:
    """Yield everything that the rules object to in one file."""
    suffix = Path(path).suffix
    tests = "tests/" in path
    if suffix == ".md":
        if GENERATED in text[:400]:
            return
        page = Prose("doc", list(enumerate(re.sub(r"\]\([^)\n]*\)", "]", text).split("\n"), 1)))
        yield from long_sentences(path, page)
        for paragraph in paragraphs(page):
            yield from phrases(path, paragraph)
        return
    if suffix == ".rs":
        prose, code = take_apart(text, RUST_TOKEN, {"///": "doc", "//!": "doc", "//": "comment"})
        yield from rust_names(path, code)
        yield from () if tests else rust_functions(path, text)
    elif suffix == ".py":
        prose, _ = take_apart(text, PYTHON_TOKEN, {"#": "comment"})
        if not tests or PARTICIPLE_NAME.search(text):
            yield from python_names(path, text)
    else:
        prose, _ = take_apart(text, TOML_TOKEN, {"#": "comment"})
    for one in prose:
        if one.kind == "string" and (tests or not is_message(one)):
            continue
        yield from phrases(path, one)
        if one.kind == "doc":
            yield from long_sentences(path, one)


def files(root: Path) -> list[str]:
    """List the files that the rules apply to: Rust, Python, pages, and the texts of papers."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.rs", "*.py", "*.md"]
    listed.append("python/floatgate/papers/*.toml")
    names = subprocess.run(listed, cwd=root, check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted({name for name in names if not name.startswith(SKIPPED) and (root / name).exists()})


def violations(root: Path) -> list[Violation]:
    """Collect what the rules object to in the whole tree, by file and line."""
    names = files(root)
    every = [one for name in names for one in of_file(name, (root / name).read_text("utf-8"))]
    every += glossary(root, [name for name in names if name.endswith(".md")])
    return sorted(every, key=lambda one: (one.path, one.line))


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    rules = "; ".join(f"{rule}: {meaning}" for rule, meaning in RULES.items())
    parser = argparse.ArgumentParser(description=__doc__, epilog=f"Rules: {rules}.")
    parser.add_argument("paths", nargs="*", default=[""], help="files or folders to show, all if none is named")
    shown = tuple(parser.parse_args(arguments).paths)
    lines = [str(one) for one in violations(root) if one.path.startswith(shown)]
    print(*lines, sep="\n", end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
