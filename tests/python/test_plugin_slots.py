"""Wear-levelers and throttles from outside: faults, snapshots, forecasts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import floatgate
from floatgate import NONE, PASS_OVER, _core
from floatgate.trace.library import path as recorded
from test_plugins import LIFE, STATIC

STATIC_RUN: dict[str, Any] = {**STATIC, "workload.requests": 30_000}


@pytest.fixture(scope="module", autouse=True)
def unloaded() -> Iterator[None]:
    """Other tests of the process know no policies from outside."""
    yield
    _core.unload_policies()


def leveler(compiled: bool = False, **parts: Any) -> None:
    """Load a leveler of these parts."""
    floatgate.leveler("of-this-test", compiled=compiled)(type("OfThisTest", (), parts))


def throttle(compiled: bool = False, needs: tuple[str, ...] = (), **parts: Any) -> None:
    """Load a throttle of these parts."""
    floatgate.throttle("of-this-test", needs=needs, compiled=compiled)(type("OfThisTest", (), parts))


def leveled(**settings: Any) -> floatgate.Run:
    """A run with the leveler."""
    return floatgate.run({**STATIC_RUN, "ftl.level.policy": "of-this-test", **settings})


def throttled(**settings: Any) -> floatgate.Run:
    """A run with the throttle."""
    return floatgate.run({**LIFE, "drive.capacity": "64 MiB", "lifetime.throttle.policy": "of-this-test", **settings})


def answer(block: int) -> Callable[..., int]:
    """A function of a leveler that always returns this."""
    return lambda wear, s, p: block  # noqa: ARG005 - the contract's


def delayed(seconds: float) -> Callable[..., float]:
    """A function of a throttle that always returns this."""
    return lambda epoch, s, p: seconds  # noqa: ARG005 - the contract's


def raising(wear: Any, victim: Any, s: Any, p: Any) -> int:
    """A review that fails."""
    if victim >= 0:
        raise ValueError("no idea")
    return 0


@pytest.mark.parametrize("compiled", [False, True])
def test_an_exception_in_a_leveler_stops_the_run(compiled: bool) -> None:
    if compiled:
        pytest.importorskip("numba")
    leveler(compiled, review=raising)
    with pytest.raises(floatgate.RunError, match="policy 'of-this-test' failed in review, for domain 0 after"):
        leveled()


@pytest.mark.parametrize("block", [10_000_000, 0])
def test_a_block_that_a_leveler_cannot_move_stops_the_run(block: int) -> None:
    """One that is not there; and the open block, or a free one, sooner or later."""
    leveler(job=answer(block))
    with pytest.raises(floatgate.RunError, match=f"named block {block} in job, which is no closed block of the domain"):
        leveled(**{"drive.endurance.pe_cycles": 5000, "workload.requests": 200_000})


def test_a_victim_passed_over_is_counted() -> None:
    leveler(review=lambda wear, victim, s, p: PASS_OVER if wear.may_pass else floatgate.COLLECT)  # noqa: ARG005
    counts = leveled().result.to_dict()["level"]
    assert counts["passed_over"] > 100
    assert counts["triggered"] == 0


def test_a_leveler_with_hidden_memory_is_found() -> None:
    seen: list[int] = []

    def review(wear: Any, victim: int, s: Any, p: Any) -> int:
        seen.append(victim)
        return PASS_OVER if len(seen) % 3 == 0 and wear.may_pass else NONE

    leveler(review=review)
    with pytest.raises(floatgate.RunError, match="not deterministic: review gave another answer"):
        leveled()


def test_what_a_leveler_sees_is_the_drive() -> None:
    """Erases count what was noted, and the closed blocks are those that were closed and not emptied."""
    closed: set[int] = set()
    erased: dict[int, int] = {}
    read: list[int] = []

    def review(wear: Any, victim: int, s: Any, p: Any) -> int:
        assert set(wear.closed.tolist()) == {block for block in closed if block // wear.blocks == wear.domain}
        assert victim in closed
        least = min((int(wear.erases[block]), block) for block in wear.closed.tolist())
        assert wear.least_erased == least[1]
        assert all(wear.erases[block] == count for block, count in erased.items())
        domain = wear.erases[wear.first_block : wear.first_block + wear.blocks]
        assert wear.mean_erases == pytest.approx(domain.mean())
        return floatgate.COLLECT

    leveler(
        review=review,
        closed=lambda domain, block, s, p: closed.add(block),  # noqa: ARG005
        emptying=lambda domain, block, s, p: closed.discard(block),  # noqa: ARG005
        erased=lambda block, erases, s, p: erased.update({block: erases}),  # noqa: ARG005
        recounted=lambda erases, s, p: erased.clear(),  # noqa: ARG005
        read=lambda block, page, s, p: read.append(page),  # noqa: ARG005
    )
    run = leveled(**{"workload.read_share": 0.2})
    assert len(erased) > 20
    result = run.result.to_dict()
    assert result["host"]["page_reads"] == len(read)
    assert set(read) == set(range(32))


def test_a_drive_with_a_leveler_is_saved_and_goes_on(tmp_path: Path) -> None:
    """The state goes along: a leveler that counts its reviews counts on."""
    text = """
