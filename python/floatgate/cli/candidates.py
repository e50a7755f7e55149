"""Words that may come next on a command line: commands, options, and names of drives, policies, keys and formats."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from floatgate import _core
from floatgate.cli import json_word, words
from floatgate.run.setting_keys import leaf_schemas

_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")


@dataclass(frozen=True)
class Candidate:
    """A word that may come next.

    Attributes:
        text: the whole word, with what was typed of it.
        about: what it is; may be empty.
    """

    text: str
    about: str = ""


def of_line(line: str) -> list[Candidate]:
    """Return the words that may complete a line; none where a file or a free value belongs.

    Args:
        line: the command line up to the cursor, which begins with the name of the program.
    """
    from floatgate.cli.app import command

    *done, typed = split(line)[1:] or [""]
    node: Any = command(done[0] if done else None)
    path: list[str] = []
    while hasattr(node, "commands") and done:
        word = done.pop(0)
        if word.startswith("-"):
            continue
        if word not in node.commands:
            return []
        node = node.commands[word]
        path.append(word)
    if hasattr(node, "commands"):
        inner = [Candidate(name, one.get_short_help_str(limit=80)) for name, one in node.commands.items()]
        return _starting(typed, [*inner, Candidate("--help", "Show the help page.")])
    return _starting(typed, _of_command(" ".join(path), node, done, typed))


def split(line: str) -> list[str]:
    """Split a line into words as a shell does; the last one is unfinished, and empty behind a blank."""
    for ending in ("", '"', "'"):
        parser = shlex.shlex(line + ending, posix=True, punctuation_chars=False)
        parser.whitespace_split, parser.commenters = True, ""
        try:
            parts = list(parser)
        except ValueError:  # an open quote, or nothing behind a backslash
            continue
        return [*parts, ""] if not ending and line[-1:].isspace() else parts
    return line.split(" ")


def _starting(typed: str, candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the candidates that go on as was typed, each text once."""
    by_text: dict[str, Candidate] = {}
    for one in candidates:
        if one.text.startswith(typed):
            by_text.setdefault(one.text, one)
    return list(by_text.values())


def _of_command(path: str, command: Any, done: list[str], typed: str) -> list[Candidate]:
    """Return candidates for a word of a command.

    Args:
        path: the name of the command, such as ``trace info``.
        command: as the argument parser has it.
        done: the words between the name and the unfinished one.
        typed: the unfinished word.
    """
    named = words.arity(command.params) | {json_word.OPTION: 0}
    line = list(words.split([*done, "--" if typed == "-" else typed or " "], named))
    last = line[-1]
    options = {name: param for param in command.params if param.param_type_name == "option" for name in param.opts}
    if last.is_value:
        return _values(path, last.option, options.get(last.option), typed)
    if not last.is_argument:
        name, equals, value = typed.partition("=")
        if equals and name in options:
            return [Candidate(f"{name}={one.text}", one.about) for one in _values(path, name, options[name], value)]
        used = {word.option for word in line[:-1] if not word.is_value}
        return [
            Candidate(name, param.help or "")
            for param in command.params
            if param.param_type_name == "option" and not param.hidden
            if param.multiple or used.isdisjoint([*param.opts, *param.secondary_opts])
            for name in (*param.opts, *param.secondary_opts)
            if name.startswith("--")
        ] + [Candidate("--help", "Show the help page.")]
    slots = [param for param in command.params if param.param_type_name == "argument"]
    place = sum(word.is_argument for word in line[:-1])
    return _values(path, "", slots[place], typed) if place < len(slots) else []


def _values(path: str, option: str, param: Any, typed: str) -> list[Candidate]:
    """Return candidates for the value of an option, or for an argument where the option is empty."""
    source = _SOURCES.get((path, option)) or _SOURCES.get(("", option))
    if source is not None:
        return source(typed)
    if param is None:
        return []
    choices = param.type_descriptor.choices or ()
    names = [str(getattr(one, "value", one)) for one in choices]
    metavar = param.metavar or ""
    if not names and "|" in metavar:  # stop|skip
        names = list(filter(_NAME.fullmatch, metavar.split("|")))
    return list(map(Candidate, names))


# Names of the catalogues


def _catalogue(section: str) -> Any:
    return json.loads(_core.catalogue((section,)))[section]


def drives(_typed: str = "") -> list[Candidate]:
    """Return the drives of the catalogue."""
    return [Candidate(entry["name"], entry["summary"]) for entry in _catalogue("drives")]


def policies(*slots: str) -> list[Candidate]:
    """Return the policies of some slots, or of all."""
    every = _catalogue("policies")
    chosen = [entry for slot in slots or every for entry in every[slot]]
    return list({entry["name"]: Candidate(entry["name"], entry["summary"]) for entry in chosen}.values())


def policy_sets(typed: str) -> list[Candidate]:
    """Return the sets of policies, behind those that are typed already: ``ids+``."""
    before = typed[: typed.rfind("+") + 1]
    return [Candidate(before + entry["name"], entry["summary"]) for entry in _catalogue("policy_sets")]


