"""Draws pictures in a separate process: one order per line on standard input, one answer per line on standard output.

Started by :mod:`floatgate.pages.drawing` as a script, away from the package: it needs the renderer and nothing else.
The renderer is a browser's engine that ends its process where it gets too little memory.
"""

from __future__ import annotations

import base64
import json
import resource
import signal
import sys
from typing import Any


def answer(order: dict[str, Any]) -> dict[str, str]:
    """Return the picture of an order, or why it failed."""
    try:
        import vl_convert

        if order["kind"] == "svg":
            return {"picture": vl_convert.vegalite_to_svg(order["chart"])}
        if order["kind"] == "pdf":
            drawn: bytes = vl_convert.svg_to_pdf(order["svg"])
        else:
            drawn = vl_convert.svg_to_png(order["svg"], scale=72 / 96, ppi=order["per_inch"])
        return {"picture": base64.b64encode(drawn).decode()}
    except Exception as error:  # noqa: BLE001 - the next picture may be fine
        return {"error": str(error).strip().split("\n", 1)[0] or type(error).__name__}


_DOT = '{"data": {"values": [{"x": 0}]}, "mark": "point", "encoding": {"x": {"field": "x", "type": "quantitative"}}}'


def warm_up() -> None:
    """Draw a dot that is thrown away: the engine takes longer to start than to draw."""
    answer({"kind": "svg", "chart": _DOT})


def main() -> None:
    """Answer orders until standard input ends."""
    # Ctrl-C is for the process that asks; when it goes, the orders end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # An engine that ends for lack of memory needs no crash report.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    warm_up()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
