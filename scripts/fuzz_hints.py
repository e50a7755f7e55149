"""Random tables, patterns and paths for the preloaded library (``hints.c``), built with sanitizers.

Its loader is held to the rules of a table, its matcher to ``floatgate.placement.paths``.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from floatgate.placement import paths
from fuzz_surface import Surface

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "python/floatgate/placement/preload/hints.c"
HARNESS = ROOT / "tests/python/preload/table.c"
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover"]
TABLES_PER_ROUND, PAIRS_PER_ROUND = 300, 500
SAMPLE = (
    b"# a table\n\nshort *.log\nmedium pg_wal/*\nextreme /whole/x\nlong db/a[*]b\nnone \xc3\xa9\xe2\x82\xac?\n"
    b"short *.sst\n"
)
WORDS = [b"\n", b"\0", b"\r", b" ", b"#", b"short ", b"none ", b"extreme x", b"[", b"]", b"*", b"\xff", b"\xc3"]
PARTS = [b"a", b"b", b"7", b".", b"/", b"//", b"\n", b"\\", b"-", b"[", b"]", b"*", b"?"]
PARTS += [b"\xc3\xa9", b"\xe2\x82\xac", b"\xf0\x9f\x90\x9e", b"\xc3", b"\xa9", b"\xed\xa0\x80", b"\xff", b"\xf4\x90"]
PATTERNS = [b"*", b"**", b"*", b"?", b"[[]", b"[*]", b"[]]", b"[/]", b"[\xc3\xa9]", b"[", b"[a", b"[ab]", b"[!a]"]


def build(folder: Path) -> Path:
    """Return the loader and the matcher as a program of their own."""
    program = folder / "table"
    command = ["cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", *SANITIZERS]
    subprocess.run([*command, f'-DSOURCE="{SOURCE}"', "-o", program, HARNESS], check=True)
    return program


def joined(parts: list[bytes], rng: random.Random, most: int) -> bytes:
    """Return some of the parts in a row."""
    return b"".join(rng.choices(parts, k=rng.randint(0, most)))


def pair(rng: random.Random) -> tuple[bytes, bytes]:
    """Return a pattern and a path, made from the pattern more often than not."""
    pattern = joined(PARTS[:8] + PARTS[13:] + 2 * PATTERNS, rng, 8) or b"*"
    if rng.random() < 0.2:
        return pattern, joined(PARTS, rng, 10)
    text = paths.expression(os.fsdecode(pattern)).removeprefix("(?:.*/)?")
    # A text that the pattern matches, with a part more now and then.
    path = joined(PARTS, rng, 2) + b"/" if not pattern.startswith(b"/") and rng.random() < 0.7 else b""
    for piece in text.replace("[^/]*", "\0").replace("[^/]", "\1").replace("\\", ""):
        fill = PARTS[:4] + PARTS[6:]
        few = joined(fill, rng, 3) if piece == "\0" else rng.choice(fill)
        path += few if piece in "\0\1" else os.fsencode(piece)
        path += rng.choice(PARTS) if rng.random() < 0.03 else b""
    return pattern, path


def expected_of(content: bytes) -> str:
    """Return how the loader's answer begins: the number of rows, or the line that is damaged."""
    lines = content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    rows = 0
    for number, line in enumerate(lines, 1):
        hint, space, pattern = line.partition(b" ")
        if b"\0" in line or b"\r" in line:
            return f"{number}: "
        if not line or line.startswith(b"#"):
            continue
        if hint not in {b"none", b"short", b"medium", b"long", b"extreme"} or not space or not pattern:
            return f"{number}: "
        rows += 1
    return f"{rows} rows"


def check_tables(program: Path, contents: list[bytes], folder: Path) -> None:
    """Load tables; SystemExit with what differs."""
    names = []
    for number, content in enumerate(contents):
        names.append(folder / f"{number}.table")
        names[-1].write_bytes(content)
    done = subprocess.run([program, "load", *names], capture_output=True, text=True, timeout=120, check=False)
    answers = done.stdout.splitlines()
    if done.returncode != 0 or len(answers) != len(contents):
        raise SystemExit(f"ended with {done.returncode} at table {contents[len(answers)]!r}: {done.stderr}")
    for content, answer in zip(contents, answers, strict=True):
        if not answer.startswith(expected_of(content)):
            raise SystemExit(f"table {content!r}: {answer}; expected {expected_of(content)}")


def check_pairs(program: Path, pairs: list[tuple[bytes, bytes]], folder: Path) -> int:
    """Return how many patterns match; SystemExit where ``paths.Matcher`` differs."""
    file = folder / "pairs"
    file.write_bytes(b"".join(one + b"\0" for pair in pairs for one in pair))
    done = subprocess.run([program, "pairs", file], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0 or len(done.stdout) != len(pairs):
        raise SystemExit(f"ended with {done.returncode}: {done.stderr}")
    matched = 0
    for (pattern, path), answer in zip(pairs, done.stdout, strict=True):
        ours = paths.Matcher([os.fsdecode(pattern)]).first(os.fsdecode(path)) == 0
        if ours != (answer == "1"):
            raise SystemExit(f"pattern {pattern!r}, path {path!r}: matches in {'Python' if ours else 'C'} alone")
        matched += ours
    return matched


def damaged(rng: random.Random) -> bytes:
    """Return the sample with some damage."""
    content = SAMPLE
    for _ in range(rng.randint(0, 3)):
        at = rng.randint(0, len(content))
        to = min(len(content), at + rng.randint(0, 11))
        content = content[:at] + joined(WORDS, rng, 2) + content[to if rng.random() < 0.5 else at :]
    return content


def fuzz_round(program: Path, rng: random.Random, folder: Path) -> int:
    """Return one round of tables and pairs; how many of the pairs match."""
    check_tables(program, [damaged(rng) for _ in range(TABLES_PER_ROUND)], folder)
    return check_pairs(program, [pair(rng) for _ in range(PAIRS_PER_ROUND)], folder)


def surfaces(folder: Path, seed: int) -> Iterator[Surface]:
    """Yield the loader and the matcher; nothing where there is no C compiler."""
    if shutil.which("cc") is None:
        return
    program = build(folder)

    def one_round(number: int) -> None:
        try:
            fuzz_round(program, random.Random(f"{seed} {number}"), folder)
        except SystemExit as error:
            raise SystemExit(f"hints, seed {seed}, round {number}: {error}") from None

    yield Surface("hints", one_round, 10)
