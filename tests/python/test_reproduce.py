"""``floatgate reproduce``: papers as folders, from their files to the page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from markupsafe import escape

import page_scripts
from conftest import Cli
from floatgate.base.errors import InputError
from floatgate.papers import Settings, load, names, reproduce
from floatgate.papers.jobs import jobs
from floatgate.papers.judge import Findings
from floatgate.papers.ready import values as ready_values
from floatgate.papers.reproduction import Reproduction
from floatgate.papers.separation.figures import figures as separation_figures
from floatgate.report.throttle_charts import dots, look_of
from floatgate.run.run import execute
from floatgate.trace import context_updates, library

PAPER = """
title = "Greedy <is> best"
source = "A. Nobody, 2026"
about = "Two policies."
differs = ["Greedy has {w.uniform.greedy.waf|x} here, and {nothing.there} elsewhere."]
[quick]
about = "Quick: fewer requests."
set = { "workload.requests" = 20000 }
[quick.each]
fifo = { "ftl.spare_factor" = 0.19 }
[originals]
about = "Folded."
set = { "workload.beyond" = "wrap" }
[workload.uniform]
set = { "workload.pattern" = "uniform" }
[variant.greedy]
label = "GREEDY"
set = { "ftl.collect.policy" = "greedy" }
[variant.fifo]
set = { "ftl.collect.policy" = "fifo" }
[[batch]]
name = "w"
command = "run"
[[batch]]
name = "more"
command = "run"
variants = ["greedy"]
quick = false
[batch.each]
uniform = { "ftl.spare_factor" = 0.4 }
"""
EXPERIMENT = """
[drive]
capacity = "64 MiB"
[drive.geometry]
pages_per_block = 64
[ftl]
spare_factor = 0.2
precondition = "random"
[workload]
requests = 60000
"""
CLAIMS = """
[[claim]]
id = "greedy-below-fifo"
text = "Greedy moves less than FIFO & others"
where = "section 1"
judge = "order"
values = ["w.uniform.greedy.waf", "w.uniform.fifo.waf"]
direction = "rising"
[[claim]]
id = "never"
text = "Nothing is ever moved"
where = "section 2"
judge = "near"
value = "w.uniform.fifo.waf"
paper = 1.0
tolerance = 0.01
[[claim]]
id = "more-spare"
text = "More spare, less moved"
where = "section 3"
judge = "below"
value = "more.uniform.greedy.waf"
over = "w.uniform.greedy.waf"
than = 1.0
"""
TABLES = """
[[table]]
id = "t1"
title = "Table 1: WAF"
where = "section 1"
keys = ["policy"]
columns = [{ name = "WAF" }, { name = "programs, thousands", scale = 1000 }]
[[table.row]]
keys = ["GREEDY"]
paper = [1.5]
ours = ["w.uniform.greedy.waf", "w.uniform.greedy.flash.programs.total"]
[[table.row]]
keys = ["FIFO"]
ours = ["w.uniform.fifo.waf", ""]
"""
FIGURES = """
import altair as alt
from floatgate.pages.charts import data_chart, finished
from floatgate.papers import Figure

def figures(found):
    rows = [{"x": 1, "y": found.figure("doubled")}]
    chart = lambda width: finished(data_chart(rows).mark_point().encode(x="x:Q", y="y:Q"), width, 100)
    return [Figure("one", "Figure 1: a dot", "Where it is.", chart, "Figures of dots")]
"""
VALUES = """
def values(found):
    return {"doubled": 2 * found.figure("w.uniform.greedy.waf")}
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    folder.mkdir()
    for name, text in (
        ("paper.toml", PAPER),
        ("experiment.toml", EXPERIMENT),
        ("claims.toml", CLAIMS),
        ("tables.toml", TABLES),
        ("values.py", VALUES),
        ("figures.py", FIGURES),
    ):
        (folder / name).write_text(text)
    return folder


