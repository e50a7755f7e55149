"""DiskSim's SSD extension beside floatgate: its files read, its arithmetic, and its model against the engine."""

from __future__ import annotations

import dataclasses
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

import floatgate
from validation.disksim.compare import by_operation, compare, ended, pages_by_element, run, times_of
from validation.disksim.drive import drive_of, settings_of
from validation.disksim.model import FLOATGATE, Drive, Request, Rules, Simulation, as_credited
from validation.disksim.results import parse_parameters, parse_results, read_results

PARAMETERS = """
disksim_bus BUSTOP {
   type = 1,
   Read block transfer time = 0.0,
   Write block transfer time = 0.0
}
disksim_bus BUSHBA {
   # 0.238 us
   Read block transfer time = 0.0002384,
   Write block transfer time = 0.0002384
}
ssdmodel_ssd SSD {
   Reserve pages percentage = 25,
   Minimum free blocks percentage = 7,   # of a plane
   Write policy = 2,
   Cleaning policy = 2,
   Planes per package = 2,
   Blocks per plane = 16,
   Plane block mapping = 3,
   Copy back = 1,
   Number of parallel units = 1,
   Allocation pool logic = 1,
   Elements per gang = 1,
   Cleaning in background = 0,
   Command overhead =  0.00,
   Bus transaction latency =  0.0,
   Bulk sector transfer time =  0,
   Flash chip elements = 2,
   Page size = 8,
   Pages per block = 8,
   Element stride pages = 1,
   Never disconnect =  1,
   Max queue length =  20,
   Scheduler = disksim_ioqueue {
     Scheduling policy =  1,
     Write policy = 7
   },
   Chip xfer latency = 0.000025,
   Page read latency = 0.025,
   Page write latency = 0.200,
   Block erase latency = 1.5
}
"""
SMALL = Drive(elements=2, planes=2, blocks_per_plane=16, pages_per_block=8, reserved_blocks=4, clean_blocks=1)
ELEMENT = """ssd  #0 elem #{n}   Total reqs issued:\t{n}2
ssd  #0 elem #{n}   Total time taken:\t105.37
ssd  #0 elem #{n}   IOPS:\t4113.996482
ssd  #0 elem #{n}   Total cleaning reqs issued:\t7
ssd  #0 elem #{n}   Total cleaning time taken:\t10.500000
ssd  #0 elem #{n}   Number of free blocks:\t824
ssd  #0 elem #{n}   Number of cleans:\t7
ssd  #0 elem #{n}   Pages moved:\t3
ssd  #0 elem #{n}   Plane Level Statistics
ssd  #0 elem #{n}   0:(4)  1:(3)
ssd  #0 elem #{n}   < 20\t< 40
"""


def law(name: str, mean: float, bins: str) -> str:
    return (
        f"{name} time average: \t{mean}\n{name} time std.dev.:\t1.5\n{name} time maximum:\t68.054171\n"
        f"{name} time distribution\n   <  5    < 10   200+\n  {bins}\n"
    )


RESULTS = (
    PARAMETERS
    + "Total time of run:       498398.596000\n\nOverall I/O System Total Requests handled:\t5\n"
    + law("Overall I/O System Response", 4.25, "3 1 0 0 1 0 0 0 0 0")
    + law("Overall I/O System Non-Critical Read Response", 2.5, "3 0 0 0 0 0 0 0 0 0")
    + law("Overall I/O System Non-Critical Write Response", 9.5, "0 1 0 0 1 0 0 0 0 0")
    + "ssd Queue time average: \t0.041653\nssd Physical access time distribution\n"
    + " 0.000  \t      0  \t0.000000  \t0.000000\n 0.133  \t      3  \t0.600000  \t0.600000\n"
    + " 9.999+ \t      2  \t0.400000  \t1.000000\nssd Number of batches:  0\n"
    + ELEMENT.format(n=0)
    + ELEMENT.format(n=1)
)


def test_results_are_found_by_their_words() -> None:
    results = parse_results(RESULTS, "a.outv")
    assert results.end_ms == 498398.596
    assert results.requests == 5
    times = results.times
    assert [(op, times[op].count, times[op].mean) for op in times] == [
        ("all", 5, 4.25),
        ("read", 3, 2.5),
        ("write", 2, 9.5),
    ]
    assert times["all"].bins == (3, 1, 0, 0, 1, 0, 0, 0, 0, 0)
    assert times["all"].longest == 68.054171
    assert results.access == ((0.0, 0.0), (0.133, 0.6), (9.999, 1.0))
    assert results.link_wait_ms == 0.041653
    assert [element.page_requests for element in results.elements] == [2, 12]
    element = results.elements[1]
    assert (element.busy_ms, element.cleans, element.clean_ms, element.pages_moved) == (105.37, 7, 10.5, 3)
    assert (element.free_blocks, element.cleans_by_plane) == (824, (4, 3))


