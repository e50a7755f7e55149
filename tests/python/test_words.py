"""The violations that scripts/words.py reports, and texts that pass."""

import re
import subprocess
from pathlib import Path

import pytest

from scripts_as_modules import loaded

words = loaded("words")
LONG = " ".join(["word"] * 36)


def objections(path: str, text: str) -> list[tuple[str, str]]:
    """List the rules and texts of the violations of a file."""
    return [(one.rule, one.text) for one in words.of_file(path, text)]


@pytest.mark.parametrize(
    ("bad", "good"),
    [
        ("// It waits so that all are done.", "// It waits to have all done."),
        ("//! Whoever reads this is told.", "//! The caller is notified."),
        ("// The policy hears of closed units.", "// The policy is notified of closed units."),
        ("// Two pages a block.", "// Two pages per block, and a block more."),
        ("// Two programs a second.", "// It programs a block, two per second."),
        ("// A key that\n// asks for\n// more.", "// A key that\n// requires\n// more."),
        ('let a = fault("no trace is here, and nobody can say why");', 'let a = fault("the trace is missing");'),
        ('let a = "one, two, \\\n    and so on and on";', 'let a = "one, two, \\\n    and three of them";'),
        ("/// The found of all.\nstruct A;", "/// The found pages.\nstruct A;"),
        ("let found = 1;", "let pages = found;"),
        ("struct Found;\n", "struct Interval;\n"),
        ("struct A {\n    told: u64,\n}", "struct A {\n    is_told: u64,\n}"),
        ("if let Some(given) = a {}", "if let Some(value) = given {}"),
        ("let f = |asked| 1;", "let f = |required| asked(1);"),
        ("enum A {\n    Given,\n}", "enum A {\n    NotFound,\n    AsGiven,\n}"),
        ("/// Size of it.\npub fn size() {}", "/// Returns the size.\npub fn size() {}"),
        ("/// Reads of all.\n#[must_use]\npub fn reads() {}", "/// Reads all.\npub fn reads() {}"),
        ("/// Writes.\npub(crate) fn writes() {}", "/// Writes.\nfn writes() {}"),
        (f"/// {LONG}.\nstruct A;", "/// " + LONG.replace("word word", "word. Word", 1) + ".\nstruct A;"),
        (f"//! {LONG[:50]}\n//! {LONG[50:]}", f"//! {LONG[:50]}\n//!\n//! {LONG[50:]}"),
        (f"//! {LONG[:50]}\n//! {LONG[50:]}", f"// {LONG}"),
    ],
)
def test_rust(bad: str, good: str) -> None:
    assert objections("crates/a/src/a.rs", bad)
    assert objections("crates/a/src/a.rs", good) == []


@pytest.mark.parametrize(
    ("bad", "good"),
    [
        ("# It waits so that all are done.", "# It waits to have all done."),
        ('"""Whoever comes first."""', '"""The first caller."""'),
        ('X = 1\n"""It is told."""', 'X = 1\n"""It is known."""'),
        ('error(f"{a} has no say in this")', 'error(f"{a} has no effect")'),
        ('error("this policy has "\n      "no say in that")', 'error("no", "say")'),
        ('error("the policy hears more")', 'KEYS = ("hears",)'),
        ("found = 1", "interval = found"),
        ("for told in a: pass", "for each in told: pass"),
        ("def f(given): pass", "def f(a): g(given=a)"),
        ("def said(): pass", "def not_found(): pass"),
        ("class Asked: pass", "def test_what_is_asked_is_there(): pass"),
        ('def f():\n    """The size."""', 'def f():\n    """Return the size."""'),
        ('def f():\n    """Counts of all."""', 'def f():\n    """Count all."""'),
        ('def f():\n    """Size."""', 'def _f():\n    """Size."""'),
        (
            'class A:\n    def f(self):\n        """Size."""',
            'class A:\n    @property\n    def f(self):\n        """Size."""',
        ),
        (f'"""{LONG}."""', f'"""{LONG[:50]}.\n\n{LONG[50:]}."""'),
    ],
)
def test_python(bad: str, good: str) -> None:
    assert objections("python/floatgate/a.py", bad)
    assert objections("python/floatgate/a.py", good) == []


