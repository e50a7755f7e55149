"""``floatgate rb`` on what sigrok-cli itself writes: the counts of the raw samples, from each of its formats."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from floatgate.base.errors import InputError
from floatgate.lab import rb
from rb_captures import INTERVAL, SHAPE, Pin, counts_of, draw, samples

pytestmark = pytest.mark.skipif(shutil.which("sigrok-cli") is None, reason="sigrok-cli is not installed")

RATES = {1_000_000: 1.0, 24_000: 1e3 / 24}
"""Samples a second, and microseconds of each. A sample of 24 kHz takes no whole number of microseconds."""


def sigrok(*arguments: str | Path) -> None:
    subprocess.run(["sigrok-cli", *map(str, arguments)], check=True, capture_output=True, timeout=60)


def made(folder: Path, rate: int) -> tuple[list[Pin], list[str | Path], Path]:
    """Pins, the arguments that read them as raw samples, and a session of them."""
    pins = [draw(random.Random(seed), RATES[rate], programs=50) for seed in (1, 2)]
    raw, saved = folder / "raw.bin", folder / "d.sr"
    raw.write_bytes(samples(pins))
    source: list[str | Path] = ["-I", f"binary:numchannels=2:samplerate={rate}", "-i", raw]
    sigrok(*source, "-O", "srzip", "-o", saved)
    return pins, source, saved


def check(path: Path, pins: list[Pin], time_unit: str | None = None) -> dict[str, object]:
    facts = rb.measure([path], SHAPE, rb.Settings(program_us=INTERVAL, time_unit=time_unit))
    assert counts_of(facts) == [pin.counts for pin in pins], path.name
    return facts


@pytest.mark.parametrize("rate", RATES)
def test_files_of_sigrok_cli_give_the_counts_of_the_samples(tmp_path: Path, rate: int) -> None:
    pins, source, saved = made(tmp_path, rate)
    facts = check(saved, pins)
    assert facts["step_us"] == pytest.approx(RATES[rate])
    for number, options in enumerate((
        "csv", "csv:label=channel", "csv:label=off", "csv:time=true", "csv:time=true:label=channel",
        "csv:time=true:label=off", "csv:time=true:dedup=true", "csv:time=true:dedup=true:label=channel",
        "csv:time=true:dedup=true:label=off", "vcd",
    )):  # fmt: skip
        path = tmp_path / f"{number}-{options.replace(':', '-')}"
        sigrok("-i", saved, "-O", options, "-o", path)
        facts = check(path, pins)
        assert facts["unclassified"] == 0, options
        if "time" not in options and options != "vcd":
            assert facts["step_us"] == pytest.approx(RATES[rate]), options
    # Without time, of raw samples too; their rate stands in a line of its own.
    for options in ("csv", "csv:label=channel", "csv:label=off", "csv:header=false", "vcd"):
        path = tmp_path / f"raw-{options.replace(':', '-')}"
        sigrok(*source, "-O", options, "-o", path)
        check(path, pins)


def test_times_of_sigrok_cli_are_not_slower_than_its_samples(tmp_path: Path) -> None:
    """At 24 kHz sigrok-cli takes 41 us for a sample of 41.67 us; 60 samples last 2500 us all the same."""
    pin = Pin(0, [(9, 69), (90, 150), (170, 190)])
    (tmp_path / "raw.bin").write_bytes(samples([pin]))
    sigrok(
        "-I",
        "binary:numchannels=1:samplerate=24000",
        "-i",
        tmp_path / "raw.bin",
        "-O",
        "srzip",
        "-o",
        tmp_path / "d.sr",
    )
    for number, options in enumerate(("csv:time=true", "csv:time=true:dedup=true:label=channel", "csv")):
        path = tmp_path / f"{number}.csv"
        sigrok("-i", tmp_path / "d.sr", "-O", options, "-o", path)
        for interval, expected in (("2490..2510", 2), ("2440..2480", 0), ("820..850", 1)):
            facts = rb.measure([path], SHAPE, rb.Settings(program_us=interval))
            assert facts["programs"] == expected, (options, interval)


def test_files_without_a_rate_ask_for_it(tmp_path: Path) -> None:
    pins, _, saved = made(tmp_path, 1_000_000)
    sigrok("-i", saved, "-O", "csv:header=false", "-o", tmp_path / "a.csv")
    with pytest.raises(InputError, match="rows have no time, and the file does not say its sample rate"):
        rb.measure([tmp_path / "a.csv"], SHAPE)
    check(tmp_path / "a.csv", pins, "1us")
    sigrok("-i", saved, "-O", "csv:header=false:time=true", "-o", tmp_path / "b.csv")
    check(tmp_path / "b.csv", pins)
    sigrok("-i", saved, "-O", "csv:header=false:time=true:label=off", "-o", tmp_path / "c.csv")
    with pytest.raises(InputError, match="does not say the unit of its times; pass it, as in --time-unit 1us"):
        rb.measure([tmp_path / "c.csv"], SHAPE)
    check(tmp_path / "c.csv", pins, "1us")


def test_times_of_raw_samples_are_refused(tmp_path: Path) -> None:
    """Of raw samples sigrok-cli does not know the rate in time: it writes 0 for each."""
    _, source, _ = made(tmp_path, 1_000_000)
    for options in ("csv:time=true", "csv:time=true:dedup=true", "csv:time=true:dedup=true:label=channel"):
        path = tmp_path / "t.csv"
        sigrok(*source, "-O", options, "-o", path)
        with pytest.raises(InputError, match="all times are equal; expected times that rise"):
            rb.measure([path], SHAPE)