def test_claims_are_judged_by_what_was_run(tiny: Path) -> None:
    done = reproduce(load(str(tiny)))
    assert {verdict.claim.id: verdict.holds for verdict in done.verdicts} == {
        "greedy-below-fifo": True,
        "never": False,
        "more-spare": True,
    }
    assert done.findings.values["doubled"] == 2 * done.findings.results["w"]["uniform"]["greedy"]["waf"]
    answer = json.loads(json.dumps(done.to_dict()))
    assert (answer["schema"], answer["paper"], answer["quick"]) == ("floatgate.reproduce/1", "tiny", False)
    assert (answer["holds"], answer["fails"], answer["not_judged"]) == (2, 1, 0)
    claim = answer["claims"][1]
    assert {"id", "text", "paper", "ours", "holds"} <= set(claim)
    assert (claim["paper"], claim["holds"]) == (1.0, False)
    [table] = answer["tables"]
    greedy, fifo = (row["cells"] for row in table["rows"])
    assert greedy[0]["ratio"] == pytest.approx(greedy[0]["ours"] / 1.5)
    assert greedy[1]["ours"] == pytest.approx(
        done.findings.results["w"]["uniform"]["greedy"]["flash"]["programs"]["total"] / 1000
    )
    assert (greedy[1]["ratio"], fifo[0]["paper"], fifo[1]["ours"]) == (None, None, None)


def test_quick_settings_lie_over_the_others(tiny: Path) -> None:
    done = reproduce(load(str(tiny)), Settings(quick=True))
    runs = done.findings.results["w"]["uniform"]
    assert [runs[name]["config"]["workload"]["requests"] for name in ("greedy", "fifo")] == [20_000, 20_000]
    assert [runs[name]["config"]["ftl"]["spare_factor"] for name in ("greedy", "fifo")] == [0.2, 0.19]
    assert done.findings.results["more"]["uniform"] == {}


def test_quick_leaves_out_workloads_but_not_the_users_traces(tiny: Path, trace: Path) -> None:
    two = PAPER.replace("[variant.greedy]", '[workload.zipf]\nset = { "workload.pattern" = "zipf" }\n[variant.greedy]')
    two = two.replace("[quick.each]", 'workloads = ["uniform"]\n[quick.each]')
    (tiny / "paper.toml").write_text(two)
    paper = load(str(tiny))
    labels = {"full": Settings(), "quick": Settings(quick=True), "given": Settings(True, {"zipf": str(trace)})}
    findings = {name: [job.label for job in jobs(paper, settings)] for name, settings in labels.items()}
    assert findings == {"full": ["uniform", "zipf"], "quick": ["uniform"], "given": ["uniform", "zipf"]}
    done = reproduce(paper, Settings(quick=True))
    assert (done.findings.results["w"]["zipf"], done.failures) == ({}, [])
    (tiny / "paper.toml").write_text(two.replace('workloads = ["uniform"]', 'workloads = ["unifrom"]'))
    with pytest.raises(InputError, match=r"\[quick\] names workload 'unifrom'; expected some of"):
        load(str(tiny))


def test_the_page_has_every_claim_table_and_figure(tiny: Path) -> None:
    done = reproduce(load(str(tiny)), Settings(quick=True))
    page = done.report("floatgate reproduce tiny --quick")
    for claim in done.paper.claims:
        assert f'id="{claim.id}"' in page
    assert page.count("✓ holds") == 1
    assert page.count("✗ fails") == 1
    assert page.count("○ not judged") == 1
    for text in (
        "Greedy &lt;is&gt; best",
        "FIFO &amp; others",
        "Table 1: WAF (section 1)",
        "Figure 1: a dot",
        "Figures of dots",
        "Quick: fewer requests.",
        "floatgate reproduce tiny --quick",
        "and (not in --quick) elsewhere",
    ):
        assert text in page
    assert re.search(r"Greedy has \d\.\d\dx here", page)
    assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", page_scripts.without_scripts(page))


def test_a_module_of_a_paper_may_have_dataclasses(tiny: Path) -> None:
    lines = ["from __future__ import annotations", "from dataclasses import dataclass", "@dataclass", "class Plan:"]
    lines += ["    blocks: int", "def values(found):", "    return {'blocks': Plan(3).blocks}", ""]
    (tiny / "values.py").write_text("\n".join(lines))
    assert load(str(tiny)).values(Findings({})) == {"blocks": 3}


def test_a_claim_that_is_not_judged_is_counted_apart_with_its_reason(tiny: Path) -> None:
    claims = CLAIMS.replace('id = "never"', 'id = "never"\nnot_judged = "nothing is collected"')
    (tiny / "claims.toml").write_text(claims)
    done = Reproduction(load(str(tiny)), Settings(), Findings({}), [])
    assert done.headline() == "0 of 3 claims hold, 1 is not judged, 2 could not be judged"
    assert done.to_dict()["not_judged"] == 3
    page = done.report()
    assert page.count("○ not judged") == 3
    assert "Not judged: nothing is collected." in page