@pytest.mark.parametrize(
    ("gone", "named"),
    [
        ("Total time of run", "'Total time of run'"),
        ("ssd  #0 elem #1   Pages moved", "'ssd  #0 elem #1   Pages moved'"),
        ("Overall I/O System Response time distribution", "'Overall I/O System Response time distribution'"),
        ("ssd  #0 elem", "'ssd  #0 elem #0'"),
    ],
)
def test_results_without_a_figure_are_refused(gone: str, named: str) -> None:
    with pytest.raises(floatgate.InputError, match=r"^a\.outv: no ") as refused:
        parse_results(RESULTS.replace(gone, "x"), "a.outv")
    assert named in str(refused.value)


def test_results_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(floatgate.InputError, match=r"No such file.*; expected results of DiskSim"):
        read_results(tmp_path / "a.outv")
    (tmp_path / "a.outv").write_bytes(b"\xff\xfe")
    with pytest.raises(floatgate.InputError, match="no text; expected results of DiskSim"):
        read_results(tmp_path / "a.outv")


def test_parameters_become_a_drive() -> None:
    drive = drive_of(parse_parameters(PARAMETERS), "a.parv")
    assert drive == SMALL
    settings = settings_of(drive)
    # An element is one plane of 2 x 16 blocks of 7 data pages; cleaning keeps 2 x (1 + 1) of them free.
    assert settings["drive.geometry.blocks_per_plane"] == 32
    assert settings["drive.geometry.pages_per_block"] == 7
    assert settings["ftl.spare_factor"] == 0.25
    assert settings["ftl.collect.trigger_free_blocks"] == settings["ftl.collect.stop_free_blocks"] == 4
    # 8 sectors of 528 bytes at 0.025 us a byte are 105.6 us.
    assert 4096 / settings["drive.timing.channel_mb_per_s"] == pytest.approx(105.6, abs=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Copy back = 1", "Copy back = 0", "ssdmodel_ssd: 'Copy back' = 0; expected 1 (pages are moved inside"),
        ("   Page read latency = 0.025,\n", "", "ssdmodel_ssd: no 'Page read latency'; expected parameters"),
        ("Block erase latency = 1.5", "Block erase latency = long", "'Block erase latency' = long; expected a number"),
        ("Write block transfer time = 0.0002384", "Write block transfer time = 1", "expected equal ones"),
        ("Flash chip elements = 2", "Flash chip elements = 0", "no pages; expected elements"),
    ],
)
def test_other_drives_are_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(floatgate.InputError) as refused:
        drive_of(parse_parameters(PARAMETERS.replace(old, new)), "a.parv")
    assert str(refused.value).startswith("a.parv: ")
    assert message in str(refused.value)


def served(drive: Drive, rules: Rules, requests: list[Request]) -> list[float]:
    """Response times in microseconds."""
    return [round(ms * 1e3, 6) for ms in Simulation(drive, rules).run(requests).response_ms]


def at(*requests: tuple[float, int, int, str]) -> list[Request]:
    return [Request(ms, page, pages, op == "r") for ms, page, pages, op in requests]


def test_pages_take_what_the_published_arithmetic_says() -> None:
    # Read 25 + 105.6, write 105.6 + 200; over the link 8 sectors of 0.2384 us each, before a write, after a read.
    requests = at((0, 0, 1, "r"), (1, 0, 1, "w"))
    assert served(SMALL, Rules(), requests) == [132.5072, 307.5072]
    assert served(SMALL, FLOATGATE, requests) == [130.6, 305.6]
    # Four pages over two elements: two each, one after the other.
    assert served(SMALL, FLOATGATE, at((0, 0, 4, "w"))) == [611.2]
    # The second write's data wait for the link while the first one's are on it; its element is free.
    assert served(SMALL, Rules(), at((0, 0, 1, "w"), (0, 1, 1, "w"))) == [307.5072, 309.4144]


def test_a_summary_goes_with_the_last_page_of_a_block() -> None:
    one_plane = dataclasses.replace(SMALL.in_one_plane(), elements=1)
    requests = at(*((float(k), k, 1, "w") for k in range(8)))
    times = served(one_plane, dataclasses.replace(FLOATGATE, summary=True), requests)
    # 528 bytes over the pins and one more program.
    assert times == [305.6] * 6 + [305.6 + 13.2 + 200] + [305.6]


