"""Usage errors of the argument parser in floatgate's words, naming what was expected."""

from __future__ import annotations

from typing import Any

from floatgate.base.errors import quote, quoted


def usage_message(error: Exception, root: Any) -> str | None:
    """Return the message for a usage error of the parser; None where ``error`` is none.

    Args:
        error: what the parser raised.
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
    if kind == "NoArgsIsHelpError":
        return f"{path}: no command; expected one of {quoted(commands)}"
    if kind == "NoSuchOption":
        unknown = quote(getattr(error, "option_name", ""))
        return f"unknown option {unknown} of {path}; expected one of {_options(command)}"
    # Words of inordinate length are what the user gave.
    text = " ".join(word if len(word) <= 200 else f"{word[:60]}..." for word in str(describe()).split())
    if text.startswith("No such command"):
        unknown = text.removeprefix("No such command").strip(" '.")
        return f"unknown command {quote(unknown)} of {path}; expected one of {quoted(commands)}"
    return f"{path}: {text[:1].lower()}{text[1:].rstrip('.')}; see {path} --help"


def _options(command: Any) -> str:
    names = [name for parameter in command.params for name in parameter.opts if name.startswith("-")]
    return ", ".join(dict.fromkeys([*names, "--help"]))
