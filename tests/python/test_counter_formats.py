"""Readings of all tools and versions: random counters are printed, and read back exactly.

``FLOATGATE_SEED`` repeats a failure, ``FLOATGATE_COUNTERS`` says how many drives each tool prints.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from counter_texts import SERIAL, TOOLS, Truth, random_truths
from floatgate.base.errors import InputError
from floatgate.lab.counters import collecting, documents, formats, prometheus, times
from floatgate.lab.counters.facts import of_series
from floatgate.lab.counters.reading import NOTHING_STATED, Document, Reading, Role, Stated

SEED = int(os.environ.get("FLOATGATE_SEED", "1"))
DRIVES = int(os.environ.get("FLOATGATE_COUNTERS", "40"))
WANTED = collecting.Wanted()


def read(path: Path, text: str) -> list[Reading]:
    path.write_text(text, "utf-8")
    return prometheus.settled(collecting.of_file(str(path), WANTED))


def check(name: str, truth: Truth, reading: Reading) -> None:
    """A reading is what the tool could print of the truth."""
    expected = TOOLS[name].expected(truth)
    assert (reading.host and reading.host.value_bytes) == expected.host
    assert (reading.media and reading.media.value_bytes) == expected.media
    if expected.hours:
        assert reading.power_on_hours == truth.hours
    if expected.percent:
        assert reading.percent_used == truth.percent
    if expected.time:
        assert reading.time_s == truth.time_s
    if expected.serial:
        assert reading.serial == SERIAL
    assert reading.questions == ()


@pytest.mark.parametrize("name", TOOLS)
def test_random_counters_are_read_back_exactly(name: str, tmp_path: Path) -> None:
    for number in range(DRIVES):
        dice = random.Random(f"{SEED}:{name}:{number}")
        (truth,) = random_truths(dice, 1)
        # One value of an exporter may be a multiple of several units; it is refused (below).
        truth = replace(truth, units=truth.units - truth.units % 1000 + 1)
        (reading,) = read(tmp_path / "reading", TOOLS[name].print(truth))
        print(f"FLOATGATE_SEED={SEED}, {name}, drive {number}: {truth}")
        check(name, truth, reading)


@pytest.mark.parametrize("name", TOOLS)
def test_differences_of_random_counters_are_exact(name: str, tmp_path: Path) -> None:
    for number in range(DRIVES // 4):
        dice = random.Random(f"{SEED}:pairs:{name}:{number}")
        truths = [replace(truth, units=truth.units + 1) for truth in random_truths(dice, 3)]
        print(f"FLOATGATE_SEED={SEED}, {name}, drive {number}: {truths}")
        for place, truth in enumerate(truths):
            (tmp_path / f"{place}.txt").write_text(TOOLS[name].print(truth), "utf-8")
        expected = [TOOLS[name].expected(truth) for truth in (truths[0], truths[-1])]
        series = collecting.series([str(tmp_path / f"{place}.txt") for place in range(3)], WANTED)
        total = of_series(series)["total"]
        if expected[0].host is not None and expected[1].host is not None:
            assert total["host_bytes"] == expected[1].host - expected[0].host
        if expected[0].media is not None and expected[1].media is not None:
            assert total["media_bytes"] == expected[1].media - expected[0].media


DATES: dict[str, Callable[[datetime], str]] = {
    "date": lambda moment: moment.strftime("%a %b %e %H:%M:%S UTC %Y"),
    "date -R": lambda moment: moment.strftime("%a, %d %b %Y %H:%M:%S +0000"),
    "date -Is": lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%S+00:00"),
    "CEST": lambda moment: moment.astimezone(timezone(timedelta(hours=2))).strftime("%a %b %e %H:%M:%S CEST %Y"),
    "zone": lambda moment: moment.astimezone(timezone(timedelta(hours=-7))).strftime("%Y-%m-%d %H:%M:%S -0700"),
    "twelve": lambda moment: moment.strftime("%a %d %b %Y %I:%M:%S %p UTC"),
    "dashes": lambda moment: moment.strftime("=== %Y-%m-%d %H:%M:%S ==="),
    "comment": lambda moment: moment.strftime("# date: %Y-%m-%dT%H:%M:%SZ"),
    "epoch": lambda moment: str(int(moment.timestamp())),
    "date +%s": lambda moment: f"@{int(moment.timestamp())}",
}


@pytest.mark.parametrize("form", DATES)
@pytest.mark.parametrize(
    "name", ["nvme_json", "nvme_text", "ocp_text", "fdp_text", "smartctl_sas", "intel_text", "exporter_sata"]
)
@pytest.mark.parametrize("where", ["before", "behind"])
def test_logs_with_date_lines(name: str, form: str, where: str, tmp_path: Path) -> None:
    dice = random.Random(f"{SEED}:{name}:{form}:{where}")
    truths = random_truths(dice, 5)
    print(f"FLOATGATE_SEED={SEED}, {truths}")
    parts: list[str] = []
    for truth in truths:
        pair = [DATES[form](datetime.fromtimestamp(truth.time_s, UTC)), TOOLS[name].print(truth).rstrip("\n")]
        parts += pair if where == "before" else reversed(pair)
    readings = read(tmp_path / "log", "\n".join(parts) + "\n")
    assert [one.time_s for one in readings] == [truth.time_s for truth in truths]
    assert readings[0].place.endswith(f"log, line {2 if where == 'before' else 1}")
    for truth, reading in zip(truths, readings, strict=True):
        check(name, truth, reading)


def test_a_log_whose_beginning_was_cut(tmp_path: Path) -> None:
    """Log rotation may cut between a date and its reading; no other reading gets that date."""
    truths = random_truths(random.Random(SEED), 4)
    parts = [part for truth in truths for part in (str(truth.time_s), TOOLS["nvme_text"].print(truth).rstrip("\n"))]
    (tmp_path / "log").write_text("\n".join(parts[1:]) + "\n")
    readings = collecting.of_file(str(tmp_path / "log"), WANTED)
    assert [one.time_s for one in readings] == [None, *(truth.time_s for truth in truths[1:])]
    series = collecting.series([str(tmp_path / "log")], WANTED)
    assert [one.time_s for one in series.readings] == [truth.time_s for truth in truths[1:]]
    assert series.notes == ["1 reading without a time left out; the others have one"]


def test_logs_of_several_tools_in_one_file(tmp_path: Path) -> None:
    truths = random_truths(random.Random(SEED), 3)
    parts = []
    for truth in truths:
        parts += [str(truth.time_s), "$ nvme smart-log /dev/nvme0", TOOLS["nvme_text"].print(truth)]
        parts += ["$ nvme ocp smart-add-log /dev/nvme0", TOOLS["ocp_halves"].print(truth)]
    (tmp_path / "log").write_text("\n".join(parts))
    series = collecting.series([str(tmp_path / "log")], WANTED)
    assert [one.kind for one in series.readings] == ["nvme smart-log + OCP log 0xC0"] * 3
    assert [one.time_s for one in series.readings] == [truth.time_s for truth in truths]
    assert [one.host and one.host.value_bytes for one in series.readings] == [truth.units * 512_000 for truth in truths]
    assert [one.media and one.media.value_bytes for one in series.readings] == [truth.media for truth in truths]


def test_lines_of_json_and_lists_of_readings(tmp_path: Path) -> None:
    truths = random_truths(random.Random(SEED), 4)
    one_line = [TOOLS["nvme_json"].print(truth).replace("\n", "") for truth in truths]
    for text in ("\n".join(one_line), " ".join(one_line), f"[{','.join(one_line)}]", "".join(one_line)):
        readings = read(tmp_path / "log", text)
        assert [one.host and one.host.value_bytes for one in readings] == [truth.units * 512_000 for truth in truths]


@pytest.mark.parametrize("stamp", ['"2026-05-04T12:39:09Z"', "1777898349", "1777898349000", "1777898349.25"])
@pytest.mark.parametrize("key", ["time", "timestamp", "date"])
def test_times_that_scripts_put_into_json(key: str, stamp: str, tmp_path: Path) -> None:
    (reading,) = read(tmp_path / "a.json", f'{{"{key}": {stamp}, "data_units_written": 4}}')
    assert reading.time_s == pytest.approx(1_777_898_349, abs=0.3)
    assert reading.time_source == f"{key} of the document"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("smart-2026-05-04.json", "2026-05-04T00:00:00Z"),
        ("nvme0_20260504_123909.json", "2026-05-04T12:39:09Z"),
        ("20260504T1239.log", "2026-05-04T12:39:00Z"),
        ("2026-05-04T12:39:09Z.json", "2026-05-04T12:39:09Z"),
        ("smart-20261345.json", None),
        ("S4EMNX0R20260504123456.json", None),
    ],
)
def test_dates_in_names_of_files(name: str, expected: str | None, tmp_path: Path) -> None:
    (reading,) = read(tmp_path / name, '{"data_units_written": 4}')
    assert (None if reading.time_s is None else times.iso(reading.time_s)) == expected


def test_lines_that_are_no_dates() -> None:
    for line in (
        "",
        "0 1",
        "2026-13-45",
        "temperature : 36",
        "12:39:09",
        "Mon May 34 12:00:00 2026",
        "99999999999",
        "{",
        "Local Time is:    Mon May  4 12:39:09 2026 CEST",
        "written : 1700000000",
        "x" * 5000,
    ):
        assert times.of_line(line) is None, line


def test_prometheus_text_of_several_scrapes(tmp_path: Path) -> None:
    truths = random_truths(random.Random(SEED), 3)
    for name in ("exporter_nvme", "smartmon_sh", "exporter_sata"):
        readings = read(tmp_path / "metrics.prom", "\n".join(TOOLS[name].print(truth) for truth in truths))
        for truth, reading in zip(truths, readings, strict=True):
            check(name, truth, reading)


def test_steps_of_counters_with_seven_digits(tmp_path: Path) -> None:
    truth = Truth(123_456_789_012, 1, 50_000, 0, 1_700_000_000)
    (reading,) = read(tmp_path / "m.prom", TOOLS["smartmon_sh"].print(truth))
    assert reading.host is not None
    # 1.234568e+11: the last of the digits is worth 10^5 counts.
    assert reading.host.step_bytes == 10**5 * (32 << 20)
    assert abs(reading.host.value_bytes - truth.units * (32 << 20)) < reading.host.step_bytes


def test_several_drives_of_an_exporter(tmp_path: Path) -> None:
    first, second = (random_truths(random.Random(f"{SEED}:{name}"), 2) for name in "ab")
    for place, pair in enumerate(zip(first, second, strict=True)):
        texts = [TOOLS["exporter_nvme"].print(truth) for truth in pair]
        other = texts[1].replace('device="x"', 'device="y"').replace(SERIAL, "OTHER")
        (tmp_path / f"{place}.prom").write_text(texts[0] + other)
    paths = [str(tmp_path / f"{place}.prom") for place in range(2)]
    with pytest.raises(InputError, match=f"--serial to choose one of ('{SERIAL}'|'OTHER'), "):
        collecting.series(paths, WANTED)
    for drive, truths in ((SERIAL, first), ("x", first), ("/dev/y", second)):
        series = collecting.series(paths, collecting.Wanted(drive=drive))
        assert [one.host and one.host.value_bytes for one in series.readings] == [one.units * 512_000 for one in truths]
    with pytest.raises(InputError, match="no reading of 'z'"):
        collecting.series(paths, collecting.Wanted(drive="z"))


@pytest.mark.parametrize(("block", "unit"), [(512, 524_288), (4096, 4_194_304), (4096, 4_096_000)])
def test_exporters_in_other_units(block: int, unit: int, tmp_path: Path) -> None:
    text = TOOLS["exporter_nvme"].print(Truth(1, 0, 5, 0, 1_700_000_000)).replace("} 512 ", f"}} {block} ")

    def host(*values: int) -> list[Any]:
        for place, value in enumerate(values):
            (tmp_path / f"{place}").write_text(text.replace(" 512000 ", f" {value} "))
        series = collecting.series([str(tmp_path / f"{place}") for place in range(len(values))], WANTED)
        assert (unit in (512_000, 4_096_000)) == (series.notes == [])
        return [one.host and one.host.value_bytes for one in series.readings]

    if unit == 4_096_000:
        # All values of an exporter that counts eight times are possible for a right one, and the other way round.
        with pytest.raises(InputError, match=r"is a multiple of 512000 and 4096000, .* expected the JSON of smartctl"):
            host(7 * unit, 9 * unit)
        # A value that it cannot print shows the right one.
        assert host(7 * unit, 9 * unit, 9 * unit + 512_000)[2] == 9 * unit + 512_000
        return
    assert host(7 * unit, 9 * unit) == [7 * 512_000, 9 * 512_000]
    with pytest.raises(InputError, match=rf"is a multiple of 512000 and {'.*' if block == 4096 else ''}{unit}"):
        host(125 * unit, 250 * unit)
    with pytest.raises(InputError, match=r"is no multiple of a data unit"):
        host(7 * unit + 1, 9 * unit)
    stated = Stated({prometheus.BYTES: (Role.HOST, 1)})
    series = collecting.series([str(tmp_path / "0"), str(tmp_path / "1")], collecting.Wanted(stated))
    assert [one.host and one.host.value_bytes for one in series.readings] == [7 * unit + 1, 9 * unit]


def test_every_format_names_its_command() -> None:
    assert len({one.name for one in formats.FORMATS}) == len(formats.FORMATS)
    for one in formats.FORMATS:
        assert one.command.split()[0] in ("smartctl", "nvme", "curl")
        assert one.read(Document("a", text="nothing"), NOTHING_STATED) == []


def test_the_parts_of_a_file_know_their_lines(tmp_path: Path) -> None:
    text = '\n\n{"data_units_written": 1}\n\n{"data_units_written":\n 2} {"data_units_written": 3}\n'
    (tmp_path / "a").write_text(text)
    assert [one.place.rpartition(" ")[2] for one in documents.documents(str(tmp_path / "a"))] == ["3", "5", "6"]


def test_additional_logs_of_other_makers_are_questions(tmp_path: Path) -> None:
    """Some tools print ``sectors`` beside counts of 32 MiB, and some makers have the keys in other units."""
    text = (
        "Additional Smart Log for NVME device:nvme0 namespace-id:ffffffff\n"
        "key                               normalized raw\n"
        "wear_leveling                   : 100%       min: 1, max: 6\n"
        "nand_bytes_written              : 100%       sectors: {}\n"
        "host_bytes_written              : 100%       sectors: {}\n"
    )
    made = json.dumps({"ScaleFlux Smart log": "sfd0", "Device stats": {"nand_bytes_written": {"raw": 90},
                                                                       "host_bytes_written": {"raw": 40}}})  # fmt: skip
    for content in (text.format(90, 40), made):
        (reading,) = read(tmp_path / "log", content)
        assert {(one.key, one.role, one.value) for one in reading.questions} == {
            ("nand_bytes_written", Role.MEDIA, 90),
            ("host_bytes_written", Role.HOST, 40),
        }
        units = {"nand_bytes_written": (Role.MEDIA, 512), "host_bytes_written": (Role.HOST, 1 << 20)}
        (reading,) = collecting.of_file(str(tmp_path / "log"), collecting.Wanted(Stated(units)))
        assert reading.host is not None
        assert reading.media is not None
        assert (reading.host.value_bytes, reading.media.value_bytes) == (40 << 20, 90 * 512)
    (tmp_path / "before").write_text(text.format(90, 40))
    (tmp_path / "after").write_text(text.format(190, 90))
    with pytest.raises(
        InputError, match=r"'(host|nand)_bytes_written' counts in units .* also open: '(host|nand)_bytes_written'"
    ):
        of_series(collecting.series([str(tmp_path / "before"), str(tmp_path / "after")], WANTED))


LAYOUTS = {
    1_234_567: (
        "SMART Cloud Attributes for NVMe device       : nvme0",
        "Physical Media Units Written      : 1,234,567",
    ),
    2_068_700_589_752_320: (
        *("Additional Smart Log for NVME device:nvme0 namespace-id:ffffffff", "key  normalized raw"),
        "Physical media units written -   \t        0 2068700589752320",
    ),
    777: (
        *("  SMART Cloud Attributes :-", "  Physical Media Units Written TLC (Bytes): 700"),
        "  Physical Media Units Written SLC (Bytes): 77",
    ),
    555: ("  NAND Statistics :-", "  NAND Writes TLC (Bytes)\t\t         500", "  NAND Writes SLC (Bytes)\t\t\t 55"),
}


@pytest.mark.parametrize("media", LAYOUTS)
def test_other_layouts_of_flash_writes(media: int, tmp_path: Path) -> None:
    (reading,) = read(tmp_path / "log", "\n".join(LAYOUTS[media]))
    assert reading.media is not None
    assert reading.media.value_bytes == media


def test_text_with_the_points_of_another_country(tmp_path: Path) -> None:
    text = TOOLS["text_nvme"].print(Truth(1_234_567, 0, 12_345, 7, 1_700_000_000)).replace(",", ".")
    (reading,) = read(tmp_path / "log", text)
    check("text_nvme", Truth(1_234_567, 0, 12_345, 7, 1_700_000_000), reading)


def test_two_readings_without_a_date_between_them_are_refused(tmp_path: Path) -> None:
    first, second = random_truths(random.Random(SEED), 2)
    for name in ("nvme_text", "ocp_text", "fdp_text", "intel_text", "micron_text", "wdc_text", "text_sata"):
        lines = [TOOLS[name].print(truth).splitlines() for truth in (first, second)]
        # Without the header of a command, nothing shows where the second reading begins.
        kept = [
            line
            for part in lines
            for line in part
            if "device:" not in line and ":-" not in line and line[:5] != "smart"
        ]
        text = "\n".join(line for line in kept if not line.startswith("Host Bytes") or line in lines[0])
        with pytest.raises(InputError, match="twice"):
            read(tmp_path / "log", text)


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_compressed_readings(kind: str, tmp_path: Path) -> None:
    pack: dict[str, Callable[[bytes], bytes]] = {
        "gz": gzip.compress,
        "bz2": bz2.compress,
        "xz": lzma.compress,
        "zst": lambda raw: pa.compress(raw, "zstd", asbytes=True),
    }
    truths = random_truths(random.Random(SEED), 3)
    for name in ("nvme_json", "nvme_text", "smartctl_sata"):
        packed = pack[kind]("\n".join(TOOLS[name].print(truth) for truth in truths).encode())
        (tmp_path / "log").write_bytes(packed)
        for truth, reading in zip(truths, collecting.of_file(str(tmp_path / "log"), WANTED), strict=True):
            check(name, truth, reading)
        for cut in (packed[: len(packed) // 2], packed[:20] + bytes(20) + packed[40:]):
            (tmp_path / "log").write_bytes(cut)
            with pytest.raises(InputError, match=r"its compressed content is damaged.*; expected a reading"):
                collecting.of_file(str(tmp_path / "log"), WANTED)
    (tmp_path / "log").write_bytes(pack[kind](b" " * (65 << 20)))
    with pytest.raises(InputError, match="holds more than 64 MiB"):
        collecting.of_file(str(tmp_path / "log"), WANTED)