@pytest.mark.parametrize(
    ("bad", "good"),
    [
        ("So that\nit runs.", "It runs."),
        ("12 pages a block.", "12 pages per block. `pages a block`"),
        ("What was found, and the told.", "```\nwhat was found\n```"),
        (f"{LONG}.", f"- {LONG[:70]}\n- {LONG[70:]}"),
        (f"| {LONG} |", f"| {LONG[:70]} | {LONG[70:]} |"),
        (f"{LONG}.", f"# A page\n{words.GENERATED}docs.py (make docs); do not edit. -->\n\n{LONG}."),
    ],
)
def test_pages(bad: str, good: str) -> None:
    assert objections("docs/a.md", bad)
    assert objections("docs/a.md", good) == []


def test_texts_of_papers_are_messages() -> None:
    assert objections("a/paper.toml", 'about = "Runs go on so that all are done"') == [("phrase", "so that")]
    assert objections("a/paper.toml", 'about = "so"') == []


def test_a_violation_says_where_and_what_to_write() -> None:
    (one,) = words.of_file("docs/a.md", "# A\n\nOne.\n\nIt waits and\nhears all.")
    assert str(one) == "docs/a.md:6: phrase: hears: is notified, receives"


def test_tests_may_quote_messages() -> None:
    assert objections("tests/python/test_a.py", 'assert "so that all are done" in text') == []
    assert objections("tests/python/test_a.py", "# so that all are done") == [("phrase", "so that")]


GLOSSARY = (
    "# Glossary\n\n## die\nA chip.\n\n## Erase unit\nA block. See [die](#die).\n\n"
    "## write amplification (WAF)\nA ratio.\n"
)


@pytest.mark.parametrize(
    ("glossary", "page", "line"),
    [
        (GLOSSARY, "[die](glossary.md#die), [WAF](docs/glossary.md#write-amplification-waf), [other](a.md#gone)", None),
        (
            GLOSSARY + "\n## die\nA chip.\n",
            "",
            "docs/glossary.md:12: glossary: die: the term stands twice: keep one entry",
        ),
        (GLOSSARY + "\n## block\n", "", "docs/glossary.md:12: glossary: block: sort the terms"),
        (GLOSSARY.replace("(#die)", "(#dye)"), "", "docs/glossary.md:7: glossary: #dye: no such term"),
        (GLOSSARY, "\n[lap](glossary.md#lap)", "docs/a.md:2: glossary: #lap: no such term"),
    ],
)
def test_glossary(tmp_path: Path, glossary: str, page: str, line: str | None) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/glossary.md").write_text(glossary)
    (tmp_path / "docs/a.md").write_text(page)
    lines = [str(one) for one in words.glossary(tmp_path, ["docs/a.md", "docs/glossary.md"])]
    assert len(lines) == (line is not None)
    assert line is None or lines[0].startswith(line)


def test_all_violations_of_a_tree_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "docs").mkdir()

    def check(*paths: str) -> tuple[int, list[str]]:
        status = words.main([*paths], tmp_path)
        return status, [": ".join(line.split(": ")[:3]) for line in capsys.readouterr().out.splitlines()]

    (tmp_path / "a.md").write_text("Plain words.")
    assert check() == (0, [])
    (tmp_path / "a.md").write_text("So that. Whoever.")
    (tmp_path / "docs/b.md").write_text("Plain words.\n\nHe hears.")
    first = ["a.md:1: phrase: So that", "a.md:1: phrase: Whoever"]
    assert check() == (1, [*first, "docs/b.md:3: phrase: hears"])
    assert check("a.md") == (1, first)
    assert check("docs") == (1, ["docs/b.md:3: phrase: hears"])
    assert check("scripts") == (0, [])


def test_verbs_are_words_once() -> None:
    text = (words.ROOT / "scripts/words_verbs.txt").read_text("utf-8")
    listed = re.sub(r"#.*", "", text.split("\n\n")[0]).split()
    assert sorted(set(listed)) == listed
