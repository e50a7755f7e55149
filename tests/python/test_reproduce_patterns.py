"""``floatgate reproduce patterns``: what its page sets out from, and how its values are made."""

from __future__ import annotations

from typing import Any

from floatgate.reproduce import load, names
from floatgate.reproduce.judge import Found
from floatgate.reproduce.patterns.values import SYSTEMS, WORKLOADS, values

REQUESTS = {"proj_0": 4224524, "pc-server-1": 5076765, "pc-server-2": 6658794, "pc-server-3": 11404881}
"""Table II."""


def test_windows_of_table_3_follow_from_table_2() -> None:
    [claim] = [claim for claim in load("patterns").claims if claim.id == "windows"]
    printed = claim.rule["paper"]
    assert {name: -(-requests // 1024) for name, requests in REQUESTS.items()} == printed
    assert "patterns" in names()
    assert list(load("patterns").workloads) == list(WORKLOADS)


def result(gc_s: float, level_s: float, erases: int, std: float, response: float = 100.0) -> dict[str, Any]:
    return {
        "gc": {"time_s": gc_s},
        "level": {"time_s": level_s},
        "flash": {"erases": {"total": erases}},
        "wear": {"erases_std": std, "erases_max": 7, "first_failure_s": 365.25 * 86400.0 * erases},
        "latency_us": {"read": {"mean": response}},
    }


def test_gc_time_holds_leveling_and_orders_are_judged() -> None:
    main = {
        "baseline": result(100, 0, 10, 9),
        "swl": result(110, 30, 12, 8),
        "pgis-swl": result(90, 20, 11, 4),
        "pattern": result(80, 10, 10, 5),
    }
    timed = {variant: result(0, 0, 0, 0, mean) for variant, mean in zip(SYSTEMS, (90, 100, 110, 50), strict=True)}
    parts = {"pgis": result(90, 0, 10, 5), "patterns-only": result(60, 0, 10, 5)}
    control = {"pgis": result(90, 0, 10, 5), "patterns-only": result(89, 0, 10, 5)}
    batches = {"main": main, "timed": timed, "parts": parts, "control": control}
    made = values(Found({batch: {"proj_0": results} for batch, results in batches.items()}))
    assert [made[f"{name}.proj_0.swl"] for name in ("gc_time", "level_time")] == [140, 30]
    assert made["first_failure.proj_0.swl"] == 12
    assert all(made[f"{name}.proj_0"] for name in ("swl_largest", "level_least", "spread_order"))
    assert made["response.proj_0"] == 0.5
    assert made["gain.proj_0"] == 60 / 90
    assert made["control_loses.proj_0"]
    assert "response.pc-server-1" not in made


def test_shared_places_are_no_order() -> None:
    main = {variant: result(100, 10, 10, 5) for variant in SYSTEMS}
    made = values(Found({"main": {"proj_0": main}}))
    orders = [made[f"{name}.proj_0"] for name in ("swl_largest", "level_least", "spread_order")]
    assert orders == [False, False, False]
