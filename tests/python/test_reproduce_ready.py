"""READY's page: page writes by unit, bursts, intense I/O over many windows, and both readings of its text."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from conftest import Cli
from floatgate.base.errors import InputError
from floatgate.papers import load
from floatgate.papers.judge import Findings, judge
from floatgate.papers.means import compared
from floatgate.papers.ready import units, values, workloads
from floatgate.papers.ready.figures import figures

TABLE_1 = {"proxy": 4.94, "proj": 2.08, "exchange": 20.61, "map": 23.82, "msnfs": 18.19}
RECOVERED_TIB = 8615 * 32 / 1024
"""What 32 GiB take in five years at the 8,615 cycles of READY's steady point."""


def test_the_printed_factor_of_proxy_requires_2_11_page_writes_per_4_kib() -> None:
    """By hand: 4.94 x 1.93 x 43,800 h / 1024 = 407.8 TiB wanted, 269.2 TiB allowed, 359.7 pages of 4 KiB a second."""
    over = 4.94 * 1.93 * 43_800 / 1024 / RECOVERED_TIB
    assert units.held_us("proxy", over, 1.0) == pytest.approx((407.83 / 269.22 - 1) / 359.73 * 1e6, rel=1e-3)
    needed = units.required(lambda per_4kib: 1 + units.held_us("proxy", over, per_4kib) / 600, 2.13)
    assert needed == pytest.approx(2.11, abs=0.01)
    assert units.GIB_PER_HOUR == TABLE_1


def test_a_quotient_that_no_unit_gives_requires_none() -> None:
    assert units.required(lambda per_4kib: 1 + 0.3 / (1 + per_4kib), 1.7) is None
    assert units.required(lambda per_4kib: 1 + 2 / (1 + per_4kib), 1.7) == pytest.approx(13 / 7)


def test_units_need_the_volumes_of_all_traces() -> None:
    wanted = {"none": 400.0, "static": 100.0, "dynamic": 100.0, "ready-optimistic": 200.0}
    known = {f"tib.{trace}.{throttle}.w_work": tib for trace in TABLE_1 for throttle, tib in wanted.items()}
    made = units.values(known)
    # Equal volumes of ST and DT give equal responses, whatever the unit.
    assert made["per_4kib.dt_over_st.1"] == made["per_4kib.dt_over_st.most"] == pytest.approx(1.0)
    assert made["per_4kib.dt_over_st.required"] is None
    # Vanishing units leave the quotient of the holds: (4 - 1) / (2 - 1).
    assert made["per_4kib.ready_over_dt.most"] == pytest.approx(3.0, rel=1e-3)
    assert made["per_4kib.ready_over_dt.2"] < made["per_4kib.ready_over_dt.1"] < 3.0
    del known["tib.map.static.w_work"]
    assert units.values(known) == {}


def test_the_picture_of_page_writes_needs_all_volumes() -> None:
    wanted = {"none": 400.0, "static": 90.0, "dynamic": 100.0, "ready-optimistic": 200.0}
    known = {f"tib.{trace}.{throttle}.w_work": tib for trace in TABLE_1 for throttle, tib in wanted.items()}
    pictures = {figure.id: figure for figure in figures(Findings({}, known))}
    text = str(pictures["page-writes"].draw(600).to_dict())
    assert "DT over READY" in text
    assert "paper: 2.57" in text
    del known["tib.proj.none.w_work"]
    assert "page-writes" not in {figure.id for figure in figures(Findings({}, known))}


def test_figures_of_draws_differ_only_beyond_their_interval() -> None:
    """Differences of 1 to 3 have mean 2 and 2.776 x sqrt(0.5 / 5) = 0.878; those of -1 to 1 have mean 0."""
    first, second, middle, half = compared([10, 10, 10, 10, 10], [11, 12, 12, 12, 13])
    assert (first, second, middle) == (10, 12, 2)
    assert half == pytest.approx(2.776 * (0.5 / 5) ** 0.5)
    equal = compared([10, 12, 10, 10, 10], [11, 11, 10, 10, 11])
    assert equal[0] == equal[1] == pytest.approx(10.5)
    assert equal[2] == pytest.approx(0.2)
    assert compared([10, None], [11, 12]) == (None, None, None, None)


