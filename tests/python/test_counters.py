"""``floatgate counters``: figures, questions, implausible intervals, lives, folders and reports."""

from __future__ import annotations

import json
import os
import random
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from counter_texts import SERIAL, TOOLS, Truth, random_truths
from floatgate.lab.counters.formats import FORMATS
from floatgate.lab.counters.values import GIB
from scripts_as_modules import loaded
from test_left_out import left_out
from test_smart import DRIVE, capture

ROOT = Path(__file__).parents[2]
SEED = int(os.environ.get("FLOATGATE_SEED", "1"))
DAY = 86_400


def save(folder: Path, **texts: Any) -> None:
    for name, text in texts.items():
        (folder / f"{name}.json").write_text(text if isinstance(text, str) else json.dumps(text), "utf-8")


def sata(*attributes: tuple[int, str, int], days: float | None = 0, **more: Any) -> dict[str, Any]:
    table = [
        {"id": number, "name": name, "raw": {"value": raw, "string": str(raw)}} for number, name, raw in attributes
    ]
    made: dict[str, Any] = {
        "device": {"type": "sat", "protocol": "ATA"},
        "serial_number": SERIAL,
        "logical_block_size": 512,
        "ata_smart_attributes": {"table": table},
    }
    if days is not None:
        made["local_time"] = {"time_t": int(1_700_000_000 + days * DAY)}
    return made | more


def facts(cli: Cli, *arguments: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(cli("counters", *arguments, "--json", "-").done())
    return made


def total(cli: Cli, *arguments: str) -> tuple[int | None, int | None, float | None]:
    figures = facts(cli, *arguments)["total"]
    return figures["host_bytes"], figures["media_bytes"], figures["waf"]


# The values that public reports expect


def test_attribute_241_counts_flash_on_some_drives(cli: Cli, tmp_path: Path) -> None:
    """The host wrote 100 GiB; number 241, which counts host writes elsewhere, has 250 GiB of flash."""
    names = ("Lifetime_Writes_GiB", "Lifetime_NAND_Prg_GiB")
    save(
        tmp_path,
        a=sata((235, names[0], 700), (241, names[1], 90)),
        b=sata((235, names[0], 800), (241, names[1], 340), days=1),
    )
    assert total(cli, "a.json", "b.json") == (107_374_182_400, 268_435_456_000, 2.5)
    # With the family in its database, the doubtful attribute 234 of the same name is no rival.
    family: dict[str, Any] = {"model_family": "SK hynix SATA SSDs"}
    rows = ((235, names[0], 700), (234, names[1], 1), (241, names[1], 90))
    save(
        tmp_path,
        a=sata(*rows, **family),
        b=sata((235, names[0], 800), (234, names[1], 9), (241, names[1], 340), days=1, **family),
    )
    assert total(cli, "a.json", "b.json") == (107_374_182_400, 268_435_456_000, 2.5)


def test_the_attribute_that_names_its_unit_is_used(cli: Cli, tmp_path: Path) -> None:
    """225 says 32 MiB, 241 beside it says LBAs and counts the same."""
    for name, count, days in (("a", 500, 0), ("b", 600, 1)):
        save(tmp_path, **{name: sata((225, "Host_Writes_32MiB", count), (241, "Total_LBAs_Written", count), days=days)})
    assert total(cli, "a.json", "b.json")[0] == 3_355_443_200
    assert facts(cli, "a.json", "b.json")["host_source"] == "attribute 225 (Host_Writes_32MiB)"


def test_sas_drives_count_gigabytes(cli: Cli, tmp_path: Path) -> None:
    """SAS drives count units of 10^9 bytes, to three decimals."""
    for name, written in (("a", "7.250"), ("b", "8.750")):
        log = {"read": {"gigabytes_processed": "3.0"}, "write": {"gigabytes_processed": written}}
        save(tmp_path, **{name: {"device": {"protocol": "SCSI"}, "serial_number": "S", "scsi_error_counter_log": log}})
    assert total(cli, "a.json", "b.json")[0] == 1_500_000_000
    capture(tmp_path)
    measured = cli("rb", "measure", "c.txt", *DRIVE, "--smart", "a.json", "b.json", "--json", "-").done()
    assert json.loads(measured)["host_bytes"] == 1_500_000_000


def test_statistics_of_fdp_have_all(cli: Cli, tmp_path: Path) -> None:
    """Host bytes rise by 10^6, media bytes by 2.5 x 10^6."""
    save(tmp_path, a={"hbmw": 300, "mbmw": 500, "mbe": 0}, b={"hbmw": 1_000_300, "mbmw": 2_500_500, "mbe": 7})
    assert total(cli, "a.json", "b.json") == (1_000_000, 2_500_000, 2.5)
    assert facts(cli, "a.json", "b.json")["total"]["erased_bytes"] == 7


# Plausibility


def nvme(days: float, units: int, media: int | None = None, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "local_time": {"time_t": int(1_700_000_000 + days * DAY)},
        "serial_number": SERIAL,
        "nvme_smart_health_information_log": {"data_units_written": units, "percentage_used": more.pop("used", 3)},
        **more,
    }
    return made if media is None else made | {"media": media}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (nvme(0, 10), nvme(1, 10**10), "the host wrote 5.12 PB in 24 hours, more than the 32 GB per second of the"),
        (
            sata((241, "Host_Writes_GiB", 1)),
            sata((241, "Host_Writes_GiB", 60_001), days=1),
            "the host wrote 64.4 TB in 24 hours, more than the 600 MB per second of the SATA interface",
        ),
        (nvme(0, 100), nvme(1, 99), "fall from 51200000 to 50688000 bytes; the later reading may stand first"),
        (nvme(0, 10**6), nvme(1, 10), "the counter was reset, or the drive is another one"),
        (
            sata((241, "Host_Writes_32MiB", 2**32 - 100)),
            sata((241, "Host_Writes_32MiB", 50), days=1),
            "a counter of 32 bits may have wrapped, which would make 5.03 GB",
        ),
        (sata((241, "Host_Writes_32MiB", 7)), sata((241, "Host_Writes_GiB", 9), days=1), "which count something else"),
        (nvme(0, 10), nvme(0, 9000), "is not from later than"),
        (
            nvme(0, 10, power_on_time={"hours": 90}),
            nvme(1, 20, power_on_time={"hours": 80}),
            "power-on hours fall from 90 to 80",
        ),
        (nvme(0, 10, power_on_time={"hours": 90}), nvme(1, 20, power_on_time={"hours": 190}), "powered for 100 hours"),
    ],
)
def test_what_cannot_be_is_refused(before: Any, after: Any, expected: str, cli: Cli, tmp_path: Path) -> None:
    save(tmp_path, a=before, b=after)
    assert expected in cli("counters", "a.json", "b.json").refused()
    # rb measure refuses the same pair, whatever the reason is.
    capture(tmp_path)
    cli("rb", "measure", "c.txt", *DRIVE, "--smart", "a.json", "b.json").refused()


