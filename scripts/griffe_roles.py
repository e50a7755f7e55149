"""Shows references such as :func:`floatgate.run` in docstrings as code on the site's page of Python."""

from __future__ import annotations

from typing import Any

import griffe

import site_pages


class Roles(griffe.Extension):  # type: ignore[misc]
    """Replaces Sphinx's roles in docstrings, which Markdown does not know."""

    def on_object(self, *, obj: Any, **_others: Any) -> None:
        """Rewrites the docstring of an object once it is read."""
        if obj.docstring is not None:
            obj.docstring.value = site_pages.without_roles(obj.docstring.value)