# One element of 8 blocks of 4 data pages (and a summary), 4 of them full; cleaning below 2 free ones.
TINY = Drive(elements=1, planes=1, blocks_per_plane=8, pages_per_block=5, reserved_blocks=4, clean_blocks=1)
# Three pages of the first block, two of each other one are written anew, to two blocks. The last opens a third.
WRITTEN = [0, 1, 2, 4, 5, 8, 9, 12, 13]
CLEANING = at(*((10.0 * k, page, 1, "w") for k, page in enumerate(WRITTEN)), (90.0, 3, 1, "r"))


def test_a_cleaning_costs_a_read_and_a_program_a_page_and_an_erase(tmp_path: Path) -> None:
    # The first block holds page 3 alone: 25 + 200, without a transfer, then 1500; then the write, 305.6.
    want = [305.6] * 8 + [225 + 1500 + 305.6, 130.6]
    assert served(TINY, FLOATGATE, CLEANING) == want
    # DiskSim cleans before the request after the one that made it due.
    assert served(TINY, dataclasses.replace(FLOATGATE, late_clean=True), CLEANING) == [305.6] * 9 + [1725 + 130.6]
    ours = run(settings_of(TINY), trace_of(tmp_path, CLEANING))
    assert [round(ms * 1e3, 3) for ms in ours.response_ms] == want
    assert (ours.result["gc"]["victims"], ours.result["gc"]["copied_pages"]) == (1, 1)
    assert ours.result["jobs"]["foreground_s"] + ours.result["jobs"]["background_s"] == pytest.approx(
        1725e-6, rel=1e-12
    )


def trace_of(folder: Path, requests: list[Request]) -> Path:
    """The requests as DiskSim reads them."""
    path = folder / "t.disksim"
    lines = (f"{r.arrival_ms:.3f} 0 {r.page * 8} {r.pages * 8} {int(r.read)}\n" for r in requests)
    path.write_text("".join(lines))
    return path


def rewrites(seed: int) -> list[Request]:
    """Runs of writes that leave dead blocks behind, and reads; bursts deeper than the drive's queue."""
    draw = random.Random(seed)
    pages = SMALL.elements * 24 * 7
    requests, now, next_page = [], 0.0, 0
    for _ in range(1500):
        now = round(now + draw.choice([0, 0, 0.001, 0.2, 3, 30]), 3)
        size = draw.randint(1, 12)
        if draw.random() < 0.4:
            requests.append(Request(now, draw.randrange(pages - size), size, read=True))
        else:
            size = min(size, pages - next_page)
            requests.append(Request(now, next_page, size, read=False))
            next_page = (next_page + size) % pages
    return requests


