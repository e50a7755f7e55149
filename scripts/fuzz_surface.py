"""What a fuzzer attacks: one round after the other, each from its own seed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from floatgate.base.errors import InputError, RunError


@dataclass(frozen=True)
class Surface:
    """A reader of others' data.

    Attributes:
        name: for messages.
        one_round: does the round of a number; raises SystemExit if something is wrong.
        rounds: how many where no time is set.
    """

    name: str
    one_round: Callable[[int], None]
    rounds: int = 200


@contextlib.contextmanager
def kept_on_failure(what: str, name: str, content: bytes) -> Iterator[None]:
    """Let errors of ours pass; of any other, leave the input in a file."""
    try:
        yield
    except (InputError, RunError):
        pass
    except BaseException as error:
        kept = Path(f"fuzz-failure.{name}")
        kept.write_bytes(content)
        raise SystemExit(f"{what}: {error!r}; the input is {kept}") from error
