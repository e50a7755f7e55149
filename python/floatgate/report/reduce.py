"""Deduplication and compression in words: what is programmed of what the host writes, why, and at what energy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.results.result_view import look

FEW = 1000
"""Fewer host pages than this say little of the content that a drive gets."""

_UNKNOWN = 0.01
"""More pages of unknown content than this make the written ratio an upper bound."""

Facts = Mapping[str, Any]


def at_work(result: Facts | None) -> dict[str, Any] | None:
    """The table ``reduce`` of a run in which content was looked at; None for all others."""
    facts: dict[str, Any] | None = look(result, "reduce")
    return facts if facts and facts.get("policy") not in (None, "none") else None


def line(result: Facts) -> str | None:
    """``0.36 of the host's pages are programmed: 46 % are duplicates, chunks take 0.67; 0.45 of the energy ...``.

    None where nothing is reduced.
    """
    facts = at_work(result)
    if not facts:
        return None
    ratio, pages = facts.get("written_ratio"), facts.get("host_pages") or 0
    if ratio is None:
        return f"{facts['policy']}: the host wrote no pages"
    parts = []
    if facts.get("duplicate_share") is not None:
        parts.append(f"{units.share(facts['duplicate_share'])}{_hashed(facts)} are duplicates")
    if facts.get("chunk_ratio") is not None:
        parts.append(f"chunks take {facts['chunk_ratio']:.2f}")
    unknown = facts.get("unknown_share") or 0.0
    if unknown >= _UNKNOWN:
        parts.append(f"what {units.share(unknown)} of them hold is unknown and counts as new and incompressible")
    why = f": {', '.join(parts)}" if parts else ""
    energy = energy_ratio_text(facts)
    few = f" (of {units.count(pages)} pages only, which say little)" if pages < FEW else ""
    return f"{ratio:.2f} of the host's pages are programmed{why}{f'; {energy}' if energy else ''}{few}"


def _hashed(facts: Facts) -> str:
    """Where fingerprints were only computed for a part of the pages, the share is one of that part."""
    hashed, pages = facts.get("hashed_pages"), facts.get("host_pages")
    return " of those looked at" if hashed and pages and hashed < pages else ""


def energy_ratio_text(facts: Facts) -> str | None:
    """``0.45 of the energy of programming every page, hash and compressor included``."""
    ratio = facts.get("energy_ratio")
    if ratio is None:
        return None
    engines = [name for name, key in (("hash", "hashed_pages"), ("compressor", "compressed_pages")) if facts.get(key)]
    included = f", {' and '.join(engines)} included" if engines else ""
    return f"{ratio:.2f} of the energy of programming every page{included}"


INTEGRATED = "integrated"
"""The reducer that chooses schemes from epoch to epoch, and throttles."""

NAMES = {"dedup": "deduplication", "compress": "compression", "both": "deduplication and compression"}
"""The other reducers in words."""


def policy(result: Facts | None) -> str | None:
    """The reducer of a run or a life; None where content is not looked at."""
    named = look(result, "reduce", "policy") or look(result, "config", "lifetime", "reduce", "policy")
    return None if named in (None, "none") else str(named)


def manager(result: Facts | None) -> str | None:
    """``of 2016 epochs 81 % with both schemes, 19 % with deduplication; 3 % throttled``; None without a manager."""
    facts = look(result, "reduce", "manager")
    if not facts or not facts.get("epochs"):
        return None
    named = {"both": "with both schemes", "compress": "with compression", "dedup": "with deduplication"}
    named |= {"none": "with neither"}
    choices, epochs = look(result, "reduce", "epochs_by_choice") or {}, facts["epochs"]
    parts = [f"{units.share(choices[key] / epochs)} {words}" for key, words in named.items() if choices.get(key)]
    throttled = facts.get("throttled_epochs")
    more = f"; {units.share(throttled / epochs)} throttled" if throttled is not None else ""
    return f"of {units.count(epochs)} epochs of {units.span(facts['epoch_s'])}, {', '.join(parts)}{more}"


def remark(result: Facts) -> str | None:
    """That the index forgot contents, where it held far fewer entries than there were contents."""
    facts = at_work(result)
    index = look(facts, "index") if facts else None
    if not index or not index.get("entered"):
        return None
    lost = index["evicted"] / index["entered"]
    if lost < _NOTABLE:
        return None
    return (
        f"the content index forgot {units.share(lost)} of the contents that entered it "
        "(a larger lifetime.reduce.index_share may find more duplicates)"
    )


_NOTABLE = 0.05

HEADER = ["written ratio", "duplicates", "chunks", "energy ratio"]
"""What a comparison says of reducers."""

READING = (
    "Written ratio: programs of host writes over pages that the host wrote; WAF adds what collection moves. Chunks: "
    "flash pages over the pages that went into them. Energy ratio: programs of host writes, hash and compressor over "
    "programming every page."
)
"""The note that goes with these columns."""


def cells(result: Facts) -> list[str]:
    """The cells under :data:`HEADER`."""
    facts = at_work(result)
    if not facts:
        return ["-"] * len(HEADER)

    def ratio(key: str) -> str:
        return "-" if facts.get(key) is None else f"{facts[key]:.2f}"

    duplicates = facts.get("duplicate_share")
    found = "-" if duplicates is None else units.share(duplicates)
    return [ratio("written_ratio"), found, ratio("chunk_ratio"), ratio("energy_ratio")]
