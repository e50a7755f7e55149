"""The text summary of what deduplication and compression would save."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.base.text_table import named, table
from floatgate.lab.content import PAGES_MIN

Facts = dict[str, Any]

PATHS_MAX = 4
"""Of more paths the first ones are named."""


def screen(paths: list[str], facts: Facts) -> str:
    """Return the text for a terminal.

    Args:
        paths: of the measured files, as the user named them.
        facts: the JSON of ``floatgate content``.
    """
    rows = [
        ("content", f"{_places(paths)}: {_amount(facts)}"),
        ("pays", _pays(facts)),
        ("written", _written(facts)),
        ("duplicates", _duplicates(facts)),
        ("distance", _distance(facts)),
        ("index", _index(facts)),
        ("as one", _joint(facts)),
        ("left out", _left_out(facts)),
        ("note", _notes(facts)),
    ]
    lines = named((name, text) for name, text in rows if text)
    return "\n\n".join(part for part in (lines, _ratios(facts), _index_table(facts)) if part)


def _places(paths: list[str]) -> str:
    """Return the paths, or the first ones of many."""
    shown = paths if len(paths) <= PATHS_MAX else paths[: PATHS_MAX - 1]
    more = len(paths) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _amount(facts: Facts) -> str:
    files = "1 file" if facts["files"] == 1 else f"{facts['files']} files"
    pages = "1 page" if facts["pages"] == 1 else f"{facts['pages']} pages"
    return f"{units.decimal_bytes(facts['bytes'])} in {files}, {pages} of 4 KiB"


def _codec(facts: Facts, name: str) -> str:
    level = next(codec["level"] for codec in facts["codecs"] if codec["codec"] == name)
    return {"lz4": "LZ4"}.get(name, name) + ("" if level is None else f" level {level}")


def _saved(ratio: float) -> str:
    return f"saves {units.share(1 - ratio)} of the page writes"


def _pays(facts: Facts) -> str:
    lead = facts["lead"]
    phrases = []
    for name, key in (("deduplication", "dedup"), ("compression", "compression")):
        ratio = lead[f"{key}_written_ratio"]
        if lead[f"{key}_pays"]:
            phrases.append(f"{name} pays ({_saved(ratio)})")
        elif ratio < 1:
            phrases.append(f"{name} hardly pays ({_saved(ratio)})")
        else:
            phrases.append(f"{name} does not pay")
    return ", ".join(phrases)


def _written(facts: Facts) -> str:
    lead = facts["lead"]
    how = f"{_codec(facts, lead['codec'])}, chunks of {lead['chunk_pages']}"
    ratio = units.figure
    return (
        f"{ratio(lead['dedup_compression_written_ratio'])} of the pages with both ({how}); "
        f"{ratio(lead['compression_written_ratio'])} with compression alone, "
        f"{ratio(lead['dedup_written_ratio'])} with deduplication alone"
    )


def _duplicates(facts: Facts) -> str:
    zeros = f"{units.share(facts['zero_share'])} of all pages hold only zeros"
    return f"{units.share(facts['duplicate_share'])} of the pages, {facts['unique_pages']} distinct contents; {zeros}"


def _distance(facts: Facts) -> str:
    distance = facts["duplicate_distance"]
    if distance is None:
        return ""
    of = distance["page_writes"]
    low, middle, high = (units.count(of[key]) for key in ("p10", "p50", "p90"))
    return f"{middle} page writes between a page and its copy (p10-p90: {low} - {high})"


def _index(facts: Facts) -> str:
    distance = facts["duplicate_distance"]
    if distance is None:
        return ""
    index = distance["index"]
    needed = [f"{units.count(index[f'entries_for_{key}'])} for {text}" for key, text in _SHARES]
    return f"entries needed: {', '.join(needed)} of the duplicates"


_SHARES = (("90_percent", "90 %"), ("99_percent", "99 %"), ("all", "all"))


def _joint(facts: Facts) -> str:
    lead = facts["lead"]
    for codec in facts["codecs"]:
        for row in codec["chunks"]:
            joint = row["compression"]["joint"]
            if (codec["codec"], row["chunk_pages"]) == (lead["codec"], lead["chunk_pages"]) and joint:
                return (
                    f"{units.figure(joint['chunk_ratio'])} of the pages where a chunk is compressed as one piece, "
                    f"{units.figure(joint['chunk_ratio_by_page'])} page by page (sample of "
                    f"{joint['sampled_chunks']} chunks, compression alone)"
                )
    return ""


def _left_out(facts: Facts) -> str:
    skipped = facts["skipped"]
    words = (
        ("empty_files", "empty file", "empty files"),
        ("further_names", "further name of a file", "further names of files"),
        ("symbolic_links", "symbolic link", "symbolic links"),
        ("special_files", "special file", "special files"),
    )
    phrases = [f"{skipped[key]} {one if skipped[key] == 1 else many}" for key, one, many in words if skipped[key]]
    if facts["unreadable"]["count"]:
        phrases.append(f"{facts['unreadable']['count']} unreadable")
    return ", ".join(phrases)


def _notes(facts: Facts) -> str:
    phrases = []
    if facts["too_little_data"]:
        phrases.append(f"fewer than {PAGES_MIN} pages: too little to say what a drive would save")
    collided, open_ = facts["fingerprints"]["collisions"], facts["fingerprints"]["not_compared"]
    if collided:
        phrases.append(f"{collided} contents share a fingerprint with another one and are no duplicates")
    if open_:
        phrases.append(f"{open_} pages could not be compared with their first copy (changed since) and count as new")
    return "; ".join(phrases)


def _ratios(facts: Facts) -> str:
    header = ["codec", "chunk", "compression", "dedup + compression", "as one", "page by page", "sampled"]
    rows = []
    for codec in facts["codecs"]:
        for row in codec["chunks"]:
            joint = row["compression"]["joint"]
            sampled = ["-", "-", "-"]
            if joint:
                sampled = [
                    *(f"{joint[key]:.3f}" for key in ("chunk_ratio", "chunk_ratio_by_page")),
                    str(joint["sampled_chunks"]),
                ]
            ratios = [f"{row[key]['written_ratio']:.3f}" for key in ("compression", "dedup_compression")]
            rows.append([_codec(facts, codec["codec"]), str(row["chunk_pages"]), *ratios, *sampled])
    return table(header, rows, right=frozenset(range(1, len(header))))


def _index_table(facts: Facts) -> str:
    distance = facts["duplicate_distance"]
    if distance is None:
        return ""
    index = distance["index"]
    rows = [
        [str(entries), units.share(duplicates / facts["duplicate_pages"])]
        for entries, duplicates in zip(index["entries"], index["found"], strict=True)
    ]
    return table(["index entries", "duplicates found"], rows, right=frozenset(range(2)))
