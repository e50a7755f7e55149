"""``floatgate counters --flash-bytes --pe-cycles``: what the flash endures at the measured write amplification."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from floatgate.lab.counters import report
from floatgate.lab.counters.values import GIB
from test_counters import DAY, sata, save

FLASH = ("--flash-bytes", "1TB", "--pe-cycles", "1000")


def written(host_gib: int, media_gib: int, days: float | None = 0, **more: Any) -> dict[str, Any]:
    return sata((241, "Host_Writes_GiB", host_gib), (249, "NAND_Writes_1GiB", media_gib), days=days, **more)


def cycles(cli: Cli, *more: str) -> dict[str, Any]:
    facts = json.loads(cli("counters", "a.json", "b.json", *more, "--json", "-").done())
    life: dict[str, Any] = facts["life"]["cycles"]
    return life


def test_endurance_by_hand(cli: Cli, tmp_path: Path) -> None:
    """1 TB for 1000 cycles takes 1 PB of programs: 500 TB of host writes at a write amplification of 2."""
    save(tmp_path, a=written(10_000, 20_000), b=written(11_000, 22_000, days=10))
    life = cycles(cli, *FLASH)
    assert life["program_bytes"] == 1e15
    assert life["host_bytes"] == pytest.approx(5e14)
    # A step of one GiB in both counters.
    assert life["host_bytes_low"] == pytest.approx(1e15 * 999 / 2001)
    assert life["host_bytes_high"] == pytest.approx(1e15 * 1001 / 1999)
    assert life["used_share"] == pytest.approx(22_000 * GIB / 1e15)
    left = (1e15 - 22_000 * GIB) / 2
    assert life["left_host_bytes"] == pytest.approx(left)
    assert life["left_s"] == pytest.approx(left / (1000 * GIB) * 10 * DAY)
    text = cli("counters", "a.json", "b.json", *FLASH).done()
    assert (
        "cycles     1 TB of flash for 1000 cycles (--flash-bytes, --pe-cycles) endure 500 TB of host writes at this "
        "WAF (499 TB to 501 TB); 2 % used, 488 TB left, which lasts " in text
    )
    # The interval knows neither how wear is spread nor the load to come: line and page say so.
    assumed = "assuming even wear and this rate; the interval covers steps of counters only"
    assert f"({assumed})\n" in text
    facts = json.loads(cli("counters", "a.json", "b.json", *FLASH, "--json", "-").done())
    (card,) = [card for card in report.headline(facts) if card[0] == "flash lasts"]
    assert card[1].endswith(" years")
    assert card[2].startswith(assumed)


def test_without_times_the_rest_is_known_but_no_years(cli: Cli, tmp_path: Path) -> None:
    save(tmp_path, a=written(10_000, 20_000, None), b=written(11_000, 22_000, None))
    life = cycles(cli, *FLASH)
    assert life["left_s"] is None
    assert life["left_host_bytes"] > 4.8e14
    assert cycles(cli, *FLASH, "--hours", "240")["left_s"] > 0
    assert "488 TB left" in cli("counters", "a.json", "b.json", *FLASH).done()


def test_the_catalogue_knows_flash_and_cycles(cli: Cli, tmp_path: Path) -> None:
    save(tmp_path, a=written(10_000, 20_000), b=written(11_000, 22_000, days=10))
    life = cycles(cli, "--drive", "tlc-redftl")
    assert (life["flash_bytes"], life["pe_cycles"], life["source"]) == (96 << 30, 3000, "the catalogue's tlc-redftl")
    life = cycles(cli, "--drive", "tlc-redftl", "--pe-cycles", "500")
    assert (life["pe_cycles"], life["source"]) == (500, "--pe-cycles, the catalogue's tlc-redftl")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--pe-cycles", "3000"), "--pe-cycles: alone gives no life; expected it with --flash-bytes, or --drive NAME"),
        (("--flash-bytes", "1TB"), "--flash-bytes: alone gives no life; expected it with --pe-cycles, or --drive NAME"),
        (
            ("--flash-bytes", "1XB", "--pe-cycles", "3"),
            "--flash-bytes: '1XB' is no size of flash; expected bytes, such",
        ),
        (("--flash-bytes", "1TB", "--pe-cycles", "-3"), "--pe-cycles: "),
    ],
)
def test_half_an_endurance_is_refused(cli: Cli, tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    save(tmp_path, a=written(10_000, 20_000), b=written(11_000, 22_000, days=10))
    assert cli("counters", "a.json", "b.json", *options).refused().startswith(message)


def test_readings_without_times_say_what_gives_the_rate(cli: Cli, tmp_path: Path) -> None:
    save(tmp_path, a=written(10_000, 20_000, None), b=written(11_000, 22_000, None))
    warning = "warning    no times in the logs, so no rates: --hours H (between two readings) gives the rate\n"
    assert warning in cli("counters", "a.json", "b.json").done()
    assert warning not in cli("counters", "a.json", "b.json", "--hours", "24").done()


@pytest.mark.parametrize("lacking", ["a", "b"])
def test_a_counter_of_one_reading_alone_is_named_with_its_file(cli: Cli, tmp_path: Path, lacking: str) -> None:
    """The text was that these logs count no flash writes, although one of the two does."""
    readings = {"a": written(10_000, 20_000), "b": written(11_000, 22_000, days=10)}
    table = readings[lacking]["ata_smart_attributes"]["table"]
    table[1] |= {"name": "Renamed"}
    save(tmp_path, **readings)
    text = cli("counters", "a.json", "b.json").done()
    other = "b" if lacking == "a" else "a"
    assert text.startswith(f"WAF        unknown: {lacking}.json lacks the flash writes that others count\n")
    assert (
        f"warning    {lacking}.json lacks attribute 249 (NAND_Writes_1GiB), which {other}.json has: flash writes are "
        "not compared\n" in text
    )
