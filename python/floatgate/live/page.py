"""The files of the dashboard, and what its page has to know before the first look."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from floatgate import _core
from floatgate.base.errors import one_line
from floatgate.pages.causes import CAUSES
from floatgate.report.sections import amplification

if TYPE_CHECKING:
    from floatgate.live.drive import LiveDrive

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the page may load: its own files, and nothing else."""

_FILES = {
    "": ("index.html", "text/html; charset=utf-8"),
    "dashboard.js": ("dashboard.js", "text/javascript; charset=utf-8"),
    "charts.js": ("charts.js", "text/javascript; charset=utf-8"),
    "dashboard.css": ("dashboard.css", "text/css; charset=utf-8"),
    "uplot.js": ("uplot.js", "text/javascript; charset=utf-8"),
    "uplot.css": ("uplot.css", "text/css; charset=utf-8"),
}

TRIED = {
    "ftl.separate.policy": ("none", "host-gc", "dac", "multilog", "warcip", "fadac", "midas", "sepbit"),
    "ftl.collect.policy": ("greedy", "cost-benefit", "cost-age-time", "fifo", "windowed-greedy", "d-choices"),
}
"""Settings that may be tried from the page, and their values: those that need nothing but addresses and times."""


@cache
def file(name: str) -> tuple[str, str] | None:
    """Return a file of the page.

    Args:
        name: its path on the server, without a slash.

    Returns:
        Its text and type; None without such a file.
    """
    if name not in _FILES:
        return None
    own, kind = _FILES[name]
    return resources.files("floatgate.live").joinpath("page", own).read_text(encoding="utf-8"), kind


def setup(drive: LiveDrive, token: str | None) -> dict[str, Any]:
    """Return what the page has to know before the first look.

    Args:
        drive: the drive.
        token: with which the page may change something; None if it may not.

    Returns:
        The version, the drive's name and mode, causes with their colours, and what may be tried.
    """
    own = {key: drive.setting(key) for key in TRIED}
    shown, mode = drive.look() or {}, drive.setting("mode") or "functional"
    return {
        "version": _core.__version__,
        "token": token,
        "preset": drive.setting("drive.preset"),
        "mode": mode,
        "socket": one_line(drive.options.socket_path),
        "volatile": drive.options.volatile,
        "delay": drive.options.delay,
        "pins": drive.options.pins and mode == "timed",
        "dies": shown.get("dies", 1),
        "waf_key": amplification.IN_BYTES,
        "causes": [{"name": name, "label": one.label, "color": one.color} for name, one in CAUSES.items()],
        "tried": {
            key: {"own": own[key], "values": [v for v in values if v != own[key]]} for key, values in TRIED.items()
        },
    }