def test_another_drive_is_refused_and_can_be_chosen(cli: Cli, tmp_path: Path) -> None:
    save(
        tmp_path,
        a=nvme(0, 10),
        b=nvme(1, 20, serial_number="OTHER"),
        c=nvme(2, 30),
        d=sata((241, "Host_Writes_GiB", 9), serial_number=None),
    )
    error = cli("counters", "a.json", "b.json", "c.json").refused()
    assert error == (
        f"b.json: is of drive 'OTHER', and a.json of drive '{SERIAL}'; expected readings of one drive, "
        f"or --serial to choose one of '{SERIAL}', 'OTHER'"
    )
    assert total(cli, "a.json", "b.json", "c.json", "--serial", SERIAL)[0] == 20 * 512_000
    assert "is one reading" in cli("counters", "a.json", "b.json", "c.json", "--serial", "OTHER").refused()
    assert "no reading of 'X'" in cli("counters", "a.json", "b.json", "--serial", "X").refused()
    assert "is of a drive with SATA, and a.json of one with NVME" in cli("counters", "a.json", "d.json").refused()


def test_what_cannot_be_is_left_out_of_the_sum_and_said(cli: Cli, tmp_path: Path) -> None:
    """Of five readings the third is of a reset: its interval counts nothing, the others do."""
    units = [1000, 2000, 50, 1050, 3050]
    for number, value in enumerate(units):
        save(tmp_path, **{f"r{number}": nvme(number, value)})
    made = facts(cli, *(f"r{number}.json" for number in range(5)))
    assert made["total"]["host_bytes"] == (1000 + 1000 + 2000) * 512_000
    assert made["total"]["seconds"] == 3 * DAY
    assert made["total"]["intervals"], made["total"]["intervals_left_out"] == (3, 1)
    # Two runs of adjacent intervals: the step counts twice.
    assert made["total"]["host_step_bytes"] == 2 * 512_000
    assert [bool(one["faults"]) for one in made["intervals"]] == [False, True, False, False]
    assert made["intervals"][1]["host_bytes"] is None
    assert made["warnings"][0].startswith(
        "not counted: r2.json: NVMe data units written fall from 1024000000 to 25600000 bytes"
    )
    text = cli("counters", *(f"r{number}.json" for number in range(5))).done()
    assert "not counted" in text