import floatgate

@floatgate.leveler("counting", compiled=False)
class Counting:
    reviews = floatgate.State("uint64", per=1)

    def review(wear, victim, s, p):
        s.reviews[0] += 1
        if s.reviews[0] % 7 == 0 and wear.may_pass:
            return floatgate.PASS_OVER
        return floatgate.COLLECT
"""
    file = tmp_path / "counting.py"
    file.write_text(text)
    floatgate.load_policies(file)
    settings = {**STATIC_RUN, "ftl.level.policy": "counting"}
    first = floatgate.run(settings, save_drive=tmp_path / "drive").result.to_dict()
    going_on = {**settings, "ftl.snapshot": str(tmp_path / "drive"), "workload.requests": 5_000}
    one, other = floatgate.run(going_on).result.to_dict(), floatgate.run(going_on).result.to_dict()
    assert one["level"] == other["level"]
    assert first["config"]["policy_code"][0].startswith("counting ")
    assert one["level"]["passed_over"] > 0
    file.write_text(text.replace("% 7", "% 9"))
    floatgate.load_policies(file)
    changed = floatgate.run(going_on).result.to_dict()
    assert changed["level"] != one["level"]


@pytest.mark.parametrize("delay_s", [-1.0, float("inf"), float("nan")])
def test_a_delay_that_is_none_stops_the_run(delay_s: float) -> None:
    throttle(delay=delayed(delay_s))
    expected = "failed in delay" if math.isnan(delay_s) else f"stated a delay of {delay_s:.0f} s"
    with pytest.raises(floatgate.RunError, match=f"policy 'of-this-test' {expected}, for epoch 1"):
        throttled()
    with pytest.raises(floatgate.RunError, match="policy 'of-this-test'"):
        floatgate.lifetime({**LIFE, "drive.capacity": "64 MiB", "lifetime.throttle.policy": "of-this-test"})


def test_an_exception_in_a_throttle_stops_the_run() -> None:
    def delay(epoch: Any, s: Any, p: Any) -> float:
        raise KeyError("demand")

    throttle(delay=delay)
    with pytest.raises(floatgate.RunError, match=r"failed in delay, for epoch 1, \d+ s into the life: KeyError"):
        throttled()


def test_a_throttle_by_chance_is_found() -> None:
    delays = iter(range(10**6))
    throttle(delay=lambda epoch, s, p: float(next(delays)))  # noqa: ARG005
    with pytest.raises(floatgate.RunError, match="not deterministic: delay gave another answer"):
        throttled()


@pytest.mark.parametrize("needs", [(), ("borrowing",), ("recovery",), ("recovery", "borrowing")])
def test_the_target_is_met_whatever_the_delays(needs: tuple[str, ...]) -> None:
    """Without any delay the regulator alone keeps the budget; a long delay writes less."""
    lives = {}
    settings = {
        **LIFE,
        "drive.capacity": "64 MiB",
        "lifetime.throttle.policy": "of-this-test",
        "lifetime.forecast.waf": 1.5,
        "drive.endurance.model": "ready-printed",
    }
    for seconds in (0.0, 0.5):
        throttle(needs=needs, delay=delayed(seconds))
        life = floatgate.lifetime(settings).to_dict()
        lives[seconds] = life
        assert life["lifetime"]["holds"], (needs, seconds)
    assert lives[0.5]["throttle"]["page_writes"] < lives[0.0]["throttle"]["page_writes"]


def test_a_forecast_equals_that_of_the_core(tmp_path: Path) -> None:
    file = Path(__file__).parent / "policies" / "copies_of_the_core.py"
    floatgate.load_policies(file)
    settings = {**LIFE, "drive.capacity": "64 MiB", "lifetime.forecast.waf": 1.5}
    own, core = (
        floatgate.lifetime({**settings, "lifetime.throttle.policy": policy}).to_dict()
        for policy in ("dynamic-here", "dynamic")
    )
    assert own["throttle"].pop("policy") != core["throttle"].pop("policy")
    for key in ("config", "config_hash", "run", "policies"):
        own.pop(key, None)
        core.pop(key, None)
    assert own == core


def len_of(wear: Any) -> int:
    """A function with too few arguments."""
    return len(wear)


@pytest.mark.parametrize(
    ("slot", "parts", "message"),
    [
        ("leveler", {}, "has no function 'review' or 'job'"),
        (
            "leveler",
            {"job": answer(0), "s": floatgate.State("uint8")},
            "a value per 'page'; expected block or a number",
        ),
        ("leveler", {"job": len_of}, "job takes 1 arguments; expected job"),
        ("throttle", {}, "has no function 'delay'"),
        ("throttle", {"delay": answer(0), "s": floatgate.State("f8", per="block")}, "expected a number"),
        ("throttle", {"delay": answer(0), "needs": ("ages",)}, "unknown need 'ages'; expected some of recovery"),
        ("throttle", {"delay": answer(0), "period_s": floatgate.Param(1.0, most=2.0)}, "'period_s' is there twice"),
    ],
)
def test_classes_that_break_the_contract_are_refused(slot: str, parts: dict[str, Any], message: str) -> None:
    with pytest.raises(floatgate.InputError, match=message):
        {"leveler": leveler, "throttle": throttle}[slot](**parts)


def test_a_throttle_has_the_keys_of_planning() -> None:
    """Those of epochs, and that of borrowing only where it borrows."""
    throttle(delay=answer(0))
    throttled(**{"lifetime.throttle.unit_window_s": 300})
    with pytest.raises(floatgate.InputError, match="spare_share"):
        throttled(**{"lifetime.throttle.spare_share": 0.2})


def test_a_leveler_that_never_ends_is_stopped() -> None:
    leveler(job=lambda wear, s, p: wear.least_erased)  # noqa: ARG005
    with pytest.raises(floatgate.RunError, match=r"named a block in job .* times though the host wrote nothing"):
        leveled(**{"drive.endurance.pe_cycles": 100_000})


def test_a_victim_that_was_passed_over_may_give_its_data() -> None:
    """It is closed, though the victim policy no longer sees it."""

    def review(wear: Any, victim: int, s: Any, p: Any) -> int:
        if victim == wear.least_erased and wear.may_pass:
            return PASS_OVER
        return int(wear.least_erased) if victim != wear.least_erased else floatgate.COLLECT

    leveler(review=review)
    counts = leveled(**{"drive.endurance.pe_cycles": 100_000}).result.to_dict()["level"]
    assert counts["triggered"] > 0
    assert counts["passed_over"] > 0


def test_a_state_that_does_not_fit_into_memory_is_refused_before_the_first_call() -> None:
    called: list[int] = []
    leveler(s=floatgate.State("f8", per=10**15), closed=lambda domain, block, s, p: called.append(block), job=answer(0))  # noqa: ARG005
    with pytest.raises(floatgate.RunError, match="policy 'of-this-test': no memory for 8000000000000064 bytes"):
        leveled()
    throttle(s=floatgate.State("f8", per=10**15), delay=answer(0))
    with pytest.raises(floatgate.RunError, match="no memory for"):
        throttled()
    with pytest.raises(floatgate.RunError, match="no memory for"):
        floatgate.lifetime({**LIFE, "lifetime.throttle.policy": "of-this-test", "lifetime.forecast.waf": 1.5})
    assert not called


def test_a_bound_that_fails_stops_the_run() -> None:
    def lead_max(p: Any) -> float:
        raise ValueError("no bound")

    leveler(job=answer(NONE), lead_max=lead_max)
    with pytest.raises(floatgate.RunError, match="failed in lead_max, before the run: ValueError: no bound"):
        leveled()


def test_every_need_of_a_separator_is_checked() -> None:
    parts = {"streams": 2, "write": lambda page, s, p: 0, "move": lambda page, s, p: 1}  # noqa: ARG005
    floatgate.separator("of-this-test", needs=["contexts", "streams"], compiled=False)(type("OfThisTest", (), parts))
    settings = {"workload.file": str(recorded("gcc-build")), "ftl.separate.policy": "of-this-test"}
    with pytest.raises(floatgate.InputError, match="needs streams of the host, and this workload has none"):
        floatgate.run({"drive.capacity": "256 MiB", **settings})


def test_a_leveler_with_other_parameters_begins_anew(tmp_path: Path) -> None:
    """A snapshot's state is of the parameters that it was made with."""
    text = """
import floatgate

@floatgate.leveler("by-share", compiled=False)
class ByShare:
    share = floatgate.Param(2, least=1, most=100, doc="reviews per veto")
    reviews = floatgate.State("uint64", per=1)

    def review(wear, victim, s, p):
        s.reviews[0] += 1
        return floatgate.PASS_OVER if s.reviews[0] % p.share == 0 and wear.may_pass else floatgate.COLLECT
"""
    (tmp_path / "by_share.py").write_text(text)
    floatgate.load_policies(tmp_path / "by_share.py")
    settings = {**STATIC_RUN, "ftl.level.policy": "by-share"}
    floatgate.run(settings, save_drive=tmp_path / "drive")
    going_on = {**settings, "ftl.snapshot": str(tmp_path / "drive"), "workload.requests": 5_000}
    vetoes = [
        floatgate.run({**going_on, "ftl.level.share": share}).result.to_dict()["level"]["passed_over"]
        for share in (2, 9)
    ]
    assert vetoes[0] > 2 * vetoes[1] > 0
