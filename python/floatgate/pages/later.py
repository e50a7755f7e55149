"""Work in a thread beside: a page goes on while the renderer draws, and waits only where it shows the picture."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")


class Later(Generic[T]):
    """A value that a thread is working out."""

    def __init__(self, work: Callable[[], T]) -> None:
        """Use :func:`later`."""
        self._work = work
        self._ended = threading.Event()
        self._value: T | None = None
        self._error: BaseException | None = None

    def do(self) -> None:
        """Work it out, in the thread."""
        try:
            self._value = self._work()
        except BaseException as error:  # noqa: BLE001 - raised again where the value is needed
            self._error = error
        self._ended.set()

    def value(self) -> T:
        """Return the value, once it is there; raises what the work has raised."""
        self._ended.wait()
        if self._error is not None:
            raise self._error
        return cast("T", self._value)


class _Thread:
    """The thread, started with the first work; it does one piece after the other, in their order."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start another one for the next work: a forked process has none of its parent's."""
        self._lock = threading.Lock()
        self._todo: SimpleQueue[Later[Any]] | None = None

    def put(self, one: Later[Any]) -> None:
        with self._lock:
            if self._todo is None:
                self._todo = SimpleQueue()
                # A command that is interrupted does not wait for pictures that nobody will see.
                threading.Thread(target=_work, args=(self._todo,), daemon=True).start()
            self._todo.put(one)


def _work(todo: SimpleQueue[Later[Any]]) -> None:
    while True:
        todo.get().do()


_thread = _Thread()
os.register_at_fork(after_in_child=_thread.forget)


def later(work: Callable[[], T]) -> Later[T]:
    """Have a thread do ``work``, and return what will hold its outcome.

    Args:
        work: a function without arguments.
    """
    one = Later(work)
    _thread.put(one)
    return one
