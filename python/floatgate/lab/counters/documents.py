"""Files of readings cut into documents: one JSON or many, blocks of text, and the date lines between them."""

from __future__ import annotations

import itertools
import os
import re
import stat
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from floatgate.base.errors import InputError, input_error
from floatgate.base.json_in import Node, load, parse
from floatgate.lab.counters import times
from floatgate.lab.counters.packed import unpacked
from floatgate.lab.counters.reading import SOURCE, Document

BYTES_MAX = 64 << 20
FILES_MAX = 100_000
_HEADERS = re.compile(
    r"smartctl (?:\d+\.\d|pre-)|smart log for nvme device|additional smart log for |smart cloud attributes|"
    r"host bytes with metadata written|ocp smart|nand statistics|[a-z0-9]+ log page performance statistics",
    re.IGNORECASE,
)
"""Lines that begin what another command printed."""
_SKIPPED = (".html", ".png", ".svg", ".csv", ".parquet", ".md", ".toml", ".py", ".sh")
"""Ends of names that no reading in a folder has."""
_JSON_MARK = re.compile(r'\\.|["\[\]{}]', re.DOTALL)


@dataclass
class _Part:
    """A part of a file: its first line from 1, its text, and its time."""

    line: int
    text: str
    is_json: bool
    time_s: float | None = None


