"""What a placement says of RocksDB's own write lifetime hints, as text: what can be set, and what needs code.

Facts about RocksDB are from its sources and headers (``include/rocksdb/options.h``, ``env.h``, ``db/version_set.cc``,
``env/io_posix.cc``, up to version 10) and from its pull requests 12595 (eight bytes for ``fcntl``, 2024) and 13472 (the
option, 2025).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.base.errors import input_error, one_line
from floatgate.placement.answer import Placement

NAME = "rocksdb.txt"
LOG, TABLES = "*.log", "*.sst"

_GIVES = """What RocksDB gives by itself
- write-ahead log (*.log): Env::WLTH_SHORT, always.
- tables (*.sst), level compaction: Env::WLTH_MEDIUM for level 0 and the base level, Env::WLTH_LONG for the level below,
  Env::WLTH_EXTREME from there on. Universal and FIFO compaction: none, except universal where it is requested.
- all else (MANIFEST, OPTIONS, LOG): none. Names of tables do not tell levels, so neither does this trace.
The POSIX environment hands them to the kernel by fcntl(F_SET_RW_HINT). Versions before pull request 12595 (2024) pass
four bytes where the kernel reads eight, and it refuses most: RocksDB 7.8.3 of Debian 12 sets no hint at all.
"""
_SET = """What can be set without code of your own
- calculate_sst_write_lifetime_hint_set of DBOptions: the compaction styles whose tables get hints (C++; in C
  rocksdb_options_calculate_sst_write_lifetime_hint_set_add and _clear). By default level compaction alone. Versions
  before pull request 13472 (2025) do not have the option, and behave as by default.
    options.calculate_sst_write_lifetime_hint_set = {rocksdb::CompactionStyle::kCompactionStyleLevel,
                                                     rocksdb::CompactionStyle::kCompactionStyleUniversal};
- Which hint a level or the log gets cannot be set. Files to which RocksDB gives none keep one that the library of
  floatgate placement --format fcntl gives them; where RocksDB gives one, its own comes later and counts.
"""
_CODE = """What needs code
- Any other assignment: a rocksdb::FileSystemWrapper whose NewWritableFile returns an FSWritableFileOwnerWrapper that
  ignores SetWriteLifeTimeHint of its caller, or replaces it, and calls the target's with the hint that the name of the
  file has in the table above; handed to the database as options.env = rocksdb::NewCompositeEnv(file_system).get().
"""


def usage(folder: str) -> str:
    """Return what to do with the file."""
    return f"{folder}/{NAME} says which options set which hints"


def files(placement: Placement) -> Mapping[str, str]:
    """Return the text.

    Raises:
        InputError: the recording has no files that are called as RocksDB's.
    """
    by_key = {one["key"]: one for one in placement.keys}
    if TABLES not in by_key:
        raise input_error(
            f"{placement.trace}: no file that it writes is called {TABLES}; expected a recording of a program that "
            "uses RocksDB"
        )
    hints = placement.hints()
    lines = [f"RocksDB's write lifetime hints beside {one_line(placement.trace)}", "", "What the trace says"]
    for key in sorted((key for key in by_key if key is not None), key=lambda key: -by_key[key]["page_writes"]):
        one = by_key[key]
        life = one["mean_life_writes"]
        lives = "none of its data dies" if life is None else f"data live {life:,.0f} page writes"
        hint = f"Env::WLTH_{hints[one['handle']].upper()}"
        lines.append(f"- {key}: {one['page_writes']:,} page writes, {lives}; handle {one['handle']}, {hint}")
    lines += ["", *_agreement(by_key), "", _GIVES, _SET, _CODE.rstrip("\n")]
    return {NAME: "\n".join(lines) + "\n"}


def _agreement(by_key: Mapping[Any, Mapping[str, Any]]) -> list[str]:
    """State whether the log's data die before those of tables, as RocksDB's hints assume."""
    if LOG not in by_key:
        return [f"No {LOG} in this trace: RocksDB's order of hints cannot be checked."]
    log, tables = (by_key[key]["mean_life_writes"] or float("inf") for key in (LOG, TABLES))
    if log < tables:
        return ["RocksDB takes for granted that data of the log die before those of tables. In this trace they do."]
    return [
        "RocksDB takes for granted that data of the log die before those of tables. In this trace they do not: its",
        "hints put them in the wrong order.",
    ]
