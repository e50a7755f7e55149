"""What attributes of SATA drives count: by the table, by their names, as the user states, or as a question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from floatgate.lab.counters.attribute_table import ROWS, SURE, of_name, row_of
from floatgate.lab.counters.reading import Role
from floatgate.lab.counters.values import GIB, MIB, digits, named_unit, size, unit_text
from test_counters import facts, sata, save, total


def test_device_statistics_are_first(cli: Cli, tmp_path: Path) -> None:
    def reading(sectors: int, days: int, **more: Any) -> dict[str, Any]:
        entry = {"name": "Logical Sectors Written", "value": sectors, "flags": {"valid": True}}
        pages = {"pages": [{"number": 1, "table": [entry]}]}
        return sata(
            (241, "Host_Writes_32MiB", sectors // 60_000),
            (249, "NAND_Writes_1GiB", days),
            days=days,
            ata_device_statistics=pages,
            **more,
        )

    save(tmp_path, a=reading(10**6, 0), b=reading(9 * 10**6, 1))
    assert total(cli, "a.json", "b.json")[:2] == (8 * 10**6 * 512, GIB)
    save(tmp_path, a=reading(10**6, 0, logical_block_size=None), b=reading(9 * 10**6, 1, logical_block_size=None))
    made = facts(cli, "a.json", "b.json")
    # Without the size of a sector, the unit is a question.
    assert made["total"]["host_bytes"] is None
    assert (
        "--attribute logical_sectors_written=host:UNIT (512: 4.10 GB per day; 4KiB: 32.8 GB per day)"
        in made["warnings"][0]
    )


def test_an_unknown_attribute_makes_a_question(cli: Cli, tmp_path: Path) -> None:
    lbas = "Total_LBAs_Written"
    save(tmp_path, a=sata((241, lbas, 51_200)), b=sata((241, lbas, 60_800), days=14))
    error = cli("counters", "a.json", "b.json").refused()
    assert error == (
        "b.json: attribute 241 ('Total_LBAs_Written') counts in units that each maker chooses; expected --attribute "
        "241=host:UNIT or --attribute 241=media:UNIT (512: 351 kB per day; 1MiB: 719 MB per day; 32MiB: 23 GB per day; "
        "1GiB: 736 GB per day)"
    )
    assert total(cli, "a.json", "b.json", "--attribute", "241=host:32MiB")[0] == 9600 * 32 * MIB
    assert total(cli, "a.json", "b.json", "--attribute", "241=media:32MiB")[1] == 9600 * 32 * MIB
    assert total(cli, "a.json", "b.json", "--attribute", "total_lbas_written=host:512")[0] == 9600 * 512
    # What the interface cannot take is said.
    save(tmp_path, b=sata((241, lbas, 9_051_200), days=1))
    assert "1GiB: 9.66 PB per day, more than the interface takes" in cli("counters", "a.json", "b.json").refused()
    assert "32MiB: 302 TB per day, more than" in cli("counters", "a.json", "b.json").refused()
    assert "1MiB: 9.44 TB per day;" in cli("counters", "a.json", "b.json").refused()
    # Nothing is computed from a unit that is no unit.
    for unit, expected in (
        ("241=host:0", "'0' is no unit"),
        ("241=host", "'' is no unit"),
        ("241=host:2TiB", "no unit"),
        ("241=hosts:512", "no attribute with a role"),
        ("=host:512", "no attribute with a role"),
        ("241", "no attribute"),
    ):
        assert expected in cli("counters", "a.json", "b.json", "--attribute", unit).refused()
    twice = ("--attribute", "241=host:512", "--attribute", "241=host:1GiB")
    assert "stated twice" in cli("counters", "a.json", "b.json", *twice).refused()


def test_flash_writes_of_an_open_unit_are_asked_about(cli: Cli, tmp_path: Path) -> None:
    rows = ((241, "Total_LBAs_Written", 10**7), (251, "NAND_Writes", 50))
    family: dict[str, Any] = {"model_family": "Samsung based SSDs"}
    later = ((241, "Total_LBAs_Written", 2 * 10**7), (251, "NAND_Writes", 950))
    save(tmp_path, a=sata(*rows, **family), b=sata(*later, days=1, **family))
    made = facts(cli, "a.json", "b.json")
    assert made["total"]["host_bytes"] == 10**7 * 512
    assert made["total"]["waf"] is None
    assert "--attribute 251=media:UNIT" in made["warnings"][0]
    assert total(cli, "a.json", "b.json", "--attribute", "251=media:32MiB")[2] == 900 * 32 * MIB / (10**7 * 512)


def test_makers_with_pages_for_units(cli: Cli, tmp_path: Path) -> None:
    """Crucial and Micron count programs by the host and by the FTL in pages; their ratio needs no size of a page."""
    names = ("Total_LBAs_Written", "Host_Program_Page_Count", "FTL_Program_Page_Count")

    def reading(host: int, ftl: int, days: int, model: str) -> dict[str, Any]:
        rows = zip((246, 247, 248), names, (host * 64, host, ftl), strict=True)
        return sata(*rows, days=days, model_name=model, model_family="Crucial/Micron Client SSDs")

    save(tmp_path, a=reading(1000, 500, 0, "CT500MX500SSD1"), b=reading(5000, 6500, 2, "CT500MX500SSD1"))
    made = facts(cli, "a.json", "b.json")["total"]
    assert made["waf"] == 2.5
    assert made["host_bytes"] == 4000 * 64 * 512
    assert made["media_bytes"] == 2.5 * 4000 * 64 * 512
    assert made["waf_low"] == pytest.approx(9999 / 4001)


def test_flash_writes_in_two_parts(cli: Cli, tmp_path: Path) -> None:
    names = (241, "Host_Writes_GiB"), (233, "NAND_GB_Written_TLC"), (234, "NAND_GB_Written_SLC")

    def reading(days: int, *values: int) -> dict[str, Any]:
        return sata(*((*name, value) for name, value in zip(names, values, strict=False)), days=days)

    save(tmp_path, a=reading(0, 10, 20, 30), b=reading(1, 20, 41, 39))
    assert total(cli, "a.json", "b.json")[1] == 30 * 10**9
    save(tmp_path, a=reading(0, 10, 20), b=reading(1, 20, 41))
    made = facts(cli, "a.json", "b.json")
    assert made["total"]["media_bytes"] is None
    assert made["notes"] == [
        "attribute 233 (NAND_GB_Written_TLC) counts a part of the flash writes alone, and is left out"
    ]


def test_an_erase_count_is_no_write(cli: Cli, tmp_path: Path) -> None:
    """246 counts host sectors on Micron, and erases on Phison."""
    for name, days in (("a", 0), ("b", 1)):
        rows = (241, "Lifetime_Writes_GiB", 100 + days), (246, "Total_Erase_Count", 10**6 * (1 + days))
        save(tmp_path, **{name: sata(*rows, days=days, model_family="Phison Driven SSDs")})
    assert total(cli, "a.json", "b.json") == (GIB, None, None)


def test_counters_of_one_drive_that_disagree_are_named(cli: Cli, tmp_path: Path) -> None:
    for name, days in (("a", 0), ("b", 1)):
        rows = (225, "Host_Writes_32MiB", 10 + days), (241, "Host_Writes_32MiB", 90_000 + 100 * days)
        save(tmp_path, **{name: sata(*rows, days=days)})
    made = facts(cli, "a.json", "b.json")
    assert made["total"]["host_bytes"] == 100 * 32 * MIB
    names = "attribute 225 (Host_Writes_32MiB) and attribute 241 (Host_Writes_32MiB)"
    assert made["notes"] == [f"{names} count different amounts; the latter is used"]


def test_the_table_agrees_with_the_names() -> None:
    """Each row whose name has a unit has that unit, and the role that the name says."""
    for row in ROWS:
        assert row.sure in SURE
        unit = named_unit(row.name)
        if row.unit_bytes is not None and row.sure == "name" and unit is not None:
            assert row.unit_bytes == unit, row
            by_name = of_name(row.name)
            if row.role is not Role.ERASE:
                assert by_name is not None
                assert (by_name.role, by_name.unit_bytes) == (row.role, row.unit_bytes), row
        if row.sure == "open":
            assert row.unit_bytes is None
        assert row_of(row.numbers[0] if row.numbers else 241, row.name.lower(), row.family or None, None) is not None


@pytest.mark.parametrize(
    ("name", "role", "unit"),
    [
        ("Host_Writes_16KiB", Role.HOST, 1 << 14),
        ("Written_TiB", Role.HOST, 1 << 40),
        ("Flash_Prog_MiB", Role.MEDIA, MIB),
        ("Total_Media_Writes_64MiB", Role.MEDIA, 64 * MIB),
        ("Lifetime_Writes", Role.HOST, None),
        ("Sectors_Written", Role.HOST, None),
    ],
)
def test_names_outside_the_table(name: str, role: Role, unit: int | None) -> None:
    row = of_name(name)
    assert row is not None
    assert (row.role, row.unit_bytes) == (role, unit)


@pytest.mark.parametrize(
    "name",
    [
        "Write_Error_Rate",
        "Total_LBAs_Read",
        "Program_Fail_Count",
        "Erase_Count",
        "Host_Reads_GiB",
        "Write_Throttling",
        "SSD_Write_Protect_Mode",
        "Write_Amplification",
        "Unknown_Attribute",
        "Workld_Media_Wear_Indic",
        "Write_Head",
    ],
)
def test_names_that_speak_of_something_else(name: str) -> None:
    assert row_of(241, name, None, None) is None


def test_total_lbas_written_has_a_unit_on_known_drives_alone() -> None:
    name = "Total_LBAs_Written"
    for number, family, model, unit in (
        (241, "Samsung based SSDs", None, 512),
        (241, None, "Samsung SSD 870 EVO 1TB", 512),
        (241, None, "SAMSUNG MZ7LH960", 512),
        (246, "Crucial/Micron Client SSDs", None, 512),
        (246, None, "CT1000MX500SSD1", 512),
        (241, None, None, None),
        (241, "Apacer SSDs", None, None),
        (241, "Crucial/Micron Client SSDs", None, None),
        (246, "Phison Driven SSDs", None, None),
        (233, "Dell Certified Intel S3520 Series SSDs", None, None),
        (241, None, "No-name", None),
    ):
        row = row_of(number, name, family, model)
        assert row is not None
        assert row.unit_bytes == unit, (number, family, model)


def test_the_list_of_attributes(cli: Cli) -> None:
    text = cli("counters", "--list-attributes").done()
    assert f"{len(ROWS)} attributes" in text
    listed = json.loads(cli("counters", "--list-attributes", "--json", "-").done())["attributes"]
    assert [entry["name"] for entry in listed] == [row.name for row in ROWS]


# Numbers


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("12", 12),
        ("1,234", 1234),
        ("1.234.567", 1_234_567),
        ("1'234", 1234),
        ("1\u202f234", 1234),
        ("0x1F", 31),
        ("", None),
        ("-4", None),
        ("1.5", None),
        ("1,23", None),
        ("0x", None),
        ("1 2", None),
        ("1" * 50, None),
        ("\u0664", None),
    ],
)
def test_digits(text: str, value: int | None) -> None:
    assert digits(text) == value


def test_sizes_round_trip() -> None:
    for bytes_ in (1, 512, 1000, 4096, 32 * MIB, GIB, 10**9, 3 * 10**9, 1 << 40):
        assert size(unit_text(bytes_)) == bytes_
    for text in ("", "0", "MiB", "2TiB", "-5", "1.5GB", "12PiB", "1e9"):
        assert size(text) is None


# Attributes that contradict themselves


def of_rows(*rows: dict[str, Any], days: int = 0, **more: Any) -> dict[str, Any]:
    return sata(days=days, ata_smart_attributes={"table": list(rows)}, **more)


def host_row(value: int, **raw: Any) -> dict[str, Any]:
    return {"id": 241, "name": "Host_Writes_32MiB", "raw": {"value": value, **raw}}


def refusal(cli: Cli, tmp_path: Path, *rows: dict[str, Any], **more: Any) -> str:
    save(tmp_path, a=of_rows(host_row(100)), b=of_rows(*rows, days=14, **more))
    return cli("counters", "a.json", "b.json").refused()


def test_two_values_of_one_attribute_are_refused(cli: Cli, tmp_path: Path) -> None:
    """The first one counted."""
    assert refusal(cli, tmp_path, host_row(400), host_row(500)) == (
        "b.json: ata_smart_attributes.table[1]: is attribute 241 again, with 500 after 400; expected each attribute "
        "once per reading, in a reading of smartctl, nvme-cli or a Prometheus exporter (docs/counters.md)"
    )
    save(tmp_path, b=of_rows(host_row(400), host_row(400), days=14))
    assert total(cli, "a.json", "b.json")[0] == 300 * 32 * MIB


def test_a_raw_value_that_differs_from_its_text_is_refused(cli: Cli, tmp_path: Path) -> None:
    """A value of 4000 beside "400" made a write amplification of 38.50."""
    error = refusal(cli, tmp_path, host_row(4000, string="400"))
    assert error.startswith(
        "b.json: ata_smart_attributes.table[0]: has raw.value 4000 and raw.string 400 of attribute 241; expected the "
        "same number in both (--attribute 241=nothing leaves it out)"
    )
    save(tmp_path, b=of_rows(host_row(400, string="400"), days=14))
    assert total(cli, "a.json", "b.json")[0] == 300 * 32 * MIB
    # What smartctl prints for people of other attributes may be a part of the value.
    celsius = {"id": 194, "name": "Temperature_Celsius", "raw": {"value": 137439150122, "string": "42"}}
    save(tmp_path, b=of_rows(host_row(400, string="400 (more)"), celsius, days=14))
    assert total(cli, "a.json", "b.json")[0] == 300 * 32 * MIB


def test_counts_that_no_drive_reaches_are_refused(cli: Cli, tmp_path: Path) -> None:
    """A value of 24 digits made 107374182400000 EB."""
    digits_ = "9" * 23
    error = refusal(cli, tmp_path, host_row(int(digits_)))
    assert error.startswith(
        f"b.json: ata_smart_attributes.table[0].raw.value: is {digits_}; expected a raw value below"
    )
    error = refusal(cli, tmp_path, host_row(2 * 10**13))
    assert error.startswith("b.json: attribute 241 (Host_Writes_32MiB) of 671 EB since any drive was new are more than")
    # 100 GB/s for ten hours, and one that the drive has not counted yet.
    most = int(11 * 3600 * 100e9) // (32 * MIB)
    error = refusal(cli, tmp_path, host_row(most + 1), power_on_time={"hours": 10})
    assert "of 3.96 PB within 10 power-on hours are more than 100 GB per second; expected a count that" in error
