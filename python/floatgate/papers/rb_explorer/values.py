"""All values that must be computed, by name."""

from __future__ import annotations

from typing import Any

from floatgate.papers.judge import Found
from floatgate.papers.rb_explorer import errors, states, volumes


def values(found: Found) -> dict[str, Any]:
    """Errors (Figure 5), states (Figures 6 to 9) and volumes (Figures 10 to 12)."""
    return errors.values(found) | states.values(found) | volumes.values(found)