def files(path: str, *, top: bool = True) -> list[str]:
    """Return the file itself, or the files of a folder and its subfolders by name; hidden ones are left out.

    Raises:
        InputError: the path cannot be read, or the folder is empty.
    """
    place = Path(path)
    try:
        if not place.is_dir():
            return [path]
        entries = sorted(place.iterdir(), key=lambda entry: _natural(entry.name))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no such file"
        raise input_error(f"{path}: {reason}; expected {SOURCE}, or a folder of them") from None
    listed: list[str] = []
    for entry in entries:
        if entry.name.startswith(".") or entry.suffix.lower() in _SKIPPED or (entry.is_symlink() and entry.is_dir()):
            continue
        listed += files(os.fspath(entry), top=False) if entry.is_dir() else [os.fspath(entry)]
        if len(listed) > FILES_MAX:
            raise input_error(f"{path}: has more than {FILES_MAX} files; expected a folder of readings")
    if top and not listed:
        raise input_error(f"{path}: is a folder without readings; expected {SOURCE}, or a folder of them")
    return listed


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts numbers in names by their value."""
    return [(int(part), "") if part.isdigit() and len(part) < 19 else (-1, part) for part in re.split(r"(\d+)", name)]


def documents(path: str, *, by_name: bool = False, by_mtime: bool = False) -> list[Document]:
    """Cut a file into documents.

    Args:
        path: the file.
        by_name: whether a date in the file's name is the time of documents without one.
        by_mtime: whether that is the time at which the file was last changed.

    Raises:
        InputError: the file cannot be read, or is damaged.
    """
    if _is_special(path):
        raise input_error(f"{path}: is neither a file nor a folder; expected {SOURCE}")
    raw = unpacked(path, BYTES_MAX)
    try:
        node = load(path, SOURCE, BYTES_MAX) if raw is None else parse(raw, path, SOURCE)
    except InputError as error:
        made = _of_parts(path, raw, error)
    else:
        made = list(_of_json(path, node))
    return [_timed(document, path, by_name=by_name, by_mtime=by_mtime) for document in made]


def _is_special(path: str) -> bool:
    """Return whether reading the path may never end."""
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _timed(document: Document, path: str, *, by_name: bool, by_mtime: bool) -> Document:
    """Return the document with the time of its file, if it has no own one and the user wants that."""
    if document.time_s is not None:
        return document
    if by_name:
        stamp = times.of_name(Path(path).name)
        if stamp is not None:
            return replace(document, time_s=stamp, time_source="the file's name")
    if by_mtime:
        return replace(document, time_s=Path(path).stat().st_mtime, time_source="the file's change")
    return document


def _of_json(path: str, node: Node) -> Iterator[Document]:
    """Yield the document, or those of a list of objects."""
    elements = node.elements() if isinstance(node.value, list) and node.value else [node]
    if not all(isinstance(element.value, dict) for element in elements):
        node.table()
        elements[0].table()
    yield from (Document(path, node=element) for element in elements)


def _of_parts(path: str, raw: bytes | None, error: InputError) -> list[Document]:
    """Cut a file that is no single JSON into its parts.

    Raises:
        InputError: it has no parts: the given error of the file as one JSON, if it begins as such.
    """
    try:
        if raw is None:
            with Path(path).open("rb") as file:
                raw = file.read(BYTES_MAX + 1)
        text = raw.decode("utf-8-sig")
    except (OSError, ValueError):
        raise error from None
    if len(raw) > BYTES_MAX or not text.strip() or "\0" in text:
        raise error
    parts = list(_parts(text))
    if not parts or (len(parts) == 1 and parts[0].is_json):
        raise error
    made: list[Document] = []
    for part in parts:
        place = path if len(parts) == 1 else f"{path}, line {part.line}"
        source = "" if part.time_s is None else "the date line"
        if part.is_json:
            node = parse(part.text.encode(), place, SOURCE)
            documents_ = [Document(place, node=inner.node) for inner in _of_json(place, node)]
        else:
            documents_ = [Document(place, text=part.text)]
        made += [replace(one, time_s=part.time_s, time_source=source) for one in documents_]
    return made


def _parts(text: str) -> Iterator[_Part]:
    """Yield the parts of a text with their times: a date line stands before its parts, or behind them in all the file.

    A part is a JSON, or lines up to the next date line, JSON or header of a command.
    """
    parts: list[_Part] = []
    dates: list[tuple[int, float]] = []
    for kind, line, value, stamp in _pieces(text):
        if kind == "date":
            dates.append((len(parts), stamp))
        elif value.strip():
            parts.append(_Part(line, value, kind == "json"))
    parts, dates = _without_rests(parts, dates)
    # A log whose beginning was cut begins with a reading, too; its last date stands before another one.
    behind = bool(dates) and dates[0][0] > 0 and dates[-1][0] == len(parts)
    for place, (first, stamp) in enumerate(dates):
        if behind:
            span = range(dates[place - 1][0] if place else 0, first)
        else:
            span = range(first, dates[place + 1][0] if place + 1 < len(dates) else len(parts))
        for number in span:
            parts[number].time_s = stamp
    return iter(parts)


def _without_rests(
    parts: Sequence[_Part], dates: Sequence[tuple[int, float]]
) -> tuple[list[_Part], list[tuple[int, float]]]:
    """Drop blocks of text that no command printed, such as prompts, if others remain."""
    useful = [part.is_json or _is_printed(part.text) for part in parts]
    if not any(useful):
        return list(parts), list(dates)
    before = list(itertools.accumulate(useful, initial=0))
    kept = [part for part, is_useful in zip(parts, useful, strict=True) if is_useful]
    return kept, [(before[place], stamp) for place, stamp in dates]


def _is_printed(text: str) -> bool:
    """Return whether a block of text is long enough, or has a header or sample, to be a reading."""
    lines = [line for line in text.splitlines() if line.strip()]
    return (
        any(_HEADERS.search(line) for line in lines) or sum(1 for line in lines if re.search(r"[:=}]\s*\S", line)) > 1
    )


def _pieces(text: str) -> Iterator[tuple[str, int, str, float]]:
    """Yield the JSONs, the date lines and the blocks of other lines of a text, each with its first line."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    block: list[str] = []
    begun, at = 1, 0
    while at < len(text):
        line = bisect_right(starts, at)
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        row = text[at:end].strip()
        stamp = None if "{" in row else times.of_line(row)
        opens = row[:1] in ("{", "[") and stamp is None
        if stamp is not None or opens or (_HEADERS.match(row) and block):
            yield "text", begun, "\n".join(block), 0.0
            block = []
        if stamp is not None:
            yield "date", line, row, stamp
        elif opens:
            end = _json_end(text, at)
            yield "json", line, text[at:end], 0.0
        else:
            begun = begun if block else line
            block.append(text[at:end])
        # What follows a JSON in its last line is looked at, too.
        at = end if opens and text[end : end + 1] != "\n" else end + 1
    yield "text", begun, "\n".join(block), 0.0


def _json_end(text: str, at: int) -> int:
    """Return where the JSON that begins at a place ends; the end of the text if it is cut."""
    depth, in_text = 0, False
    for match in _JSON_MARK.finditer(text, at):
        char = match[0]
        if char == '"':
            in_text = not in_text
        elif not in_text and len(char) == 1:
            depth += 1 if char in "[{" else -1
            if depth == 0:
                return match.end()
    return len(text)