def test_the_command_line_judges_and_writes(cli: Cli, tiny: Path, tmp_path: Path) -> None:
    ended = cli("reproduce", tiny, "--quick", "--out", "page", "--json", "-", "--report")
    answer = json.loads(ended.done())
    assert [claim["holds"] for claim in answer["claims"]] == [True, False, None]
    assert "1 of 3 claims hold, 1 fail, 1 could not be judged" in ended.err
    assert sorted(file.name for file in (tmp_path / "page").iterdir()) == [
        "report.html",
        "reproduce.json",
        "results.json",
    ]
    assert json.loads((tmp_path / "page" / "reproduce.json").read_text())["claims"] == answer["claims"]
    assert "not empty" in cli("reproduce", tiny, "--out", "page").refused()


def test_a_trace_takes_a_workloads_place(cli: Cli, tiny: Path, trace: Path) -> None:
    answer = json.loads(cli("reproduce", tiny, "--trace", f"uniform={trace}", "--out", "o", "--json", "-").done())
    assert answer["traces"] == ["uniform"]
    results = json.loads((trace.parent / "o" / "results.json").read_text())
    workload = results["w"]["uniform"]["greedy"]["config"]["workload"]
    assert (workload["kind"], workload["beyond"]) == ("trace", "wrap")


@pytest.mark.parametrize("asks", ["", '[batch.each]\nuniform = { "workload.requests" = 1000 }\n'])
def test_what_counts_a_twins_requests_is_left_out_under_a_trace(tiny: Path, trace: Path, asks: str) -> None:
    later = LATER.replace(', "workload.requests" = 4000', "") if asks else LATER
    (tiny / "paper.toml").write_text(
        PAPER + later.replace('[[batch]]\nname = "last"', asks + '[[batch]]\nname = "last"')
    )
    paper = load(str(tiny))
    for traces, batches in (({}, {"w", "more", "later", "last"}), ({"uniform": str(trace)}, {"w", "more"})):
        made = jobs(paper, Settings(traces=traces))
        assert {place[0] for job in made for place in job.places} == batches


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nobody",), "unknown paper 'nobody'"),
        (("{tiny}", "--trace", "uniform"), "no file in it"),
        (("{tiny}", "--trace", "zipf=x"), "unknown workload 'zipf'; expected 'uniform'"),
        (("{tiny}", "--trace", "uniform=/nowhere.csv"), "/nowhere.csv: no such file"),
        (("{tiny}", "--trace", "uniform=/etc/hostname", "--trace", "uniform=/etc/hostname"), "given twice"),
    ],
)
def test_bad_names_are_refused(cli: Cli, tiny: Path, arguments: tuple[str, ...], message: str) -> None:
    assert message in cli("reproduce", *(text.format(tiny=tiny) for text in arguments)).refused()


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("paper.toml", 'title = "Greedy <is> best"', "", "no 'title'"),
        ("paper.toml", 'variants = ["greedy"]', 'variants = ["best"]', "unknown 'best'; variants are 'greedy', 'fifo'"),
        ("paper.toml", 'command = "run"', 'command = "walk"', "unknown command"),
        ("paper.toml", 'name = "w"', "", "without a name"),
        ("claims.toml", 'id = "never"', 'id = "more-spare"', "is there twice"),
        ("claims.toml", 'where = "section 2"', "", "claim 'never': no 'where'"),
        ("claims.toml", 'judge = "below"', 'judge = "belov"', "claim 'more-spare': unknown judge 'belov'"),
        ("claims.toml", "than = 1.0", "than = ", "expected TOML"),
    ],
)
def test_a_paper_that_is_wrong_says_where(tiny: Path, file: str, old: str, new: str, message: str) -> None:
    text = (tiny / file).read_text()
    assert old in text
    (tiny / file).write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        load(str(tiny))
    assert str(tiny / file) in str(caught.value)


LATER = """
[[batch]]
name = "later"
command = "run"
variants = ["greedy"]
from = "w"
responses = true
set = { mode = "timed", "ftl.separate.policy" = "none", "workload.requests" = 4000, "workload.read_share" = 0.5 }
[[batch]]
name = "last"
command = "run"
variants = ["greedy"]
from = "later"
set = { "ftl.separate.policy" = "none", "workload.requests" = 1000 }
"""


