"""All values that must be computed, by name."""

from __future__ import annotations

from typing import Any

from floatgate.papers.judge import Findings
from floatgate.papers.rb_explorer import errors, states, variants, volumes


def values(findings: Findings) -> dict[str, Any]:
    """Return errors (Figure 5), states (Figures 6 to 9) with their variants, and volumes (Figures 10 to 12)."""
    return errors.values(findings) | states.values(findings) | variants.values(findings) | volumes.values(findings)