def twins(_typed: str = "") -> list[Candidate]:
    """Return the twins of the catalogue."""
    return [Candidate(entry["name"], entry["summary"]) for entry in _catalogue("twins")]


def keys(typed: str) -> list[Candidate]:
    """Return ``KEY=`` for each key of an experiment, and ``KEY=VALUE`` behind a key with names as values."""
    key, equals, value = typed.partition("=")
    leaves = leaf_schemas()
    if not equals:
        return [Candidate(f"{name}=", str(table.get("description", ""))) for name, table in leaves.items()]
    before = f"{key}={value[: value.rfind(',') + 1]}"
    return [Candidate(before + one.text, one.about) for one in values_of(key)]


def workload_keys(typed: str) -> list[Candidate]:
    """Return the keys of [workload] without the name of the table."""
    table = "workload."
    return [Candidate(one.text.removeprefix(table), one.about) for one in keys(table + typed) if one.text[:9] == table]


def values_of(key: str) -> list[Candidate]:
    """Return the values of a key that takes names."""
    if key == "workload.twin":
        return twins()
    table = leaf_schemas().get(key, {})
    slot = key.rpartition(".")[0]
    about = {one.text: one.about for one in policies(slot)} if slot in _catalogue("policies") else {}
    about |= {one.text: one.about for one in drives()} if key == "drive.preset" else {}
    names = ["true", "false"] if table.get("type") == "boolean" else map(str, table.get("enum", ()))
    return [Candidate(name, about.get(name, "")) for name in names]


def _listed(source: Callable[[], list[Candidate]]) -> Callable[[str], list[Candidate]]:
    """Return a source of names separated by commas."""
    return lambda typed: [Candidate(typed[: typed.rfind(",") + 1] + one.text, one.about) for one in source()]


def _names(*names: str) -> Callable[[str], list[Candidate]]:
    return lambda _: list(map(Candidate, names))


def _of_key(key: str) -> Callable[[str], list[Candidate]]:
    return lambda _: values_of(key)


def _papers(_typed: str) -> list[Candidate]:
    from floatgate.papers import names

    return list(map(Candidate, names()))


def _kinds(_typed: str) -> list[Candidate]:
    from floatgate.study.kinds import KINDS

    return list(map(Candidate, KINDS))


def _micros(_typed: str) -> list[Candidate]:
    return [Candidate(entry["name"]) for entry in _catalogue("micro_benchmarks")]


_WRITTEN = _names("parquet", "fio-iolog", "msr", "mqsim", "blkparse")
_SOURCES: dict[tuple[str, str], Callable[[str], list[Candidate]]] = {
    ("", "--drive"): drives,
    ("", "--drives"): _listed(drives),
    ("", "--policies"): policy_sets,
    ("", "--throttle"): lambda _: policies("lifetime.throttle"),
    ("", "--throttles"): _listed(lambda: [Candidate("all"), *policies("lifetime.throttle")]),
    ("", "--reduce"): lambda _: policies("lifetime.reduce"),
    ("", "--reducers"): _listed(lambda: policies("lifetime.reduce")),
    ("", "--set"): keys,
    ("", "--vary"): keys,
    ("", "--baseline"): keys,
    ("trace generate", "--set"): workload_keys,
    ("", "--format"): _of_key("workload.format"),
    ("placement", "--format"): _names("table", "csv", "fio", "fcntl", "rocksdb", "live"),
    ("rb measure", "--format"): _names("vcd", "sigrok", "saleae", "csv", "intervals"),
    ("rb multi-page", "--format"): _names("vcd", "sigrok", "saleae", "csv", "intervals"),
    ("", "--to"): _WRITTEN,
    ("", "--time-unit"): _of_key("workload.time_unit"),
    ("rb measure", "--time-unit"): _names(),
    ("rb multi-page", "--time-unit"): _names(),
    ("", "--lba-unit"): _of_key("workload.lba_unit"),
    ("", "--action"): _of_key("workload.action"),
    ("", "--op"): _listed(lambda: list(map(Candidate, ("read", "write", "trim")))),
    ("", "--twin"): twins,
    ("", "--pattern"): _of_key("workload.pattern"),
    ("", "--micro"): _micros,
    ("", "--kind"): _kinds,
    ("leaderboard", "--slot"): _names("separator", "collector"),
    ("", "--only"): _listed(lambda: policies("ftl.separate", "ftl.collect")),
    ("", "--against"): lambda _: policies("ftl.separate", "ftl.collect"),
    ("live", "--cache"): _names("safe", "volatile"),
    ("placement", "--by"): _names("context", "file", "path-pattern", "process", "thread", "fd"),
    ("placement", "--policy"): _names("pds", "ids", "lifetime"),
    ("placement", "--isolation"): _names("persistent", "persistent-apart", "initial"),
    ("theory wa", "--policy"): _names("greedy", "fifo", "random", "d-choices"),
    ("drives", ""): drives,
    ("policies", ""): lambda _: [*policies(), *policy_sets("")],
    ("reproduce", ""): _papers,
}
"""Values by command and option; of the option in all commands where the command is empty."""
