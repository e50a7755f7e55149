"""``floatgate trace generate``: patterns, micro-benchmarks, twins, and twins of traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli


def facts(cli: Cli, path: str | Path, *options: str) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(cli("trace", "info", path, "--json", *options).done())
    return shown


def test_the_list_names_twins_and_micro_benchmarks(cli: Cli) -> None:
    listed = json.loads(cli("trace", "generate", "--list", "--json").done())
    assert len(listed["micro_benchmarks"]) == 40
    assert len(listed["twins"]) == 21
    text = cli("trace", "generate", "--list").done()
    for name in ("proxy", "financial2", "512b-rd-50w-no-align"):
        assert name in text


def test_a_twin_becomes_a_trace(cli: Cli, tmp_path: Path) -> None:
    answer = json.loads(
        cli("trace", "generate", "--twin", "multi", "--requests", "20000", "-o", "m.csv", "--json").done()
    )
    assert (answer["format"], answer["requests"], answer["seed"]) == ("msr", 20_000, 1)
    twin = facts(cli, tmp_path / "m.csv")
    assert twin["requests"] == 20_000
    assert twin["reads"] / 20_000 == pytest.approx(0.98, rel=0.01)


def test_a_seed_makes_the_same_trace_again(cli: Cli, tmp_path: Path) -> None:
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        args = ("--pattern", "jesd219", "--size", "64MiB", "--requests", "2000", "--seed", seed, "-o", f"{name}.mqsim")
        cli("trace", "generate", *args).done()
    a, b, c = ((tmp_path / f"{name}.mqsim").read_bytes() for name in "abc")
    assert a == b
    assert a != c


def test_every_format_holds_the_same(cli: Cli) -> None:
    making = ["--pattern", "jobs", "--drive-bytes", "1 GiB", "--requests", "3000", "--read-share", "0.25"]
    making += ["--set", "sizes=[[4096, 3], [16384, 1]]", "--set", "rate_per_s=1000", "--set", "random_share=0.5"]
    counted = []
    for name in ("t.csv", "t.iolog", "t.mqsim"):
        output = cli("trace", "generate", *making, "-o", name).done()
        assert output.startswith(f"{name}: 3000 requests")
        form = {"t.csv": "msr", "t.iolog": "fio-iolog", "t.mqsim": "mqsim"}[name]
        twin = facts(cli, name, "--format", form)
        counted.append([twin[key] for key in ("reads", "writes", "read_bytes", "write_bytes", "rewrite_share")])
    assert counted[0] == counted[1] == counted[2]


def test_parquet_holds_every_request(cli: Cli, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    cli(
        "trace", "generate", "--micro", "8k-sq-50w-align", "--size", "1GiB", "--requests", "500", "-o", "p.parquet"
    ).done()
    rows = pq.read_table(tmp_path / "p.parquet").to_pydict()
    assert rows["offset"] == [number * 8192 for number in range(500)]
    assert set(rows["bytes"]) == {8192}
    assert 200 < rows["op"].count("write") < 300


def test_the_twin_of_a_trace_is_like_it(cli: Cli, trace: Path, tmp_path: Path) -> None:
    cli("trace", "generate", "--fit", trace, "-o", "twin.toml").done()
    assert (tmp_path / "twin.toml").read_text().startswith("# fitted to 1100 requests")
    cli("trace", "generate", "--twin", "twin.toml", "-o", "again.csv").done()
    before, after = facts(cli, trace), facts(cli, "again.csv")
    assert after["requests"] == before["requests"]
    assert after["duration_s"] == pytest.approx(before["duration_s"], rel=0.05)
    assert after["mean_write_bytes"] == pytest.approx(before["mean_write_bytes"], rel=0.05)


def test_a_run_takes_a_twin(cli: Cli, tmp_path: Path) -> None:
    settings = ("--set", "workload.twin=multi", "--set", "drive.capacity=1GiB", "--set", "workload.requests=20000")
    result = json.loads(cli("run", *settings, "--no-report", "--json", "-").done())
    assert result["config"]["workload"]["twin"] == "multi"
    assert result["host"]["read_requests"] == pytest.approx(19_600, rel=0.01)


def test_many_cursors_issue_a_trace(cli: Cli, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    making = ("trace", "generate", "--twin", "tatp", "--requests", "5000")
    cli(*making, "-o", "one.parquet").done()
    cli(*making, "--set", "read_amplification=4", "--set", "gap_spread=0.5", "-o", "four.parquet").done()
    amplified = ("--read-amplification", "4", "--gap-spread", "0.5")
    answer = json.loads(cli("trace", "convert", "one.parquet", "again.parquet", *amplified, "--json").done())
    assert answer["requests"] == 20_000
    cli("trace", "convert", "one.parquet", "other.parquet", *amplified, "--amplification-seed", "2").done()
    four, again, other = (pq.read_table(tmp_path / f"{name}.parquet") for name in ("four", "again", "other"))
    # A trace that is read begins at time 0.
    assert four.drop(["time_ns"]).equals(again.drop(["time_ns"]))
    assert not four["offset"].equals(other["offset"])
    before, after = facts(cli, "one.parquet"), facts(cli, "four.parquet")
    assert after["reads"] == 4 * before["reads"]
    assert after["pages_read_distinct"] == before["pages_read_distinct"]
    assert after["duration_s"] == pytest.approx(before["duration_s"], rel=0.1)
    answer = cli("trace", "convert", "one.parquet", "x.csv", "--gap-spread", "0.5").refused()
    assert answer == "--gap-spread: a single cursor has no spread and no seed; add --read-amplification"


def test_a_file_in_the_way_is_kept(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("mine")
    making = ("trace", "generate", "--pattern", "zipf", "--size", "1GiB", "--requests", "10", "-o", "x.csv")
    assert cli(*making).refused() == "x.csv: exists already; expected a new file, or --force"
    assert (tmp_path / "x.csv").read_text() == "mine"
    cli(*making, "--force").done()


ONE_OF_THEM = "expected exactly one of --twin, --pattern, --micro, --fit, or --list"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [],
            f"floatgate trace generate: no workload is named; {ONE_OF_THEM}",
        ),
        (
            ["--twin", "multi", "--pattern", "zipf"],
            f"floatgate trace generate: --twin and --pattern exclude each other; {ONE_OF_THEM}",
        ),
        (
            ["--pattern", "zipf"],
            '--drive-bytes: the size of the address space is missing; expected a size such as "64 GiB"',
        ),
        (
            ["--pattern", "jobs", "--size", "1GiB", "--set", "random_share=2"],
            "workload.random_share: random_share is 2; expected a number from 0 to 1",
        ),
        (
            ["--twin", "multi", "--size", "1MiB"],
            (
                "workload.twin: the twin takes 671088640 bytes of a drive that shows 1048576; "
                'expected a larger drive, or beyond = "scale" or "wrap"'
            ),
        ),
        (
            ["--pattern", "diagonal", "--size", "1GiB"],
            (
                "workload.pattern: unknown pattern 'diagonal'; "
                "expected one of 'sequential', 'uniform', 'permutation', 'zipf', 'hot-cold' or 2 others "
                "('floatgate schema' lists all)"
            ),
        ),
        (["--twin", "multi", "--lba-unit", "byte"], "--lba-unit: applies only to --fit"),
        (
            ["--fit", "x.csv", "--requests", "5"],
            "--requests: applies to traces, not to twins; expected no --fit with it",
        ),
    ],
)
def test_what_cannot_be_made_is_refused(cli: Cli, tmp_path: Path, arguments: list[str], message: str) -> None:
    assert cli("trace", "generate", *arguments, "-o", "out.csv").refused() == message
    assert not (tmp_path / "out.csv").exists()


def test_unknown_names_are_quoted_with_the_valid_ones(cli: Cli) -> None:
    refused = cli("trace", "generate", "--twin", "prox", "-o", "o.csv").refused()
    assert refused.startswith("workload.twin: unknown twin 'prox'; did you mean 'proxy' or 'proj'?")
    refused = cli("trace", "generate", "--micro", "4k", "--size", "1GiB", "-o", "o.csv").refused()
    assert refused.startswith("workload.micro: unknown micro '4k'; expected one of '512b-sq-100w-align', ")
    refused = cli("trace", "generate", "--twin", "multi", "-o", "o.csv", "--to", "spc").refused()
    assert refused.startswith("--to: 'spc' cannot be written; expected one of 'parquet', ")
    assert cli("trace", "generate", "--twin", "multi").refused() == "--out: no file to write to; expected -o OUT"
