"""Skeletons of policies, which run as they are: the simplest policy of each slot in each language."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from floatgate import _core
from floatgate.base.errors import input_error, quote
from floatgate.plugins.header import header

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_SUFFIXES = {"python": ".py", "c": ".c", "rust": ".rs"}
_KEYS = {
    "victim": "ftl.collect.policy",
    "separator": "ftl.separate.policy",
    "leveler": "ftl.level.policy",
    "throttle": "lifetime.throttle.policy",
}
_FOLDER = Path(__file__).with_name("skeletons")
HEADER = "floatgate_policy.h"
CONTRACT = "contract.rs"


@dataclass(frozen=True)
class Written:
    """A skeleton: its files, and the commands that try it."""

    files: list[Path]
    commands: list[str]


def write(name: str, slot: str, language: str, out: Path | None, *, force: bool) -> Written:
    """Write a skeleton.

    Args:
        name: of the policy, as an experiment spells it.
        slot: ``victim``, ``separator``, ``leveler`` or ``throttle``.
        language: ``python``, ``c`` or ``rust``.
        out: the file; by default one with the name of the policy.
        force: whether it may overwrite a file.

    Raises:
        InputError: the name is none, or a file is there or cannot be written.
    """
    if not _NAME.fullmatch(name):
        expected = "expected lower-case words joined by hyphens, such as coldest-first"
        raise input_error(f"{quote(name)} is no name of a policy; {expected}")
    module = name.replace("-", "_")
    file = out or Path(f"{module}{_SUFFIXES[language]}")
    text = (_FOLDER / f"{slot}{_SUFFIXES[language]}").read_text("utf-8")
    names = {"NAME": name, "CLASS": "".join(word.capitalize() for word in name.split("-"))}
    text = re.sub("|".join(names), lambda match: names[match[0]], text)
    texts = {file: text}
    if language == "c":
        texts[file.with_name(HEADER)] = header()
    elif language == "rust":
        texts[file.with_name(CONTRACT)] = _core.policy_contract()
    for path, content in texts.items():
        _write(path, content, force=force or path.name in (HEADER, CONTRACT))
    return Written(list(texts), _commands(file, name, slot, language))


def _write(path: Path, text: str, *, force: bool) -> None:
    if path.exists() and not force:
        raise input_error(f"{path}: exists; expected a new name, or --force to overwrite it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise input_error(f"{path}: {reason}; expected a file that can be written") from None


def _commands(file: Path, name: str, slot: str, language: str) -> list[str]:
    """Return the commands that build a policy and run it."""
    library = file.with_suffix(".so")
    at = shlex.quote(os.fspath(file))
    builds = {
        "python": [],
        "c": [f"cc -O2 -shared -fPIC -o {shlex.quote(os.fspath(library))} {at}"],
        "rust": [f"rustc -O --edition 2024 --crate-type cdylib -o {shlex.quote(os.fspath(library))} {at}"],
    }[language]
    loaded = at if language == "python" else shlex.quote(os.fspath(library))
    # A throttle goes by the time at which requests arrive.
    times = "--set workload.rate_per_s=1000 " if slot == "throttle" else ""
    run = f"floatgate run --drive mlc-20nm --capacity 1GiB {times}--policy {loaded} --set {_KEYS[slot]}={name}"
    return [*builds, run]
