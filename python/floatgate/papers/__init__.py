"""Papers reproduced: a paper is a folder here with its claims and its experiments; see ``docs/papers.md``.

- :mod:`.paper` reads the folder, :mod:`.groups` its groups of names.
- :mod:`.jobs` lists the runs, :mod:`.runner` carries them out, :mod:`.outcomes` keeps their results.
- :mod:`.captures` measures the pins of timed runs.
- :mod:`.judge` holds the rules of verdicts, :mod:`.page` writes the page.

Code that only one paper needs stays in its folder.

>>> from floatgate import papers
>>> done = papers.reproduce(papers.load("ready"), papers.Settings(quick=True))
>>> print(done.text())
"""

from __future__ import annotations

from floatgate.papers.jobs import Settings
from floatgate.papers.judge import Claim, Findings, Verdict, judge
from floatgate.papers.paper import Figure, Paper, load, names
from floatgate.papers.reproduction import Reproduction, reproduce

__all__ = [
    "Claim",
    "Figure",
    "Findings",
    "Paper",
    "Reproduction",
    "Settings",
    "Verdict",
    "judge",
    "load",
    "names",
    "reproduce",
]
