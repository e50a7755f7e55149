"""One renderer for all commands of a test process: each would start a browser's engine of its own, for half a second.

Pictures are drawn as usual, by the process that floatgate starts; a repeated request gets the first drawing.
A test whose subject is the renderer runs ``python -m floatgate``.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from typing import Any

from floatgate.pages import drawing
from floatgate.pages.drawing import CannotDrawError

_FONTS = {"own": {"own_fonts": True}, "system": {}}


def install() -> None:
    """Start what draws, and have this process and those that it forks ask there."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # In the abstract namespace: no file is left behind.
    listening.bind(f"\0floatgate-pictures-{os.getpid()}")
    listening.listen()
    ends, alive = os.pipe()
    if os.fork() == 0:
        os.close(alive)
        threading.Thread(target=_end_with, args=(ends,), daemon=True).start()
        _serve(listening)
    os.close(ends)
    name = listening.getsockname()
    listening.close()
    drawing._renderer = _Asking(name, "own")  # type: ignore[assignment]
    drawing._with_system_fonts = _Asking(name, "system")  # type: ignore[assignment]


class _Asking:
    """A stand-in for the renderer of a command."""

    def __init__(self, name: bytes, fonts: str) -> None:
        self._name = name
        self._fonts = fonts

    def start(self) -> None:
        """Nothing to start."""

    def close(self) -> None:
        """Nothing to close."""

    def picture(self, order: dict[str, Any]) -> str:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
            asking.connect(self._name)
            asking.sendall(json.dumps([self._fonts, order]).encode() + b"\n")
            with asking.makefile("rb") as answers:
                answer: dict[str, str] = json.loads(answers.readline())
        if "picture" not in answer:
            raise CannotDrawError(answer["error"])
        return answer["picture"]


def _end_with(pipe: int) -> None:
    """End this process with the one that started it."""
    os.read(pipe, 1)
    for renderer in _RENDERERS.values():
        renderer.close()
    os._exit(0)


_RENDERERS = {name: drawing._Renderer(**settings) for name, settings in _FONTS.items()}
_DRAWN: dict[bytes, dict[str, str]] = {}


def _serve(listening: socket.socket) -> None:
    while True:
        asking, _ = listening.accept()
        threading.Thread(target=_answer, args=(asking,), daemon=True).start()


def _answer(asking: socket.socket) -> None:
    with asking, asking.makefile("rb") as orders:
        line = orders.readline()
        if not line:
            return
        answer = _DRAWN.get(line)
        if answer is None:
            fonts, order = json.loads(line)
            try:
                answer = _DRAWN[line] = {"picture": _RENDERERS[fonts].picture(order)}
            except CannotDrawError as error:
                answer = {"error": str(error)}
        asking.sendall(json.dumps(answer).encode() + b"\n")