def test_intense_windows_are_those_of_the_highest_demand() -> None:
    """Twenty windows of 10 s: the two of the highest demand are the fifth and the last, whatever is written."""
    mib = float(1 << 20)
    demand = [9.0 if second // 10 in (4, 19) else 1.0 for second in range(205)]
    written = [3.0 if second // 10 == 4 else 5.0 if second // 10 == 19 else 7.0 for second in range(205)]
    scaled = [[one * mib / 2 for one in column] for column in (demand, written)]
    record = {"detail": {"demand_bytes": scaled[0], "written_bytes": scaled[1], "waf": 2.0}}
    assert values.intense_rate(record, 10) == pytest.approx(4.0)
    assert values.intense_rate(record, 300) is None
    assert values.intense_rate({}, 10) is None


def test_ready_pes_and_opt_are_compared_by_draws_in_pairs() -> None:
    mib = float(1 << 20)

    def life(rate: float) -> dict[str, object]:
        return {"detail": {"demand_bytes": [mib] * 600, "written_bytes": [rate * mib] * 600, "waf": 1.0}}

    [claim] = [one for one in load("ready").claims if one.id == "opt-writes-more"]
    for gains, verdict in (([1, 2, 2, 2, 3], True), ([-1, 1, -1, 1, 0], None), ([-2, -2, -2, -1, -3], False)):
        draws = {f"ready-pessimistic-{draw}": life(5) for draw in values.DRAWS}
        draws |= {
            f"ready-optimistic-{draw}": life(5 + gain) for draw, gain in zip(values.DRAWS, gains[1:], strict=True)
        }
        lives = {"ready-pessimistic": life(5), "ready-optimistic": life(5 + gains[0])}
        findings = Findings({"lives": {"map": lives}, "draws": {"map": draws}})
        findings.values = load("ready").values(findings)
        assert judge(claim, findings).holds is verdict


def test_what_st_leaves_is_kept_by_length_of_bursts() -> None:
    def life(written: float) -> dict[str, object]:
        return {"lifetime": {"w_work_bytes": written, "c_ssd_bytes": 100.0}}

    lengths = (*workloads.BURSTS, "instant")
    bursts = {f"proj-burst-{burst}": {"static": life(90.0 - 10 * i)} for i, burst in enumerate(lengths)}
    findings = Findings({"lives": {"proj": {"static": life(65.0), "none": life(150.0)}}, "bursts": bursts})
    made = load("ready").values(findings)
    assert [made[f"bursts.proj.{burst}"] for burst in lengths] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert made["bursts.proj.750"] == pytest.approx(0.35)
    assert made["bursts.proj.ceiling"] == pytest.approx(1 - 1 / (1 + 100 / 150))
    assert made["bursts.proj.instant_tib"] == 60.0 * 64 / values.TIB


def test_proxy_is_the_twin_of_table_1(tmp_path: Path, cli: Cli) -> None:
    twin = tomllib.loads(workloads.PROXY.read_text())
    assert (twin["written_gib_per_hour"], twin["duration_s"]) == (4.94, 604_800)
    assert twin["rate"]["burst_requests"] == 750
    assert set(twin["source"]) == {"duration_s", "written_gib_per_hour"}
    lives = next(batch for batch in load("ready").batches if batch.name == "lives")
    assert lives.by_workload["proxy"] == [("lifetime.forecast.waf_of_bytes", "1.93")]
    cli("trace", "generate", "--twin", workloads.PROXY, "--requests", "500", "-o", tmp_path / "p.parquet").done()


def test_twins_with_other_bursts_differ_in_nothing_else(tmp_path: Path) -> None:
    made = workloads.prepare(["proxy", "proj", "proj-burst-100", "exchange-burst-1"], {}, tmp_path)
    assert set(made) == {"proxy", "proj-burst-100", "exchange-burst-1"}
    [(key, file)] = made["proj-burst-100"]
    assert key == "workload.twin"
    twin, shipped = (tomllib.loads(Path(one).read_text()) for one in (file, workloads.TWIN_FOLDER / "proj.toml"))
    assert twin["rate"].pop("burst_requests") == 100
    assert shipped["rate"].pop("burst_requests") == 750
    assert twin == shipped
    broken = tmp_path / "broken.toml"
    broken.write_text("duration_s = 1\n")
    with pytest.raises(InputError, match="burst_requests is not there once"):
        workloads.changed(broken, {"burst_requests": lambda _: "10"}, "10", tmp_path)


def test_bursts_at_one_instant_are_as_large_and_as_often(tmp_path: Path) -> None:
    """A 64th of the volume, the addresses, the drive and the requests of a burst."""
    made = dict(workloads.prepare(["exchange-burst-instant"], {}, tmp_path)["exchange-burst-instant"])
    assert made["drive.capacity"] == '"2048 MiB"'
    twin = tomllib.loads(Path(made["workload.twin"]).read_text())
    assert twin["written_gib_per_hour"] == 20.61 / 64
    assert twin["footprint_bytes"] == 107_374_182_400 // 64
    assert twin["rate"]["burst_requests"] == 12


def test_a_trace_of_the_users_takes_the_place_of_proxy(tmp_path: Path) -> None:
    assert workloads.prepare(["proxy"], {"proxy": "own.csv"}, tmp_path) == {}


def test_units_of_dt_are_judged_in_both_readings() -> None:
    """A p99 of 6.6 ms is several thousand microseconds and no thousand seconds."""
    claims = {claim.id: claim for claim in load("ready").claims}
    names = [f"lives.{trace}.dynamic.response_us.{key}" for trace in ("map", "proj") for key in ("p99", "max")]
    findings = Findings({}, dict.fromkeys(names, 6600.0))
    assert judge(claims["dt-thousands-of-seconds"], findings).holds is False
    assert judge(claims["dt-thousands-of-microseconds"], findings).holds is True
    assert judge(claims["dt-thousands-of-microseconds"], Findings({}, dict.fromkeys(names, 650.0))).holds is False


def test_figure_4_of_proxy_is_not_judged() -> None:
    [claim] = [one for one in load("ready").claims if one.id == "demand-proxy"]
    verdict = judge(claim, Findings({}, {"within.proxy.best_s": 60}))
    assert verdict.holds is None
    assert "one draw per ten minutes" in verdict.undecided


@pytest.mark.parametrize("name", ["ready", "integrated"])
def test_every_claim_has_a_topic_and_an_experiment(name: str) -> None:
    for claim in load(name).claims:
        assert claim.rule.get("topic"), claim.id
        assert claim.rule.get("decided_by") or claim.rule.get("not_judged"), claim.id
