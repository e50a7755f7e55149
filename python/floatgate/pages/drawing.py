"""Draws pictures in a separate process: a renderer that fails loses its picture, nothing else.

Where an address space is limited (``ulimit -v``, some batch systems) the engine of the renderer ends its process. A
page then says in the picture's place why it is not there, and one note names all that are missing.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from floatgate.base.errors import warn

_SCRIPT = Path(__file__).with_name("renderer.py")
_OWN_FONTS = Path(__file__).with_name("own_fonts.conf")
_FAILURES_MAX = 2
"""Renderers that may end in a row; more are not tried, since each costs its start."""


class CannotDrawError(Exception):
    """The reason for a missing picture."""


class _Renderer:
    """The process that draws, started with the first picture.

    Args:
        own_fonts: measure texts by the fonts that the renderer brings along (Liberation Sans) rather than those of the
            system, whose files it opens anew for every letter that it measures: half of its time.
    """

    def __init__(self, *, own_fonts: bool = False) -> None:
        self._own_fonts = own_fonts
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._failures = 0
        self._reason = ""

    def start(self) -> None:
        """Start the process, if it is not there; what goes wrong is reported with the first picture."""
        with self._lock, contextlib.suppress(OSError):
            self._process = self._process or self._started()

    def picture(self, order: dict[str, Any]) -> str:
        """Return the answer of the process to an order.

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
        reply: dict[str, str] = json.loads(line)
        return reply

    def _started(self) -> subprocess.Popen[bytes]:
        # -P: the folder of the script, which holds modules with names of the standard library's, stays out of its way.
        command = [sys.executable, "-P", str(_SCRIPT)]
        fonts = {"FONTCONFIG_FILE": str(_OWN_FONTS)} if self._own_fonts else {}
        return subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | fonts,
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
    """Describe how a process ended."""
    if status >= 0:
        return f"ended with status {status}"
    return f"was ended by {signal.Signals(-status).name}"


_renderer = _Renderer(own_fonts=True)
_with_system_fonts = _Renderer()
for _process in (_renderer, _with_system_fonts):
    atexit.register(_process.close)

PAGE_FONT = "Arial, Liberation Sans, Helvetica, sans-serif"
"""The font of charts on pages: what readers have of the widths of :data:`OWN_FONT`, by which places are measured."""
OWN_FONT = "Liberation Sans, Arial, sans-serif"
"""The font that the renderer brings along; others of the same widths where a reader lacks it."""
_RESOURCES = re.compile(rb"(?m)(?:^ +/[A-Za-z]+\d+ \d+ 0 R\n){2,}")
"""Names of resources in a dictionary of a PDF, a line each."""
_LETTERS = re.compile(r"[\0-\u052f\u2010-\u203a]*")
"""Characters of Liberation Sans: Latin, Greek, Cyrillic, punctuation."""


def start() -> None:
    """Start the renderer ahead of the first picture."""
    _renderer.start()


def svg(chart: dict[str, Any]) -> str:
    """Return a chart, as Vega-Lite specifies it, as SVG; raises CannotDrawError.

    Where its texts have letters that the renderer's own font lacks, or another font, fonts of the system measure them.
    """
    text = _text(chart)
    return _of(text, chart.get("config", {}).get("font")).picture({"kind": "svg", "chart": text})


def png(svg: str, per_inch: float, font: str | None = None) -> bytes:
    """Convert a picture to PNG; raises CannotDrawError.

    Args:
        svg: the picture, whose pixels are 1/96 inch.
        per_inch: pixels of the PNG per inch.
        font: that its texts have; None for the renderer's own.
    """
    return base64.b64decode(_of(svg, font).picture({"kind": "png", "svg": svg, "per_inch": per_inch}))


def pdf(svg: str, font: str | None = None) -> bytes:
    """Convert a picture to PDF, with a point (1/72 inch) for each of its pixels; raises CannotDrawError.

    The renderer lists resources in the order of a hash table; they are sorted: the same picture has the same bytes.
    """
    written = base64.b64decode(_of(svg, font).picture({"kind": "pdf", "svg": svg}))
    return _RESOURCES.sub(lambda lines: b"".join(sorted(lines[0].splitlines(keepends=True))), written)


def has_font(name: str) -> bool:
    """Return whether the system has a font: texts in a font that it lacks leave no mark; raises CannotDrawError."""
    text = '<text x="2" y="16" font-size="16">Hamburg 0123</text>'
    drawn = f'<svg xmlns="http://www.w3.org/2000/svg" width="120" height="20" font-family="{name}">{text}</svg>'
    return png(drawn, 96, name) != png(drawn.replace(text, ""), 96, name)


def _of(text: str, font: str | None) -> _Renderer:
    return _renderer if _LETTERS.fullmatch(text) and font in (None, PAGE_FONT, OWN_FONT) else _with_system_fonts


def _text(chart: dict[str, Any]) -> str:
    return json.dumps(chart, sort_keys=True, ensure_ascii=False)


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
