"""Usage errors of the argument parser in floatgate's words: option and value, what is wrong, what to write instead."""

from __future__ import annotations

import re
from typing import Any

from floatgate.base.errors import meant, quote

_OTHERS = {"--out": "--report FILE"}
"""What to use in the place of an option that other commands have, where a command has that instead."""


def usage_message(error: Exception, root: Any) -> str | None:
    """Return the message for a usage error of the parser; None for any other error.

    Args:
        error: that the parser raised.
        root: the root command, for errors that know no command.
    """
    describe = getattr(error, "format_message", None)
    if describe is None:
        return None
    context = getattr(error, "ctx", None)
    command = context.command if context is not None else root
    path = context.command_path if context is not None else "floatgate"
    commands = list(getattr(command, "commands", {}))
    kind = type(error).__name__
    listing = f"{path} --help"
    if kind == "NoArgsIsHelpError":
        return f"{path}: no command; {meant('', commands, listing)}"
    if kind == "NoSuchOption":
        name, options = getattr(error, "option_name", ""), _options(command)
        other = _OTHERS.get(name, "")
        if other and other.split()[0] in options:
            return f"unknown option {quote(name)} of {path}; expected {other} (see {listing})"
        return f"unknown option {quote(name)} of {path}; {meant(name, options, listing)}"
    # Overlong words come from the user.
    text = " ".join(word if len(word) <= 200 else f"{word[:60]}..." for word in str(describe()).split())
    if text.startswith("No such command"):
        name = text.removeprefix("No such command").partition(". Did you mean")[0].strip(" '.")
        within = _elsewhere(name, root)
        if within:
            return f"unknown command {quote(name)} of {path}; did you mean {within}?"
        return f"unknown command {quote(name)} of {path}; {meant(name, commands, listing)}"
    if kind == "BadOptionUsage" and text.endswith("requires an argument."):
        name = getattr(error, "option_name", "")
        return f"{name}: the value is missing; expected {name} and its value (see floatgate COMMAND --help)"
    extra = text.removeprefix("Got unexpected extra argument(s) (").removesuffix(")").removesuffix(").")
    if extra != text:
        return f"{path}: unexpected argument {quote(extra.split()[0])}; expected no further argument (see {listing})"
    return _of_a_value(error) or f"{path}: {text[:1].lower()}{text[1:].rstrip('.')}; see {listing}"


def _elsewhere(name: str, root: Any) -> str:
    """Return the commands of that name in groups, such as ``floatgate trace generate``; empty without any."""
    groups = getattr(root, "commands", {})
    named = [group for group, command in groups.items() if name in getattr(command, "commands", {})]
    return " or ".join(quote(f"floatgate {group} {name}") for group in named)


_WANTED = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "finite": "a number that is not infinite",
}


def _of_a_value(error: Exception) -> str | None:
    """Return the message for a value that its option does not take; None for other errors."""
    cause, option = error.__cause__, getattr(error, "param", None)
    details = getattr(cause, "errors", None)
    if details is None or option is None:
        return None
    detail = details()[0]
    names = [name for name in option.opts if name.startswith("--")]
    context = getattr(error, "ctx", None)
    where = names[0] if names else f"{context.command_path if context is not None else 'floatgate'}:"
    where = f"{where} {quote(detail['input'])}"
    limits, code = detail.get("ctx", {}), detail["type"]
    if "ge" in limits or "gt" in limits:
        return f"{where}: too small; expected {_limit(limits, 'ge', 'gt', 'or more', 'more than')}"
    if "le" in limits or "lt" in limits:
        return f"{where}: too large; expected {_limit(limits, 'le', 'lt', 'or less', 'less than')}"
    wanted = next((words for start, words in _WANTED.items() if code.startswith(start)), None)
    if wanted is not None:
        return f"{where}: not {wanted}; expected {wanted}"
    choices = _QUOTED.findall(detail["msg"].partition(" is not one of ")[2])
    return f"{where}: unknown value; {meant(str(detail['input']), choices)}" if choices else None


_QUOTED = re.compile(r"'([^']*)'")


def _limit(limits: dict[str, Any], closed: str, opened: str, after: str, before: str) -> str:
    return f"{limits[closed]:.15g} {after}" if closed in limits else f"{before} {limits[opened]:.15g}"


def _options(command: Any) -> list[str]:
    names = [name for parameter in command.params for name in parameter.opts if name.startswith("-")]
    return list(dict.fromkeys([*names, "--help"]))
