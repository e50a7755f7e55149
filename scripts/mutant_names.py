"""Names of mutants, their order, what became of them, and arguments for those that no test can see.

The rules of ``scripts/mutants.py`` that need no cargo.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

CAUGHT = ("caught", "caught by experiment", "timeout")
"""Outcomes of mutants that some test sees. An endless loop fails a test, too."""
UNVIABLE = "unviable"
"""The outcome of a mutant that does not compile."""
SURVIVED = "survived"
"""The outcome of a mutant that every stage has passed."""


@dataclass(frozen=True)
class Mutant:
    """One change of the code."""

    crate: str
    name: str
    """As cargo-mutants writes it, with line and column."""
    key: str
    """The same without line and column, as in docs/mutants.md: ``FILE: CHANGE | LINE OF CODE``."""

    @property
    def file(self) -> str:
        """Where the code is."""
        return self.key.split(": ", 1)[0]


def mutants(listed: Iterable[dict], lines_of: dict[str, list[str]]) -> list[Mutant]:
    """Name the mutants of ``cargo mutants --list --json``; `lines_of` holds the code of each file.

    A change of an operator is named by its line of code, because a function has several of the same kind; equal ones
    are numbered. Edits elsewhere in the file keep the name.
    """
    made: list[Mutant] = []
    seen: Counter[str] = Counter()
    for one in listed:
        match = re.match(r"(?P<file>.+?):\d+:\d+: (?P<change>.*)", one["name"])
        if match is None:
            msg = f"unexpected name of a mutant: {one['name']!r}; expected FILE:LINE:COLUMN: CHANGE"
            raise ValueError(msg)
        key = f"{match['file']}: {match['change']}"
        if one["genre"] != "FnValue":
            key += f" | {lines_of[one['file']][one['span']['start']['line'] - 1].strip()}"
        seen[key] += 1
        crate = one["package"].removeprefix("floatgate-")
        made.append(Mutant(crate, one["name"], key if seen[key] == 1 else f"{key} | {seen[key]}"))
    return made


def in_order(all_mutants: Iterable[Mutant], seed: int) -> list[Mutant]:
    """Sort mutants in the random order of a seed.

    Each is placed by a hash of its own name: a new test or function leaves the order of the others unchanged.
    """
    return sorted(all_mutants, key=lambda mutant: (hash_of(f"{seed} {mutant.key}"), mutant.key))


def hash_of(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def diff_of_lines(chosen: Iterable[Mutant], lines_of: dict[str, list[str]]) -> str:
    """Return a diff that adds the lines on which mutants begin."""
    starts = sorted({(mutant.file, int(mutant.name.split(":")[1])) for mutant in chosen})
    pieces: list[str] = []
    for file, group in groupby(starts, key=lambda start: start[0]):
        pieces.append(f"--- a/{file}\n+++ b/{file}\n")
        pieces += [
            f"@@ -{line - added},0 +{line},1 @@\n+{lines_of[file][line - 1]}\n"
            for added, (_, line) in enumerate(group, 1)
        ]
    return "".join(pieces)


def shard(all_mutants: Iterable[Mutant], part: str) -> list[Mutant]:
    """Return the mutants of one shard, ``1/4`` to ``4/4``, by a hash of their names."""
    match = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", part)
    if match is None or int(match[1]) > int(match[2]):
        msg = f"SHARD={part} is no shard; expected k/n with k from 1 to n, such as 1/4"
        raise ValueError(msg)
    return [mutant for mutant in all_mutants if hash_of(mutant.key) % int(match[2]) == int(match[1]) - 1]


def drawn(ordered: Iterable[Mutant], number: int, outcomes: dict[str, str]) -> list[Mutant]:
    """Return the first `number` mutants of an order that may compile; what does not compile is passed over."""
    viable = [mutant for mutant in ordered if outcomes.get(mutant.name) != UNVIABLE]
    return viable[:number]


# Outcomes


@dataclass
class Outcomes:
    """The outcomes of the mutants of a crate: a file with a line per stage that a mutant has finished.

    A line holds outcome, state of the code, and name. A caught mutant stays caught while its file is unchanged. A
    survivor runs again after any change of the crates, for a new test may be anywhere.
    """

    path: Path
    state: str
    """Of all crates."""
    file_states: dict[str, str]
    by_name: dict[str, str] = field(default_factory=dict)

    def read(self) -> None:
        """Take what still holds; remove a last line that a kill has cut short."""
        self.by_name.clear()
        if not self.path.exists():
            return
        text = self.path.read_text("utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.path.write_text(whole, "utf-8")
        for line in whole.splitlines():
            outcome, state, name = line.split("\t", 2)
            if state == self.state_for(outcome, name):
                self.by_name[name] = outcome
            else:
                self.by_name.pop(name, None)

    def state_for(self, outcome: str, name: str) -> str:
        """Return the state of the code that an outcome holds for."""
        settled = outcome in CAUGHT or outcome == UNVIABLE
        return self.file_states.get(name.split(":", 1)[0], "") if settled else self.state

    def add(self, name: str, outcome: str) -> None:
        """Keep an outcome."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{outcome}\t{self.state_for(outcome, name)}\t{name}\n")
        self.by_name[name] = outcome


