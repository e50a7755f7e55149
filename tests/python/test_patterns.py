"""``floatgate trace patterns`` and the miner behind; both are held to brute force in Rust, too."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from floatgate.base.errors import InputError, RunError
from floatgate.trace.patterns import Settings, mine, of_trace

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted([*(ROOT / "traces").glob("*.parquet"), *(ROOT / "traces").glob("*.zst")])
KEYS = ["windows", "patterns", "patterns_per_window", "pattern_size_mean", "address_share", "write_share"]


def frequent(transactions: Sequence[Sequence[int]], support: int) -> dict[frozenset[int], int]:
    """All sets that so many transactions have, by trying each."""
    universe = sorted(set(itertools.chain(*transactions)))
    sets = [set(transaction) for transaction in transactions]
    counts = {}
    for size in range(1, len(universe) + 1):
        for items in map(frozenset, itertools.combinations(universe, size)):
            count = sum(items <= one for one in sets)
            if count >= support:
                counts[items] = count
    return counts


@pytest.mark.parametrize("closed", [False, True])
def test_the_miner_equals_brute_force(closed: bool) -> None:
    for seed in range(300):
        draw = random.Random(seed)
        universe = range(10**6, 10**6 + draw.randrange(1, 8))
        transactions = [[item for item in universe if draw.random() < 0.6] for _ in range(draw.randrange(12))]
        support, items_min = draw.randrange(1, 5), draw.randrange(1, 4)
        sets = frequent(transactions, support)
        wanted = [
            (sorted(items), count)
            for items, count in sets.items()
            if len(items) >= items_min
            and not any(items < other and (not closed or sets[other] == count) for other in sets)
        ]
        wanted.sort(key=lambda one: (-len(one[0]), one[0]))
        assert mine(transactions, support, items_min=items_min, closed=closed) == wanted, seed


def test_the_miner_refuses_what_cannot_be() -> None:
    for support, items_min in ((0, 1), (1, 0), (-1, 1), (2**32, 1)):
        with pytest.raises(InputError, match="expected a whole number from 1 on"):
            mine([[1]], support, items_min=items_min)
    with pytest.raises(InputError, match="an item is not a whole number"):
        mine([[-1]], 1)
    every_but_one = [[item for item in range(40) if item != own] for own in range(40)]
    with pytest.raises(RunError, match="there are too many sets"):
        mine(every_but_one, 12, closed=True)


def together(path: Path) -> Path:
    """1100 requests: five addresses written together in each of four runs of twelve, then reads, then two of them."""
    runs = [[*range(5), *(100 + 7 * run + i for i in range(7))] for run in range(4)]
    writes = [("write", address) for run in runs for address in run]
    reads = [("read", address) for address in range(900)]
    rows = [*writes, *reads, ("write", 0), ("write", 4)]
    rows += [("read", 7)] * (1100 - len(rows))
    lines = "".join(f"f {op} {4096 * address} 4096\n" for op, address in rows)
    path.write_text(f"fio version 2 iolog\nf add\nf open\n{lines}f close\n")
    return path


def test_json_and_text(cli: Cli, tmp_path: Path) -> None:
    trace = together(tmp_path / "t.iolog")
    cli("trace", "patterns", trace, "--json", "out.json").done()
    facts = json.loads((tmp_path / "out.json").read_text())
    assert facts["schema"] == "floatgate.patterns/1"
    assert [facts[key] for key in KEYS] == [2, 1, 0.5, 5.0, 5 / 33, 22 / 50]
    assert facts["strongest"][0]["support"] == 4
    assert [start["offset"] for start in facts["strongest"][0]["addresses"]] == [0, 4096, 8192, 12288, 16384]
    assert (facts["sizes"], facts["course"]["patterns"]) == ({"size": [5], "patterns": [1]}, [1, 0])
    assert facts["addresses"]["frequent"] == {"writes_min": 4, "addresses": 5, "in_patterns": 5, "share": 1.0}
    assert json.loads(cli("trace", "patterns", trace, "--json", "-").done()) == facts
    assert of_trace(trace) == facts
    text = cli("trace", "patterns", trace).done()
    assert "1 maximal set of 3 addresses or more in 4 transactions or more: 0.5" in text
    assert "15 % of the addresses written, 44 % of the writes" in text
    assert "exists already" in cli("trace", "patterns", trace, "--json", "out.json").refused()
    cli("trace", "patterns", trace, "--json", "out.json", "--force").done()


def test_options_say_what_is_mined(cli: Cli, tmp_path: Path) -> None:
    trace = together(tmp_path / "t.iolog")

    def patterns(*options: str) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(cli("trace", "patterns", trace, "--json", "-", *options).done())
        return facts

    assert patterns("--mined", "36")["patterns"] == 0
    assert patterns("--mined", "36", "--support", "3")["patterns"] == 1
    assert patterns("--items-min", "6")["patterns"] == 0
    assert patterns("--transaction", "32")["patterns"] == 0
    assert patterns("--window", "550")["windows"] == 2
    assert patterns("--requests", "64")["windows"] == 1
    assert patterns("--op", "read")["write_share"] is None
    # Two addresses come once more, behind: closed, not maximal.
    deep = ["--mined", "1024", "--items-min", "2"]
    assert (patterns(*deep)["patterns"], patterns(*deep, "--closed")["patterns"]) == (1, 2)


def test_bad_input(cli: Cli, tmp_path: Path) -> None:
    trace = together(tmp_path / "t.iolog")
    for options, phrase in (
        (
            ("--support", "0"),
            "--support: 0 is out of range; expected 1 to 1024 transactions, and no more than",
        ),
        (("--support", "1025"), "--support: 1025 is out of range; expected 1 to 1024"),
        (("--support", "9", "--window", "8", "--mined", "8"), "--support: 9 is out of range"),
        (("--items-min", "0"), "--items-min: 0 is out of range; expected 1 to"),
        (("--items-min", "-3"), "--items-min: -3 is out of range; expected a whole number"),
        (("--window", "0"), "--window: 0 is out of range"),
        (("--mined", "2000"), "--mined: 2000 is out of range; expected 1 to 1024"),
        (("--transaction", "0"), "--transaction: 0 is out of range"),
        (("--support", "4.5"), "--support '4.5': not a whole number"),
        (("--force",), "--force: nothing is written"),
        (("--report", "-"), "a report is not written to standard output"),
    ):
        assert phrase in cli("trace", "patterns", trace, *options).refused(), options
    empty = tmp_path / "empty.iolog"
    empty.write_text("fio version 2 iolog\nf add\nf open\nf close\n")
    assert "no request in 4 lines" in cli("trace", "patterns", empty).refused()
    assert "missing.csv" in cli("trace", "patterns", "missing.csv").refused()


def test_report_and_pictures(cli: Cli, tmp_path: Path) -> None:
    trace = together(tmp_path / "t.iolog")
    cli("trace", "patterns", trace, "--report", "r.html", "--pictures", "pictures").done()
    page = (tmp_path / "r.html").read_text()
    for phrase in (
        "Patterns over the trace",
        "Sizes of patterns",
        "How often addresses are accessed",
        "Strongest sets",
    ):
        assert phrase in page
    assert "could not be drawn" not in page
    assert {path.name for path in (tmp_path / "pictures").iterdir()} == {
        f"{name}.{kind}" for name in ("patterns", "pattern-sizes", "accesses") for kind in ("svg", "png", "pdf", "csv")
    } | {"captions.md"}


@pytest.mark.parametrize("trace", SHIPPED, ids=lambda path: path.stem)
def test_shipped_traces(trace: Path) -> None:
    maximal, closed = of_trace(trace), of_trace(trace, settings=Settings(closed=True))
    assert maximal["windows"] == -(-maximal["requests"] // 1024) == len(maximal["course"]["patterns"])
    assert sum(maximal["sizes"]["patterns"]) == maximal["patterns"] <= closed["patterns"]
    # Each closed set lies in a maximal one, and each maximal set is closed.
    for key in ("address_share", "write_share", "windows_with_patterns"):
        assert maximal[key] == closed[key]
    assert (maximal["patterns"] > 0) == trace.stem.startswith(
        ("sqlite-updates", "sqlite-content", "rocksdb-compaction")
    )
