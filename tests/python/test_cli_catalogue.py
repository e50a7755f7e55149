"""``theory``, ``check``, ``drives``, ``policies``, ``schema``, ``--version``."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

import floatgate
from conftest import Cli
from floatgate import _core

ROOT = Path(__file__).parents[2]
THEORY = [
    ("fifo", 256, None, 0.07, 7.318),
    ("fifo", 256, None, 0.28, 1.992),
    ("greedy", 64, None, 0.07, 6.616),
    ("greedy", 256, None, 0.15, 3.476),
    ("d-choices", 64, 4, 0.07, 7.718),
    ("d-choices", 64, 4, 0.28, 2.164),
    ("random", 256, None, 0.07, 1 / 0.07),
]


@pytest.mark.parametrize(("policy", "pages", "choices", "spare", "expected"), THEORY)
def test_theory_gives_the_published_figures(
    cli: Cli, policy: str, pages: int, choices: int | None, spare: float, expected: float
) -> None:
    command = ["theory", "wa", "--policy", policy, "--spare-factor", str(spare), "--pages-per-block", str(pages)]
    command += ["--choices", str(choices)] if choices else []
    value = json.loads(cli(*command, "--json").done())["wa"]
    assert value == pytest.approx(expected, abs=0.0006)
    assert float(cli(*command).done()) == pytest.approx(value, abs=5e-5)
    assert floatgate.theory_wa(policy, spare, pages, choices) == value


@pytest.mark.parametrize(
    ("form", "file"),
    [
        ("`greedy`", "greedy"),
        ("`d-choices`", "choices"),
        ("`fifo`, also with hot pages", "fifo"),
        ("`fifo`, hot and cold pages in logs", "separated"),
    ],
)
def test_closed_forms_name_the_papers_of_their_code(cli: Cli, form: str, file: str) -> None:
    code = (ROOT / f"crates/theory/src/{file}.rs").read_text()
    page = (ROOT / "docs/fidelity.md").read_text()
    (row,) = [line for line in page.splitlines() if line.startswith(f"| {form}")]
    papers = [name for name in ("Desnoyers", "Van Houdt") if name in code]
    assert papers
    help_text = " ".join(cli("theory", "wa", "--help").done().split())
    for name in ("Desnoyers", "Van Houdt"):
        assert (name in row) is (name in papers)
        assert name in help_text


@pytest.mark.parametrize(
    ("pages", "writes", "one_log", "separated"), [(0.2, 0.8, 3.869, 2.517), (0.1, 0.9, 4.430, 1.759)]
)
def test_theory_of_hot_pages(cli: Cli, pages: float, writes: float, one_log: float, separated: float) -> None:
    command = ["theory", "wa", "--policy", "fifo", "--spare-factor", "0.15", "--pages-per-block", "64"]
    command += ["--hot-share-of-pages", str(pages), "--hot-share-of-writes", str(writes)]
    together = json.loads(cli(*command, "--json").done())
    assert together["wa"] == pytest.approx(one_log, abs=0.0006)
    assert together["spare_factor_of"] is None
    apart = json.loads(cli(*command, "--separated", "--json").done())
    assert apart["wa"] == pytest.approx(separated, abs=0.0006)
    assert apart["spare_factor_of"]["hot"] > 0.15 > apart["spare_factor_of"]["cold"] > 0
    assert float(cli(*command, "--separated").done()) == pytest.approx(separated, abs=0.0006)


def test_version(cli: Cli) -> None:
    assert cli("--version").done().splitlines()[0] == f"floatgate {floatgate.__version__}"


def test_every_command_has_help(cli: Cli) -> None:
    for command in ("run", "compare", "check", "drives", "policies", "schema", "report", "theory wa", "trace info"):
        text = cli(*command.split(), "--help").done()
        assert text.startswith(f"Usage: floatgate {command}")


def test_check_prints_what_a_run_would_use(cli: Cli, experiment: Path) -> None:
    resolved = tomllib.loads(cli("check", experiment).done())
    assert resolved["seed"] == 3
    assert resolved["ftl"]["collect"]["policy"] == "greedy"
    answer = json.loads(cli("check", experiment, "--json", "--set", "seed=9").done())
    assert answer["valid"] is True
    assert answer["config"]["seed"] == 9


def test_check_accepts_its_own_answer(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    once = cli("check", experiment).done()
    (tmp_path / "again.toml").write_text(once)
    assert cli("check", "again.toml").done() == once


def test_policies_that_order_their_streams_name_them(cli: Cli) -> None:
    assert "  streams: 0 coldest, the last hottest\n" in cli("policies", "dac").done()
    assert "; 5 moved, oldest\n" in cli("policies", "sepbit").done()
    assert "streams:" not in cli("policies", "greedy").done()


def test_no_separation_says_what_collection_in_batches_does(cli: Cli) -> None:
    assert "one victim at a time, as textbook greedy does (docs/separation.md)" in cli("policies", "none").done()
    assert "one victim at a time" not in cli("policies", "sepbit").done()


def test_drives(cli: Cli) -> None:
    entries = json.loads(cli("drives", "--json").done())["drives"]
    table = cli("drives").done().splitlines()
    # The header, and between both groups an empty line and a heading.
    assert len(table) == len(entries) + 3
    heading = table.index("drives from papers")
    assert {entry["group"] for entry in entries} == {"current", "papers"}
    for entry in entries:
        (number,) = [n for n, line in enumerate(table) if line.split(" ")[0] == entry["name"]]
        assert (number < heading) == (entry["group"] == "current")
        assert entry["summary"] in table[number]
        array = entry["array"]
        assert array["channels"] * array["dies_per_channel"] * array["planes_per_die"] == entry["planes"]
        assert f"  {array['channels']} x {array['dies_per_channel']} x {array['planes_per_die']}  " in table[number]
    assert any(line.startswith("mlc-20nm") and "119 GiB" in line for line in table)
    settings = tomllib.loads(cli("drives", "mlc-20nm").done())
    assert settings
    assert json.loads(cli("drives", "mlc-20nm", "--json").done())["physical_bytes"] == 128 << 30


def test_a_drive_one_can_buy_shows_its_rating(cli: Cli) -> None:
    entry = json.loads(cli("drives", "ent-tlc-ri-1t92", "--json").done())
    rated = entry["rated"]
    assert rated["user_bytes"] == 1_920_000_000_000
    assert rated["tbw_bytes"] == 3_504_000_000_000_000
    assert (rated["drive_writes"], rated["dwpd"]) == (1825, 1)
    lines = {line.split(" ")[0]: line for line in cli("drives").done().splitlines()}
    for phrase in ("1.92 TB", "12.7 %", "16 / 4 KiB", " 7000 ", "3,504 TB", "1.0 for 5 y"):
        assert phrase in lines["ent-tlc-ri-1t92"]
    assert "16 / 16 KiB" in lines["ent-qlc-30t72"]
    assert "scaled to 1/2" in lines["ent-qlc-61t44"]
    assert json.loads(cli("drives", "ufs-256g", "--json").done())["rated"]["tbw_bytes"] is None


def test_the_rating_in_the_table_of_drives_is_that_of_the_capacity_beside_it(cli: Cli) -> None:
    entries = {entry["name"]: entry for entry in json.loads(cli("drives", "--json").done())["drives"]}
    of_table = re.compile(r"(\S+) +([0-9.]+) ([GT])B .* ([0-9,]+) TB +([0-9.]+) for ([0-9.]+) y  (.*)")
    rows = [match for line in cli("drives").done().splitlines() if (match := of_table.fullmatch(line)) is not None]
    assert len(rows) == sum((entry["rated"] or {}).get("dwpd") is not None for entry in entries.values())
    for name, size, unit, tbw, dwpd, years, summary in (row.groups() for row in rows):
        visible_tb = float(size) * (1.0 if unit == "T" else 1e-3)
        # Two figures are shown of drive writes per day.
        assert float(tbw.replace(",", "")) == pytest.approx(visible_tb * float(dwpd) * float(years) * 365, rel=0.05)
        rated = entries[name]["rated"]
        assert rated["visible_tbw_bytes"] == pytest.approx(rated["drive_writes"] * entries[name]["logical_bytes"])
        whole = f"Rated as sold: {rated['tbw_bytes'] / 1e12:,.0f} TB."
        assert summary.endswith(whole) == ("scaled to" in summary)


def test_policies_of_one_slot(cli: Cli) -> None:
    every = json.loads(cli("policies", "--json").done())["policies"]["ftl.separate"]
    for name in ("separate", "ftl.separate"):
        rows = cli("policies", name).done().splitlines()
        assert [row.split()[:2] for row in rows[1:]] == [["ftl.separate", one["name"]] for one in every]
    listing = json.loads(cli("policies", "separate", "--json").done())
    assert (list(listing["policies"]), listing["policy_sets"]) == (["ftl.separate"], [])
    # A policy of that name comes first.
    assert "slot" not in cli("policies", "sepbit").done().split()[0]
    assert "unknown policy 'separates'" in cli("policies", "separates").refused()


def test_policies(cli: Cli) -> None:
    slots = json.loads(cli("policies", "--json").done())["policies"]
    named = {slot: [entry["name"] for entry in entries] for slot, entries in slots.items()}
    assert named["ftl.collect"][0] == "greedy"
    assert {"d-choices", "windowed-greedy"} < set(named["ftl.collect"])
    assert "ready-table2" in named["drive.endurance"]
    text = cli("policies", "d-choices").done()
    assert "[ftl.collect]" in text
    assert "choices" in text
    text = cli("policies", "dynamic").done()
    assert "unit_window_s" in text
    assert "target_years" in text


def test_schema_is_json_with_or_without_asking(cli: Cli) -> None:
    schema = json.loads(cli("schema").done())
    assert {"drive", "ftl", "workload"} <= set(schema["properties"])
    assert cli("schema", "--json").done() == cli("schema").done()


def test_a_default_that_differs_by_policy_is_named_with_its_policy() -> None:
    """The page of settings has one row for a key of several policies."""
    tables = {table["table"]: table["keys"] for table in json.loads(_core.catalogue())["settings"]}
    defaults = {key["name"]: key["default"] for key in tables["ftl.separate"]}
    assert defaults["update_blocks_last"] == "0; 1 with 'host-given'"
    assert (defaults["groups"], defaults["contexts"]) == ("8; 5 with 'midas'", "65536")