def passed(stage: str) -> str:
    """Return the outcome of a mutant that a stage has not caught, while others are to come."""
    return f"passed {stage}"


def left(chosen: Iterable[Mutant], outcomes: dict[str, str], stages: list[str]) -> Iterator[tuple[str, Mutant]]:
    """Yield each unfinished mutant with the stage that it runs next."""
    for mutant in chosen:
        outcome = outcomes.get(mutant.name)
        if outcome is None:
            yield stages[0], mutant
        elif outcome in map(passed, stages[:-1]):
            yield stages[stages.index(outcome.removeprefix("passed ")) + 1], mutant


# Arguments


def arguments(page: str) -> dict[str, str]:
    """Return keys of mutants with the reason why no test can see them, from docs/mutants.md.

    A heading names the file; items are ``- `CHANGE | LINE OF CODE`: reason``, and go on in indented lines.
    """
    reasons: dict[str, str] = {}
    file = key = ""
    for number, line in enumerate(page.splitlines(), 1):
        if heading := re.match(r"#+ (.*)", line):
            file, key = heading[1].strip("` "), ""
        elif item := re.match(r"- `(.+?)`(?:: (.*))?$", line):
            key = f"{file}: {item[1]}"
            if not item[2]:
                msg = f"docs/mutants.md:{number}: no reason; expected - `MUTANT`: why no test can see it"
                raise ValueError(msg)
            if key in reasons:
                msg = f"docs/mutants.md:{number}: {item[1]!r} is argued twice; expected one argument per mutant"
                raise ValueError(msg)
            reasons[key] = item[2]
        elif key and line.startswith("  "):
            reasons[key] += " " + line.strip()
        elif line.strip():
            key = ""
    return reasons


def stale(argued: dict[str, str], lines_of: dict[str, list[str]]) -> list[str]:
    """Find argued mutants whose file or line of code is gone."""
    gone = []
    for key in argued:
        file, change = key.split(": ", 1)
        code = [line.strip() for line in lines_of.get(file, [])]
        text = change.split(" | ")[1] if " | " in change else ""
        if not code or (text and text not in code):
            gone.append(key)
    return gone


@dataclass(frozen=True)
class Verdict:
    """The report of a run at its end."""

    lines: list[str]
    open_survivors: list[Mutant]


def verdict(chosen: list[Mutant], outcomes: dict[str, str], argued: dict[str, str]) -> Verdict:
    counts = Counter(outcomes.get(mutant.name, "") for mutant in chosen)
    viable = len(chosen) - counts[UNVIABLE]
    caught = sum(counts[outcome] for outcome in CAUGHT)
    survivors = [mutant for mutant in chosen if outcomes.get(mutant.name) == SURVIVED]
    unfinished = viable - caught - len(survivors)
    still_open = [mutant for mutant in survivors if mutant.key not in argued]
    ways = (
        f"{counts['caught']} by tests of their own crates",
        f"{counts['caught by experiment']} by tests of experiment",
        f"{counts['timeout']} by the limit of time",
    )
    lines = [f"caught {caught} of {viable - unfinished}: {', '.join(ways)}"]
    if counts[UNVIABLE]:
        lines.append(f"{counts[UNVIABLE]} do not compile")
    if unfinished:
        lines.append(f"{unfinished} not finished; the same command goes on with them")
    lines += [f"argued: {mutant.name}: {argued[mutant.key]}" for mutant in survivors if mutant.key in argued]
    lines += [f"open:   {mutant.name}\n        {mutant.key}" for mutant in still_open]
    if still_open:
        lines.append("open survivors want a test that fails with them, or an argument in docs/mutants.md")
    return Verdict(lines, still_open)