def test_a_batch_starts_from_the_drives_of_another(tiny: Path) -> None:
    (tiny / "paper.toml").write_text(PAPER + LATER)
    done = reproduce(load(str(tiny)))
    assert not done.failures
    first, later, last = (done.findings.results[batch]["uniform"]["greedy"] for batch in ("w", "later", "last"))
    assert [one["config"]["ftl"]["precondition"] for one in (first, later, last)] == ["random", "snapshot", "snapshot"]
    assert later["config"]["ftl"]["snapshot_hash"] != last["config"]["ftl"]["snapshot_hash"]
    reads = later["responses"]
    assert reads["reads"] == later["host"]["read_requests"] == pytest.approx(2000, rel=0.1)
    assert len(reads["longest_ms"]) == len(reads["p50_ms"]) == -(-reads["reads"] // reads["every"])
    assert max(reads["longest_ms"]) == pytest.approx(later["latency_us"]["read"]["max"] / 1000)
    assert all(0 < middle <= longest for middle, longest in zip(reads["p50_ms"], reads["longest_ms"], strict=True))
    assert "responses" not in last


def test_a_run_without_its_drive_is_left_out_and_says_why(tiny: Path) -> None:
    (tiny / "paper.toml").write_text(PAPER + LATER)
    text = (tiny / "experiment.toml").read_text()
    (tiny / "experiment.toml").write_text(text + "[drive.endurance]\npe_cycles = 1\n")
    (tiny / "values.py").unlink()
    (tiny / "figures.py").unlink()
    done = reproduce(load(str(tiny)))
    assert [done.findings.results[batch]["uniform"] for batch in ("w", "later", "last")] == [{}, {}, {}]
    assert "uniform: batch 'later' starts from the drives of batch 'w', which are missing" in done.failures
    assert "uniform: batch 'last' starts from the drives of batch 'later', which are missing" in done.failures


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('from = "w"', 'from = "nobody"', "batch 'later': starts from the unknown batch 'nobody'; expected one of 'w'"),
        ('from = "w"', 'from = "later"', "batch 'later': starts from itself by way of 'later'"),
        ('from = "w"', 'from = "last"', "batch 'later': starts from itself by way of 'last'"),
        ('from = "w"', 'from = "more"', "batch 'later': is part of a quick reproduction, and batch 'more', from which"),
        ('name = "w"\ncommand = "run"', 'name = "w"', "batch 'w' is of 'lifetime', which saves no drive"),
        (
            'name = "last"\ncommand = "run"',
            'name = "last"',
            "batch 'last' is of 'lifetime', which starts from no drive",
        ),
        ('variants = ["greedy"]\nfrom = "later"', 'from = "later"', "variant 'fifo' is not in batch 'later'"),
    ],
)
def test_a_batch_that_cannot_have_its_drive_is_refused(tiny: Path, old: str, new: str, message: str) -> None:
    text = PAPER + LATER
    assert old in text
    (tiny / "paper.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=re.escape(message)):
        load(str(tiny))


def test_a_run_that_fails_leaves_its_claims_unjudged(tiny: Path) -> None:
    text = (tiny / "experiment.toml").read_text()
    (tiny / "experiment.toml").write_text(text + "[drive.endurance]\npe_cycles = 1\n")
    (tiny / "values.py").unlink()
    (tiny / "figures.py").unlink()
    done = reproduce(load(str(tiny)))
    assert [verdict.holds for verdict in done.verdicts] == [None, None, None]
    assert done.failures
    assert "Failed: " in done.report()


def test_separators_go_through_a_trace_three_times_and_are_counted_twice(tmp_path: Path) -> None:
    # Naming a trace makes the core forget what an experiment of another kind of workload said of passes.
    paper = load("separation")
    prepared = paper.prepare(["gcc-build"], {}, tmp_path)["gcc-build"]
    base = paper.experiment.with_overrides([*paper.workloads["gcc-build"].overrides, *prepared])
    run = execute(base.with_overrides(paper.variants["host-gc"].overrides)).result.to_dict()
    assert run["host"]["page_writes"] == 2 * context_updates.read(library.path("gcc-build")).pages
    # The drive is full when counting begins: from then on blocks are collected as fast as they are written.
    assert run["gc"]["victims"] * 32 >= run["host"]["page_writes"]


def test_what_is_never_collected_has_no_dot_on_a_logarithmic_axis() -> None:
    rows = [{"thing": thing, "value": value, "series": "none"} for thing, value in (("a", 0.0), ("b", 2.0))]
    drawn = [look_of("none")]
    for log, things in ((True, ["b"]), (False, ["a", "b"])):
        chart = json.dumps(dots(rows, drawn, ["a", "b"], "seconds", log=log).to_dict())
        assert [thing for thing in ("a", "b") if f'"thing": "{thing}"' in chart] == things


def test_every_paper_that_ships_can_be_loaded(cli: Cli) -> None:
    listed = json.loads(cli("reproduce", "--json", "-").done())["papers"]
    assert [entry["name"] for entry in listed] == names()
    for name in names():
        assert load(name).claims
        assert name in cli("reproduce").done()


@pytest.mark.parametrize("name", names())
def test_the_page_names_every_rule_that_was_changed(name: str) -> None:
    page = Reproduction(load(name), Settings(quick=True), Findings({}), []).report()
    changed = [claim for claim in load(name).claims if "changed" in claim.rule]
    for claim in changed:
        assert re.search(rf"<li>Rule changed after a first run \([^)]*\b{claim.id}\b", page)
        assert escape(claim.rule["changed"]) in page
    assert ("All other rules are as they were written down before" in page) == bool(changed)


def test_ready_marks_the_rules_that_its_history_changed() -> None:
    changed = {claim.id: claim.rule["changed"] for claim in load("ready").claims if "changed" in claim.rule}
    assert set(changed) == {
        *("nt-is-service", "st-cap", "throughput-in-order", "opt-writes-more", "fixed-epochs-vary"),
        *("st-varies-more-than-opt", "st-varies-more-than-pes", "nt-varies-little", "pes-varies-more"),
        *("dt-steadier-than-st", "dt-restless", "demand-exchange", "prediction", "table2-exchange-st"),
        *("table2-proj-st", "table2-recovered", "table2-written", "st-writes-less-proj"),
    }
    assert "5 %; it was 2 %" in changed["nt-is-service"]


def test_the_picture_of_separators_begins_where_its_figures_do() -> None:
    values = {f"of.{one}/greedy.waf_ratio": 0.9 for one in ("none", "ora")}
    drawn = separation_figures(Findings({}, values))[0].draw(600).to_dict()
    scales = [layer["encoding"]["x"]["scale"] for layer in drawn["layer"]]
    assert all(scale == {"type": "linear", "zero": False} for scale in scales)


def test_what_table_2_forces_is_what_the_table_says() -> None:
    paper = load("ready")
    forced = paper.values(Findings({}))
    names = {"NT": "none", "ST": "static", "DT": "dynamic", "READY-OPT": "ready-optimistic"}
    [table] = [entry for entry in paper.tables if entry["id"] == "forced"]
    assert len(table["row"]) == 8
    for row in table["row"]:
        trace, label = row["keys"]
        assert row["paper"] == [pytest.approx(forced[f"forced.{trace}.{names[label]}"], abs=0.06)]


def test_a_calibrated_claim_is_marked_and_not_counted() -> None:
    paper = load("ready")
    done = Reproduction(paper, Settings(quick=True), Findings({}), [])
    calibrated = [claim for claim in paper.claims if claim.is_calibrated]
    assert calibrated
    assert sum(done.counts().values()) + len(done.undecided()) == len(paper.claims) - len(calibrated)
    assert f"{len(calibrated)} more are calibrated and not counted" in done.headline()
    marked = {claim["id"] for claim in done.to_dict()["claims"] if "calibrated" in claim}
    assert marked == {claim.id for claim in calibrated}
    assert done.report().count("Calibrated: ") == len(calibrated)


def test_ready_takes_responses_for_time_and_delay() -> None:
    """Without a throttle nothing is delayed: all responses are alike."""
    cdf = {"us": [0.0, 300.0], "share": [0.5, 1.0]}
    held = {"throttle": {"service_us": 600.0, "delay_us": {"mean": 150.0, "p99": 300.0, "cdf": cdf}}}
    plain = {"throttle": {"service_us": 600.0, "delay_us": None}}
    findings = Findings({"lives": {"proj": {"static": held, "none": plain}}})
    made = ready_values.responses(findings)
    assert made["lives.proj.static.response_us.mean"] == 750.0
    assert made["lives.proj.static.response_us.p99"] == 900.0
    assert made["lives.proj.none.response_us.mean"] == 600.0
    assert ready_values.spread_of(held) == pytest.approx(150.0)
    assert ready_values.spread_of(plain) == 0.0
    assert ready_values.spread_of({}) is None