def test_figures_that_are_unlikely_are_warned_about(cli: Cli, tmp_path: Path) -> None:
    save(tmp_path, a={"hbmw": 0, "mbmw": 0}, b={"hbmw": 10**9, "mbmw": 10**8}, c={"hbmw": 10**9, "mbmw": 10**12})
    assert "impossible without compression" in facts(cli, "a.json", "b.json")["warnings"][0]
    assert "a write amplification of 1000 is unlikely" in facts(cli, "a.json", "c.json")["warnings"][0]
    assert "the host wrote nothing" in facts(cli, "a.json", "a.json")["warnings"][0]


# Rates and lives


def test_the_error_of_the_write_amplification(cli: Cli, tmp_path: Path) -> None:
    rows = (
        ((241, "Host_Writes_GiB", 0), (233, "Flash_Writes_GiB", 0)),
        ((241, "Host_Writes_GiB", 10), (233, "Flash_Writes_GiB", 30)),
    )
    save(tmp_path, a=sata(*rows[0]), b=sata(*rows[1], days=1))
    made = facts(cli, "a.json", "b.json")["total"]
    assert (made["waf_low"], made["waf"], made["waf_high"]) == (29 / 11, 3.0, 31 / 9)
    save(tmp_path, b=sata((241, "Host_Writes_GiB", 1), (233, "Flash_Writes_GiB", 3), days=1))
    made = facts(cli, "a.json", "b.json")["total"]
    assert (made["waf_low"], made["waf"], made["waf_high"]) == (2 / 2, 3.0, None)
    assert "1.000 to ?" in cli("counters", "a.json", "b.json").done()


