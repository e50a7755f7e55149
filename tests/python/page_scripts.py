"""What may run in a page: our own script, the bundle that draws, and the specifications of charts."""

from __future__ import annotations

import json
import re
from typing import Any

from floatgate.pages import live

_SCRIPT = re.compile(r"<script([^>]*)>\n?(.*?)</script>", re.DOTALL)
SPEC = ' type="application/json" class="spec"'
RUNTIME = ' type="text/plain" id="chart-runtime"'


def specifications(page: str) -> list[dict[str, Any]]:
    """Return the charts of a page that a browser draws anew."""
    return [json.loads(text) for kind, text in _SCRIPT.findall(page) if kind == SPEC]


def without_scripts(page: str) -> str:
    """Return a page without its scripts; fail where it has others than ours, or charts that fetch."""
    for kind, text in _SCRIPT.findall(page):
        if kind == SPEC:
            chart = json.loads(text)
            assert set(chart) == {"datasets", "wide", "narrow"}
            assert "http" not in text
            assert '"url"' not in text
        elif kind == RUNTIME:
            assert text == live.scripts()["runtime"]
        else:
            assert kind == ""
            assert text == live.scripts()["live"]
    left = _SCRIPT.sub("", page)
    assert "<script" not in left
    return left
