"""Write the skeleton of a policy, its row in the slot's table, and its test.

    python scripts/new_policy.py coldest-first --slot collect

The skeleton compiles, acts as simply as its slot permits, and is known to `floatgate policies` after `make dev`. Every
line marked `Replace` is the author's.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = Path(__file__).resolve().parent / "new_policy"
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Slot:
    """The place of the policies of a slot.

    Attributes:
        folder: with one file per policy.
        module: how the table's file declares a module.
        row: a row of the table.
        table: what opens the table; the new row goes to its end.
        tests: the test that a new policy is added to, if there is one.
    """

    folder: str
    module: str
    row: str
    table: str
    tests: str | None = None


SLOTS = {
    "collect": Slot("crates/ftl/src/collect", "mod {module};", "    {variant}: {module},", "\nvictims! {\n",
                    "crates/experiment/tests/it/reference.rs"),
    "separate": Slot("crates/ftl/src/separate", "mod {module};", "        {variant}: {module},", "\n    chosen {\n"),
    "level": Slot("crates/ftl/src/level", "pub mod {module};", "    {variant}: {module},", "\nlevelers! {\n"),
    "throttle": Slot("crates/lifetime/src/throttle", "mod {module};", "    {variant}: {module},", "\nthrottles! {\n"),
}  # fmt: skip


class RefusedError(Exception):
    """The error of a skeleton that cannot be written; the message says why."""


def write(name: str, slot: Slot, template: str, root: Path = ROOT) -> list[Path]:
    """Write the files of a policy.

    Args:
        name: as an experiment would spell it: `coldest-first`.
        slot: its slot.
        template: the name of the slot's template.
        root: of the checkout.

    Returns:
        The files that were written or changed.
    """
    if NAME.fullmatch(name) is None:
        raise RefusedError(
            f"{name!r} is no name of a policy; expected lower-case words joined by hyphens, such as coldest-first"
        )
    module = name.replace("-", "_")
    variant = "".join(word.capitalize() for word in name.split("-"))
    folder = root / slot.folder
    policy, table = folder / f"{module}.rs", folder / "mod.rs"
    text = table.read_text()
    if policy.exists() or re.search(rf"\bmod {module};", text):
        raise RefusedError(f"{slot.folder}/{module}.rs: exists already; expected a new name")
    names = {"name": name, "module": module, "variant": variant, "title": name.replace("-", " ").capitalize()}
    changed = {policy: filled((TEMPLATES / f"{template}.rs").read_text(), names), table: with_row(text, slot, names)}
    if slot.tests is not None:
        tests = root / slot.tests
        changed[tests] = (
            tests.read_text().rstrip("\n") + "\n\n" + filled((TEMPLATES / "reference.rs").read_text(), names)
        )
    for path, content in changed.items():
        path.write_text(content)
    return list(changed)


def filled(template: str, names: dict[str, str]) -> str:
    """Return a template with its names in place of `@name@`."""
    return re.sub(r"@(\w+)@", lambda match: names[match[1]], template)


def with_row(text: str, slot: Slot, names: dict[str, str]) -> str:
    """Return the table's file with the module declared in its place and a row at the end of the table."""
    line = slot.module.format(**names)
    pattern = re.compile(r"^(?:pub )?mod (\w+);$", re.M)
    declared = [match for match in pattern.finditer(text) if match[0].startswith(slot.module.split("{")[0])]
    after = [match for match in declared if match[1] < names["module"]]
    at = after[-1].end() if after else declared[0].start()
    text = f"{text[:at]}\n{line}{text[at:]}" if after else f"{text[:at]}{line}\n{text[at:]}"
    start = text.index(slot.table) + len(slot.table)
    rows = re.compile(r"^ +\w+: \w+,\n", re.M)
    end = start
    while (match := rows.match(text, end)) is not None:
        end = match.end()
    return f"{text[:end]}{slot.row.format(**names)}\n{text[end:]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="as an experiment would spell it, such as coldest-first")
    parser.add_argument("--slot", required=True, choices=sorted(SLOTS), help="the slot's table")
    arguments = parser.parse_args()
    try:
        files = write(arguments.name, SLOTS[arguments.slot], arguments.slot)
    except RefusedError as why:
        print(f"error: {why}", file=sys.stderr)
        return 2
    subprocess.run(["cargo", "fmt", "--all"], cwd=ROOT, check=True)
    print("\n".join(str(path.relative_to(ROOT)) for path in files))
    print("next: replace what the skeleton marks, then make dev, make check, make docs (CONTRIBUTING.md, Add a policy)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