def test_the_true_write_amplification_lies_between_its_ends(cli: Cli, tmp_path: Path) -> None:
    """Counters that round down, up or to the nearest count: the ends hold for all."""
    for number in range(60):
        dice = random.Random(f"{SEED}:ends:{number}")
        host = [dice.randrange(1, 10**11)]
        host.append(host[0] + dice.randrange(3 * GIB, 10**11))
        media = [dice.randrange(1, 10**11)]
        media.append(media[0] + dice.randrange(3 * GIB, 3 * 10**11))
        # Rounded down, up, or to the nearest count.
        shift = dice.choice((0, GIB - 1, GIB // 2))
        for place in range(2):
            counts = [(values[place] + shift) // GIB for values in (host, media)]
            rows = (241, "Host_Writes_GiB", counts[0]), (233, "Flash_Writes_GiB", counts[1])
            save(tmp_path, **{f"r{place}": sata(*rows, days=place)})
        print(f"FLOATGATE_SEED={SEED}, drive {number}: host {host}, media {media}")
        made = facts(cli, "r0.json", "r1.json")["total"]
        true = (media[1] - media[0]) / (host[1] - host[0])
        assert made["waf_low"] <= true
        assert made["waf_high"] is None or true <= made["waf_high"]


def test_lives_by_rating_and_by_wear(cli: Cli, tmp_path: Path) -> None:
    units = 10**12 // 512_000
    save(tmp_path, a=nvme(0, 100 * units, used=10), b=nvme(100, 150 * units, used=20))
    made = facts(cli, "a.json", "b.json", "--rated-tbw", "200")
    host = made["readings"][1]["host_bytes"]
    rating, wear = made["life"]["rating"], made["life"]["wear"]
    assert rating["used_share"] == host / 200e12
    # 0.5 TB per day, 50 TB left.
    assert rating["left_s"] == pytest.approx(100 * DAY, rel=1e-4)
    assert rating["end_s"] == pytest.approx(1_700_000_000 + 200 * DAY, abs=DAY / 10)
    # 10 points in 100 days, within a point: 80 points left.
    assert wear["left_s"] == pytest.approx(800 * DAY)
    assert wear["left_s_low"] == pytest.approx(79 / 11 * 100 * DAY)
    assert wear["left_s_high"] == pytest.approx(81 / 9 * 100 * DAY)
    text = cli("counters", "a.json", "b.json", "--rated-tbw", "200").done()
    assert "75 % of 200 TB (--rated-tbw) written; at this rate the rest lasts 100 days, until 2024-06-01" in text
    assert "20 % used by the drive's own estimate, 10 steps of 1 % in 100 days: the rest lasts 2.2 years" in text
    save(tmp_path, b=nvme(100, 150 * units, used=10))
    wear = facts(cli, "a.json", "b.json")["life"]["wear"]
    assert (wear["left_s"], wear["left_s_high"], wear["left_s_low"]) == (None, None, 89 * 100 * DAY)
    save(tmp_path, b=nvme(100, 450 * units, used=103))
    text = cli("counters", "a.json", "b.json", "--rated-tbw", "200").done()
    assert "the rated life is over" in text
    assert "103 % used by the drive's own estimate: its life is over" in text


def test_ratings_of_the_catalogue(cli: Cli, tmp_path: Path) -> None:
    save(tmp_path, a=nvme(0, 10), b=nvme(9, 20_000, user_capacity={"bytes": 512 * 10**9}))
    made = facts(cli, "a.json", "b.json", "--drive", "ent-tlc-ri-1t92")
    assert made["life"]["rating"]["tbw_bytes"] == 3504e12
    assert "has 1.92 TB, this drive 512 GB" in made["warnings"][0]
    for options, expected in (
        (("--drive", "ent-tlc-ri-1t9"), "unknown drive 'ent-tlc-ri-1t9'"),
        (("--rated-tbw", "0"), "--rated-tbw"),
        (("--rated-tbw", "x"), "--rated-tbw"),
        (("--rated-tbw", "5", "--drive", "ent-tlc-ri-1t92"), "exclude each other"),
        (("--hours", "0"), "--hours"),
        (("--hours", "nan"), "--hours"),
    ):
        assert expected in cli("counters", "a.json", "b.json", *options).refused()


def test_the_times_of_readings(cli: Cli, tmp_path: Path) -> None:
    """From the documents, else from hours of power, else from the user; from files only if the user says so."""
    log = {"data_units_written": 1000, "power_on_hours": 100}
    save(tmp_path, a=log, b={**log, "data_units_written": 3000, "power_on_hours": 124})
    os.utime(tmp_path / "a.json", (1.7e9, 1.7e9))
    os.utime(tmp_path / "b.json", (1.7e9 + 2 * DAY, 1.7e9 + 2 * DAY))
    made = facts(cli, "a.json", "b.json")
    assert (made["total"]["clock"], made["total"]["seconds"], made["total"]["seconds_error"]) == (
        "power-on hours",
        DAY,
        3600,
    )
    assert "days are days of power" in made["warnings"][0]
    assert made["total"]["host_bytes_per_day"] == 2000 * 512_000
    made = facts(cli, "a.json", "b.json", "--hours", "12")
    assert (made["total"]["clock"], made["total"]["seconds"]) == ("--hours", DAY / 2)
    made = facts(cli, "a.json", "b.json", "--file-times")
    assert (made["total"]["clock"], made["total"]["seconds"]) == ("dates", 2 * DAY)
    assert made["readings"][0]["time_source"] == "the file's change"
    save(tmp_path, a={"data_units_written": 1000}, b={"data_units_written": 3000})
    made = facts(cli, "a.json", "b.json")["total"]
    assert (made["seconds"], made["host_bytes_per_day"], made["host_bytes"]) == (None, None, 2000 * 512_000)


# Several logs, several readings


@pytest.mark.parametrize(
    "first", ["smartctl_nvme", "text_nvme", "nvme_json", "nvme_text", "exporter_nvme", "nvme_metrics"]
)
def test_host_writes_of_nvme_compare_across_tools(first: str, cli: Cli, tmp_path: Path) -> None:
    for last in ("smartctl_nvme", "nvme_text", "exporter_nvme"):
        truths = random_truths(random.Random(f"{SEED}:{first}:{last}"), 2)
        (tmp_path / "a").write_text(TOOLS[first].print(truths[0]))
        (tmp_path / "b").write_text(TOOLS[last].print(truths[1]))
        made = facts(cli, "a", "b")
        assert made["total"]["host_bytes"] == (truths[1].units - truths[0].units) * 512_000


@pytest.mark.parametrize("order", ["in turn", "by kind", "folders"])
def test_logs_of_one_moment_in_several_files(order: str, cli: Cli, tmp_path: Path) -> None:
    truths = random_truths(random.Random(f"{SEED}:{order}"), 2)
    names = []
    for number, truth in enumerate(truths):
        (tmp_path / f"m{number}").mkdir()
        for tool in ("nvme_json", "ocp_halves"):
            (tmp_path / f"m{number}" / tool).write_text(TOOLS[tool].print(truth))
            names.append(f"m{number}/{tool}")
    arguments = {"in turn": names, "by kind": sorted(names, key=lambda name: name[3:]), "folders": ["m0", "m1"]}[order]
    host, media = (truths[1].units - truths[0].units) * 512_000, truths[1].media - truths[0].media
    assert total(cli, *arguments) == (host, media, media / host)
    # A log without its counterpart is refused: nothing says where it belongs.
    error = cli("counters", *names[:3]).refused()
    assert "the files hold 2 of nvme smart-log, 1 of OCP log 0xC0; expected as many of each" in error


def test_logs_are_joined_by_their_times(cli: Cli, tmp_path: Path) -> None:
    truths = random_truths(random.Random(SEED), 4)
    stamps = [datetime.fromtimestamp(truth.time_s, UTC).strftime("%Y-%m-%dT%H:%M:%S") for truth in truths]
    host = [f"{stamp}\n{TOOLS['nvme_text'].print(truth)}" for stamp, truth in zip(stamps, truths, strict=True)]
    flash = [f"{stamp}\n{TOOLS['ocp_text'].print(truth)}" for stamp, truth in zip(stamps, truths, strict=True)]
    (tmp_path / "smart.log").write_text("".join(host))
    (tmp_path / "ocp.log").write_text("".join([flash[0], flash[3]]))
    made = facts(cli, "smart.log", "ocp.log")
    assert made["total"]["host_bytes"] == (truths[3].units - truths[0].units) * 512_000
    assert made["total"]["media_bytes"] == truths[3].media - truths[0].media
    assert made["notes"] == ["2 readings have no counterpart at their time and are left out"]


def test_a_folder_of_readings_over_time(cli: Cli, tmp_path: Path) -> None:
    truths = random_truths(random.Random(SEED), 12)
    folder = tmp_path / "logs"
    (folder / "more").mkdir(parents=True)
    for number, truth in enumerate(truths):
        # Not in order of time: the dates within count.
        place = folder / ("more" if number % 2 else "") / f"r{(number * 5) % 12}.json"
        place.write_text(TOOLS["smartctl_nvme"].print(truth))
    (folder / "notes.txt").write_text("replaced the fan\n")
    (folder / "cut.json").write_text(TOOLS["smartctl_nvme"].print(truths[0])[:100])
    (folder / ".hidden").write_text("{}")
    made = facts(cli, "logs")
    assert [one["time_s"] for one in made["readings"]] == [truth.time_s for truth in truths]
    assert made["total"]["host_bytes"] == (truths[-1].units - truths[0].units) * 512_000
    assert made["notes"][0].startswith("left out: logs/cut.json:")
    assert made["notes"][1].startswith("left out: logs/notes.txt: says nothing of data written")
    cli("counters", "logs", "--out", "o").done()
    kept = json.loads((tmp_path / "o/counters.json").read_text())
    assert kept == made
    page = (tmp_path / "o/report.html").read_text()
    assert page.count("<svg") >= 2
    assert len(left_out(page)) == 1
    assert "not empty" in cli("counters", "logs", "--out", "o").refused()
    cli("counters", "logs", "--out", "o", "--force", "--no-report").done()
    assert not (tmp_path / "o/report.html").exists()
    (tmp_path / "none").mkdir()
    assert "is a folder without readings" in cli("counters", "none").refused()


def test_the_text_has_a_row_per_interval(cli: Cli, tmp_path: Path) -> None:
    for number in range(3):
        save(
            tmp_path,
            **{f"r{number}": {"hbmw": number * 10**9, "mbmw": number * 3 * 10**9, "time": f"2026-01-0{number + 1}"}},
        )
    lines = cli("counters", "r0.json", "r1.json", "r2.json").done().splitlines()
    assert lines[0] == "WAF        3.000 (3.000 to 3.000) over 2.0 days"
    assert lines[1] == "host       2 GB written, 1 GB per day (host bytes with metadata written)"
    assert lines[2] == "flash      6 GB programmed, 3 GB per day (media bytes with metadata written)"
    assert re.fullmatch(r"2026-01-03 00:00 +24 hours +1 GB +3 GB +3.000 +3.000 to 3.000 +1 GB *", lines[-1])


def test_readings_that_are_missing_or_alone(cli: Cli, tmp_path: Path) -> None:
    save(tmp_path, a={"hbmw": 1, "mbmw": 2})
    assert "no readings; expected two files" in cli("counters").refused()
    assert "a.json: is one reading" in cli("counters", "a.json").refused()
    assert "no.json: " in cli("counters", "no.json", "a.json").refused()
    (tmp_path / "text").write_text("/dev/nvme0: Permission denied\n")
    assert "holds a message in place of a reading" in cli("counters", "text", "a.json").refused()
    save(tmp_path, b={"percent_used": 4})
    assert "says nothing of data written" in cli("counters", "b.json", "a.json").refused()


def test_forecasts_and_plans_compare_and_change_nothing(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    units = 10**12 // 512_000
    save(tmp_path, a=nvme(0, 100 * units), b=nvme(100, 150 * units), c=nvme(1, 99 * units))
    for command in (
        ("lifetime", str(experiment), "--target", "0.01"),
        ("plan", str(experiment), "--target", "0.01", "--capacities", "64MiB"),
    ):
        plain = cli(*command).done()
        text = cli(*command, "--counters", "a.json", "b.json").done()
        assert text.startswith(plain.rstrip("\n"))
        added = text.removeprefix(plain.rstrip("\n"))
        assert "the drive in use takes 500 GB of host writes per day; the workload here writes" in added
        # 1000 writes of 4 KiB per second are 354 GB per day, within a factor of two.
        assert "354 GB per day" in added
        assert "warning" not in added
        results = [
            json.loads(cli(*command, *more, "--json", "-").done()) for more in ((), ("--counters", "a.json", "b.json"))
        ]
        for result in results:
            result.pop("run", None)
        if command[0] == "lifetime":
            assert results[0] == results[1]
        else:
            assert results[0]["answer"] == results[1]["answer"]
    falling = cli("lifetime", str(experiment), "--target", "0.01", "--counters", "a.json", "c.json").refused()
    assert "c.json: NVMe data units written fall from" in falling
    save(tmp_path, c=nvme(100, 101 * units))
    far = cli("lifetime", str(experiment), "--target", "0.01", "--counters", "a.json", "c.json").done()
    assert "warning    the workload writes 35.4 times what the drive in use takes" in far


# The page and its examples


def test_the_page_names_every_format_with_its_command() -> None:
    page = (ROOT / "docs/counters.md").read_text("utf-8")
    rows = [row.split(" | ") for row in re.findall(r"^\| (.*) \|$", page, re.MULTILINE)]
    listed = {cells[0]: cells for cells in rows if len(cells) == 3}
    for one in FORMATS:
        assert f"`{one.command}`" in listed[one.name][1]
        assert listed[one.name][2] == one.counts


def test_the_examples_are_those_of_their_script() -> None:
    made = loaded("make_counters").files()
    folder = ROOT / "captures/counters"
    assert {place.name: place.read_text("utf-8") for place in folder.iterdir()} == made


def test_truths_rise() -> None:
    truths = random_truths(random.Random(SEED), 5)
    assert all(isinstance(truth, Truth) for truth in truths)
    assert sorted(truths, key=lambda truth: truth.time_s) == truths