@pytest.mark.parametrize("seed", range(4))
def test_floatgate_takes_the_models_time_for_each_request(tmp_path: Path, seed: int) -> None:
    requests = rewrites(seed)
    model = Simulation(SMALL.in_one_plane(), FLOATGATE).run(requests)
    ours = run(settings_of(SMALL), trace_of(tmp_path, requests))
    assert max(abs(a - b) for a, b in zip(model.response_ms, ours.response_ms, strict=True)) < 1e-6, seed
    assert ours.result["flash"]["erases"]["total"] == sum(map(sum, model.cleans)) > 100
    assert ours.result["gc"]["copied_pages"] == model.pages_moved == 0
    assert model.page_requests == pages_by_element(requests, SMALL.elements)
    busy = ours.result["flash"]["time_s"]["host"]
    assert busy == pytest.approx(sum(model.busy_ms) / 1e3, rel=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_planes_of_an_element_gain_nothing_by_themselves(tmp_path: Path, seed: int) -> None:
    """The same with planes that pages name by their number: an element is as slow, only cleaning comes otherwise."""
    requests = rewrites(seed)
    rules = dataclasses.replace(FLOATGATE, most_free=False)
    model = Simulation(SMALL, rules).run(requests)
    planes = {
        "drive.geometry.planes_per_die": SMALL.planes,
        "drive.geometry.blocks_per_plane": SMALL.blocks_per_plane,
        "ftl.collect.mode": "whole-block",
        "ftl.collect.trigger_free_blocks": SMALL.clean_blocks + 1,
        "ftl.collect.stop_free_blocks": SMALL.clean_blocks + 1,
    }
    ours = run(settings_of(SMALL) | planes, trace_of(tmp_path, requests))
    assert max(abs(a - b) for a, b in zip(model.response_ms, ours.response_ms, strict=True)) < 1e-6, seed


def test_completions_are_booked_by_address() -> None:
    requests = at((0, 5, 1, "r"), (0, 5, 1, "w"), (0, 9, 1, "w"))
    outcome = Simulation(SMALL, FLOATGATE).run(requests)
    # All on one element: they end in order, at 130.6, 436.2 and 741.8 us.
    assert [round(ms * 1e3, 3) for ms in outcome.done_ms] == [130.6, 436.2, 741.8]
    assert as_credited(requests, outcome, 9.0) == outcome.response_ms
    # Without the third, the read's end finds the write, which came last.
    two = Simulation(SMALL, FLOATGATE).run(requests[:2])
    assert [round((ms or 0) * 1e3, 3) for ms in as_credited(requests[:2], two, 9.0)] == [436.2, 130.6]
    # What ends after the run is in no figure.
    assert as_credited(requests, outcome, 0.5)[2] is None


def test_times_are_summed_up_as_disksim_does() -> None:
    times = times_of([4.999, 5.0, 250.0])
    assert times.bins == (1, 1, 0, 0, 0, 0, 0, 0, 0, 1)
    assert times.mean == pytest.approx(86.666333)
    assert times.longest == 250.0


def test_parts_of_pages_are_refused(tmp_path: Path) -> None:
    trace = tmp_path / "t.disksim"
    trace.write_text("0.0 0 0 8 1\n1.0 0 8 4 1\n")
    with pytest.raises(floatgate.InputError, match="request 2 is in part of a page; expected whole pages"):
        run(settings_of(SMALL), trace)


def test_the_script_sets_both_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "a.parv").write_text(PARAMETERS)
    (tmp_path / "a.outv").write_text(RESULTS)
    trace = trace_of(tmp_path, rewrites(1))
    script = Path(__file__).parents[2] / "scripts" / "compare_disksim.py"
    command = [sys.executable, str(script), str(tmp_path), "a", str(trace)]
    done = subprocess.run([*command, "--causes", "--json", "-"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    rows = {row["figure"]: row for row in document["rows"]}
    assert rows["response all, mean, ms"]["disksim"] == 4.25
    assert rows["cleans (blocks erased)"]["disksim"] == 14
    assert rows["access p50, ms"]["disksim"] == 0.133
    assert [step["step"] for step in document["ladder"]][:2] == ["DiskSim", "model of its rules"]
    assert document["ladder"][-1]["apart_from_the_step_before_ns"] < 1
    assert "Rule by rule" in done.stderr
    wrong = subprocess.run([*command, "--set", "drive.speed=1"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("error: ")
    assert "drive.speed" in wrong.stderr
    (tmp_path / "a.parv").unlink()
    gone = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (gone.returncode, gone.stdout) == (2, "")
    assert "expected parameters of DiskSim (.parv)" in gone.stderr


SAMPLES = Path(__file__).parents[3] / "shared/traces/disksim"


@pytest.mark.long
@pytest.mark.skipif(not SAMPLES.exists(), reason="the sample traces are not beside the checkout (../shared/traces)")
def test_disksims_own_results_are_explained() -> None:
    both = compare(SAMPLES / "reference", "ssd-postmark", SAMPLES / "postmark.disksim.zst")
    requests, theirs = both.ours.requests, both.theirs
    end = requests[-1].arrival_ms
    model = Simulation(both.drive, Rules()).run(requests)
    assert model.cleans == [list(element.cleans_by_plane) for element in theirs.elements]
    for op, times in by_operation(requests, as_credited(requests, model, end)).items():
        assert times.count == theirs.times[op].count
        # The responses of all writes add up to 1.2 ms more in the model; of what, is not known.
        assert times.mean == pytest.approx(theirs.times[op].mean, rel=1e-5), op
        assert times.std == pytest.approx(theirs.times[op].std, rel=1e-5), op
        assert times.longest == pytest.approx(theirs.times[op].longest, abs=1e-6), op
    # Without the rules that floatgate lacks, each request takes as long as there.
    plain = Simulation(both.drive.in_one_plane(), FLOATGATE).run(requests)
    ours = both.ours
    assert max(abs(a - b) for a, b in zip(plain.response_ms, ours.response_ms, strict=True)) < 1e-6
    assert ours.result["flash"]["erases"]["total"] == sum(map(sum, plain.cleans)) == 21_581
    assert len([ms for ms in ended(ours) if ms is not None]) == theirs.requests
    assert pages_by_element(requests, 8)[1:] == [element.page_requests for element in theirs.elements][1:]
