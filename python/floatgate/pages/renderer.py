"""Draws pictures in a process of its own: one order a line on standard input, one answer a line on standard output.

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
        drawn: bytes = vl_convert.vegalite_to_png(order["chart"], scale=order["scale"])
        return {"picture": base64.b64encode(drawn).decode()}
    except Exception as error:  # noqa: BLE001 - whatever it is, the next picture may be fine
        return {"error": str(error).strip().split("\n", 1)[0] or type(error).__name__}


_DOT = '{"data": {"values": [{"x": 0}]}, "mark": "point", "encoding": {"x": {"field": "x", "type": "quantitative"}}}'


def warm_up() -> None:
    """Draw a dot for nobody: the engine takes longer to start than to draw."""
    answer({"kind": "svg", "chart": _DOT})


def main() -> None:
    """Answer until nobody asks any more."""
    # Ctrl-C is for the process that asks; when it goes, the orders end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # An engine that ends for lack of memory is no crash that anybody wants to look into.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    warm_up()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
