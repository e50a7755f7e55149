"""Pictures are drawn in a process of their own, so that a renderer that fails takes nothing with it but its picture.

Where an address space is limited (``ulimit -v``, some batch systems) the engine of the renderer ends its process. A
page then says in the picture's place why it is not there, and one note names all that are missing.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from floatgate.errors import warn

_SCRIPT = Path(__file__).with_name("renderer.py")
_FAILURES_MAX = 2
"""Renderers that may end in a row; more are not tried, since each costs its start."""


class CannotDrawError(Exception):
    """Why there is no picture."""


class _Renderer:
    """The process that draws, started with the first picture."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._failures = 0
        self._reason = ""

    def start(self) -> None:
        """Start the process, if it is not there; what goes wrong is told with the first picture."""
        with self._lock, contextlib.suppress(OSError):
            self._process = self._process or self._started()

    def picture(self, order: dict[str, Any]) -> str:
        """What the process answers to an order.

        Raises:
            CannotDrawError: it has ended, or cannot draw this.
        """
        with self._lock:
            if self._failures >= _FAILURES_MAX:
                raise CannotDrawError(self._reason)
            answer = self._answer(json.dumps(order).encode() + b"\n")
        if "picture" not in answer:
            raise CannotDrawError(f"the renderer says: {answer['error']}")
        return answer["picture"]

    def _answer(self, order: bytes) -> dict[str, str]:
        try:
            process = self._process = self._process or self._started()
            assert process.stdin is not None  # noqa: S101 - for mypy
            assert process.stdout is not None  # noqa: S101
            line = b""
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(order)
                process.stdin.flush()
                line = process.stdout.readline()
        except OSError as error:
            raise self._failed(f"the renderer cannot be started: {error.strerror or error}") from None
        except BaseException:
            # The answer to this order must not pass for that to the next.
            self.close()
            raise
        if not line.endswith(b"\n"):
            raise self._failed(f"the renderer {_end(process.wait())}, as it does where memory is limited (ulimit -v)")
        self._failures = 0
        found: dict[str, str] = json.loads(line)
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        # -P: the folder of the script, which holds modules with names of the standard library's, stays out of its way.
        command = [sys.executable, "-P", str(_SCRIPT)]
        return subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def _failed(self, reason: str) -> CannotDrawError:
        self.close()
        self._failures += 1
        self._reason = reason
        return CannotDrawError(reason)

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()
        process.kill()
        process.wait()


def _end(status: int) -> str:
    """How a process ended, in words."""
    if status >= 0:
        return f"ended with status {status}"
    return f"was ended by {signal.Signals(-status).name}"


_renderer = _Renderer()
atexit.register(_renderer.close)


def start() -> None:
    """Pictures will be asked for: have the renderer start meanwhile."""
    _renderer.start()


def svg(chart: str) -> str:
    """A chart in Vega-Lite's JSON as SVG; raises CannotDrawError."""
    return _renderer.picture({"kind": "svg", "chart": chart})


def png(chart: str, scale: float) -> bytes:
    """The same as PNG, ``scale`` pixels for each of the SVG's; raises CannotDrawError."""
    return base64.b64decode(_renderer.picture({"kind": "png", "chart": chart, "scale": scale}))


class _Missing(threading.local):
    def __init__(self) -> None:
        self.pictures: list[tuple[str, str]] = []


_missing = _Missing()


def missing(title: str, error: BaseException) -> str:
    """Keep in mind that a picture is missing, until :func:`tell_missing`; the reason in words."""
    reason = str(error).strip().split("\n", 1)[0] or type(error).__name__
    _missing.pictures.append((title, reason))
    return reason


def tell_missing() -> None:
    """Name all pictures that are missing, and the reason, in one note; say nothing where none is."""
    pictures, _missing.pictures = _missing.pictures, []
    if not pictures:
        return
    titles = list(dict.fromkeys(title for title, _ in pictures))
    count = "1 picture" if len(titles) == 1 else f"{len(titles)} pictures"
    warn(f"{count} could not be drawn ({', '.join(titles)}): {pictures[0][1]}; the results are complete without")
