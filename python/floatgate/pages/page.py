"""Pages from templates: one file, nothing fetched; without scripts, charts are pictures.

Each package keeps its own templates: ``report/timeline.html`` is in ``floatgate/report/templates``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from floatgate import _core
from floatgate.pages import drawing, live
from floatgate.pages.causes import PATTERNS, patterned
from floatgate.pages.parts import Part, Text, Title, left_out, to_repeat

if TYPE_CHECKING:
    import jinja2


def page(title: str, parts: Iterable[Part]) -> str:
    """Return the whole page, readable at 360 pixels and in black and white; one note names the missing pictures."""
    body = rendered_parts(parts)
    drawing.tell_missing()
    looks = {"style": _style(), "patterned": patterned(), "patterns": PATTERNS}
    scripts = live.scripts() if live.MARK in body else None
    return rendered("pages/page.html", {"title": title, "body": body, "scripts": scripts, **looks})


def report(
    title: str,
    parts: Iterable[Part],
    *,
    not_modelled: Sequence[str],
    of: str = "",
    kind: str = "floatgate",
    version: str | None = None,
    command: str | None = None,
    ends: Iterable[Part] = (),
) -> str:
    """Return a report as one self-contained HTML page: heading, version of floatgate, parts, how to repeat it.

    Args:
        title: the heading, which names the page too.
        parts: its own parts.
        not_modelled: what the model leaves out; every kind of report has to list it.
        of: the subject of the report, beside the version.
        kind: of the report, in the name of the page.
        version: of the floatgate that made the result; None for this one.
        command: the command line that made it, where there was one.
        ends: parts below that.
    """
    head = Text(f"floatgate {version or _core.__version__}{of and ', '}{of}", soft=True)
    made = [Title(title), head, *parts, *left_out(not_modelled), *to_repeat(command), *ends]
    return page(f"{title}: {kind}", made)


def rendered_parts(parts: Iterable[Part]) -> str:
    """Return only the parts, for a page that is made elsewhere; empty without parts."""
    return rendered("pages/alone.html", {"parts": list(parts)})


def rendered(name: str, context: Mapping[str, Any]) -> str:
    """Return a template with its texts, which are escaped."""
    return _environment().get_template(name).render(context)


_DOT_OF_KEY = re.compile(r"(?<=[a-z_])\.(?=[a-z])")


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_source),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    environment.globals["rendered"] = _inner
    environment.filters["breakable"] = _breakable
    return environment


def _inner(name: str, context: Mapping[str, Any]) -> Any:
    import markupsafe

    return markupsafe.Markup(rendered(name, context))  # noqa: S704 - a template escapes what it is given


def _breakable(text: str) -> Any:
    """Let a text with keys break behind their dots: ``workload.<wbr>requests``."""
    import markupsafe

    return markupsafe.Markup(_DOT_OF_KEY.sub(".<wbr>", str(markupsafe.escape(text))))  # noqa: S704 - it is escaped


def _source(name: str) -> str:
    room, _, file = name.partition("/")
    return resources.files(f"floatgate.{room}").joinpath("templates", file).read_text("utf-8")


@cache
def _style() -> str:
    return resources.files(__package__).joinpath("style.css").read_text("utf-8")
