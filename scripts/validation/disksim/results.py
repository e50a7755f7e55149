"""Reads what DiskSim with the SSD extension writes (``.outv``): the parameters that it echoes, and the figures."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from floatgate.base.errors import input_error

BINS_MS = (5.0, 10.0, 20.0, 40.0, 60.0, 90.0, 120.0, 150.0, 200.0)
"""Upper bounds of the ten bins of response times; the last one has none."""

_BLOCK = re.compile(r"(?:[\w ]+= *)?(\w+)(?: +(\w+))? *\{$")
_FIGURE = re.compile(r"(.*?): *\t? *(-?[\d.]+)(?:\s|$)")
_ELEMENT = re.compile(r"ssd  #0 elem #(\d+)   (.+)")
_PLANE = re.compile(r"(\d+):\((\d+)\)")
_ROW = re.compile(r"([\d.]+)\+?\s+(\d+)\s+[\d.]+\s+([\d.]+)$")
_OPERATIONS = {"all": "Response", "read": "Non-Critical Read Response", "write": "Non-Critical Write Response"}


@dataclass(frozen=True)
class Times:
    """Response times in milliseconds: their distribution as far as DiskSim prints it."""

    count: int
    mean: float
    std: float
    longest: float
    bins: tuple[int, ...]


@dataclass(frozen=True)
class ElementFigures:
    """Totals of one element (package); times in milliseconds."""

    page_requests: int
    busy_ms: float
    cleans: int
    clean_ms: float
    pages_moved: int
    free_blocks: int
    cleans_by_plane: tuple[int, ...]


@dataclass(frozen=True)
class Results:
    """The parameters (block, key -> text) and results of a run."""

    path: str
    parameters: dict[str, dict[str, str]]
    end_ms: float
    """The last arrival, where DiskSim stops: requests in flight are in no figure."""
    requests: int
    times: dict[str, Times]
    """Of ``all``, ``read`` and ``write``."""
    link_wait_ms: float
    """Mean wait of a request in the drive's own queue, for the link."""
    access: tuple[tuple[float, float], ...]
    """Time from fetching a request to its end: upper bounds in milliseconds, share of the requests below."""
    elements: tuple[ElementFigures, ...]


def read_results(path: str | os.PathLike[str]) -> Results:
    """Read an ``.outv`` file, compressed by zstd or not.

    Raises:
        InputError: the file cannot be read, or a figure is missing.
    """
    name = os.fspath(path)
    try:
        text = _text(name)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "no text"
        raise input_error(f"{name}: {reason}; expected results of DiskSim (.outv), plain or zstd") from None
    return parse_results(text, name)


def _text(name: str) -> str:
    import pyarrow as pa

    data = Path(name).read_bytes()
    if data[:4] == b"\x28\xb5\x2f\xfd":
        with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
            data = bytes(stream.read())
    return data.decode("ascii")


def parse_results(text: str, name: str) -> Results:
    """Parse the text of an ``.outv`` file; ``name`` is for messages. Raises as `read_results`."""
    lines = [line.rstrip() for line in text.splitlines()]
    figures = _Figures(lines, name)
    prefix = "Overall I/O System"
    return Results(
        path=name,
        parameters=parse_parameters(text),
        end_ms=figures.get("Total time of run"),
        requests=int(figures.get(f"{prefix} Total Requests handled")),
        times={op: figures.times(f"{prefix} {what}") for op, what in _OPERATIONS.items()},
        link_wait_ms=figures.get("ssd Queue time average"),
        access=figures.rows("ssd Physical access time distribution"),
        elements=figures.elements(),
    )


def parse_parameters(text: str) -> dict[str, dict[str, str]]:
    """Return the keys of each block of a parameter file (``.parv``) or of its echo, by ``type`` and by ``type name``.

    Of several blocks of a type, the first one's keys count under ``type``.
    """
    blocks: dict[str, dict[str, str]] = {}
    inside: list[list[dict[str, str]]] = []
    for line in text.splitlines():
        words = line.split("#", 1)[0].strip()
        if opened := _BLOCK.match(words):
            names = [opened[1]] if opened[2] is None else [opened[1], f"{opened[1]} {opened[2]}"]
            inside.append([blocks.setdefault(name, {}) for name in names])
        elif words.startswith("}"):
            if inside:
                inside.pop()
        elif inside and "=" in words:
            key, value = words.rstrip(",").split("=", 1)
            for block in inside[-1]:
                block.setdefault(key.strip(), value.strip())
    return blocks


class _Figures:
    """Figures by the words before them."""

    def __init__(self, lines: list[str], name: str) -> None:
        """Take the lines; the first figure of a name counts."""
        self.lines = lines
        self.name = name
        self.by_name: dict[str, float] = {}
        for line in lines:
            if match := _FIGURE.match(line):
                self.by_name.setdefault(match[1].strip(), float(match[2]))

    def missing(self, what: str) -> Exception:
        return input_error(f"{self.name}: no '{what}'; expected results of DiskSim with its SSD extension")

    def get(self, what: str) -> float:
        if what not in self.by_name:
            raise self.missing(what)
        return self.by_name[what]

    def after(self, what: str) -> int:
        try:
            return self.lines.index(what) + 1
        except ValueError:
            raise self.missing(what) from None

    def times(self, what: str) -> Times:
        start = self.after(f"{what} time distribution")
        bins = tuple(int(word) for word in self.lines[start + 1].split())
        if len(bins) != len(BINS_MS) + 1:
            raise self.missing(f"{what} time distribution")
        return Times(
            count=sum(bins),
            mean=self.get(f"{what} time average"),
            std=self.get(f"{what} time std.dev."),
            longest=self.get(f"{what} time maximum"),
            bins=bins,
        )

    def rows(self, what: str) -> tuple[tuple[float, float], ...]:
        rows = []
        for line in self.lines[self.after(what) :]:
            row = _ROW.match(line.strip())
            if row is None:
                break
            rows.append((float(row[1]), float(row[3])))
        return tuple(rows)

    def elements(self) -> tuple[ElementFigures, ...]:
        figures: dict[int, dict[str, float]] = {}
        planes: dict[int, tuple[int, ...]] = {}
        for line in self.lines:
            match = _ELEMENT.match(line)
            if match is None:
                continue
            number, rest = int(match[1]), match[2]
            if by_plane := _PLANE.findall(rest):
                planes[number] = tuple(int(cleans) for _, cleans in by_plane)
            elif figure := _FIGURE.match(rest):
                figures.setdefault(number, {}).setdefault(figure[1].strip(), float(figure[2]))
        if not figures:
            raise self.missing("ssd  #0 elem #0")
        return tuple(self._element(number, figures[number], planes) for number in sorted(figures))

    def _element(self, number: int, of: dict[str, float], planes: dict[int, tuple[int, ...]]) -> ElementFigures:
        try:
            return ElementFigures(
                page_requests=int(of["Total reqs issued"]),
                busy_ms=of["Total time taken"],
                cleans=int(of["Number of cleans"]),
                clean_ms=of["Total cleaning time taken"],
                pages_moved=int(of["Pages moved"]),
                free_blocks=int(of["Number of free blocks"]),
                cleans_by_plane=planes[number],
            )
        except KeyError as error:
            what = error.args[0] if isinstance(error.args[0], str) else "Plane Level Statistics"
            raise self.missing(f"ssd  #0 elem #{number}   {what}") from None
