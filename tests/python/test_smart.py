"""Readings of drives as `rb measure` takes them: host writes and programmed bytes, from the JSON of each tool."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from floatgate.base.errors import InputError
from floatgate.lab import smart
from floatgate.lab.counters.reading import Stated

EXPECTED = "expected a reading of smartctl, nvme-cli or a Prometheus exporter (docs/counters.md)"
MIB = 1 << 20


def smartctl(kind: str) -> dict[str, Any]:
    """What smartctl prints in front, whatever the drive."""
    return {
        "json_format_version": [1, 0],
        "smartctl": {"version": [7, 4], "argv": ["smartctl", "--json", "-x", "/dev/x"], "exit_status": 0},
        "device": {"name": "/dev/x", "info_name": "/dev/x", "type": kind, "protocol": kind.upper()},
        "model_name": "Example 1TB",
        "serial_number": "S4EMNX0R123456",
    }


def smartctl_nvme(units: Any) -> dict[str, Any]:
    log = {"critical_warning": 0, "temperature": 36, "data_units_read": 91, "data_units_written": units}
    return {**smartctl("nvme"), "nvme_smart_health_information_log": log}


def nvme_cli(units: Any) -> dict[str, Any]:
    return {
        "critical_warning": 0,
        "temperature": 311,
        "avail_spare": 100,
        "data_units_read": 5,
        "data_units_written": units,
    }


def ocp(written: Any) -> dict[str, Any]:
    return {
        "Physical media units written": written,
        "Physical media units read": {"hi": 0, "lo": 12},
        "Bad user nand blocks - Raw": 0,
        "Log page version": 3,
    }


def ata(attributes: list[tuple[int, str, Any]]) -> dict[str, Any]:
    table = [
        {"id": number, "name": name, "value": 99, "worst": 99, "thresh": 0, "raw": {"value": raw, "string": str(raw)}}
        for number, name, raw in attributes
    ]
    return {**smartctl("ata"), "ata_smart_attributes": {"revision": 1, "table": table}}


def statistics(sectors: Any, *, valid: bool = True, block: Any = 512) -> dict[str, Any]:
    entry = {
        "offset": 24, "name": "Logical Sectors Written", "size": 6, "value": sectors,
        "flags": {"value": 192, "string": "V---", "valid": valid, "normalized": False},
    }  # fmt: skip
    pages = [{"number": 0, "name": "List"}, {"number": 1, "name": "General Statistics", "table": [entry]}]
    made = {**ata([(241, "Total_LBAs_Written", 7)]), "ata_device_statistics": {"pages": pages}}
    return made if block is None else {**made, "logical_block_size": block}


def written(folder: Path, before: Any, after: Any, unit_bytes: int | None = None) -> smart.Written:
    for name, content in (("a.json", before), ("b.json", after)):
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return smart.between(folder / "a.json", folder / "b.json", Stated(unit_bytes=unit_bytes))


def refusal(folder: Path, before: Any, after: Any, unit_bytes: int | None = None) -> str:
    with pytest.raises(InputError) as caught:
        written(folder, before, after, unit_bytes)
    return str(caught.value).replace(f"{folder}/", "")


@pytest.mark.parametrize("tool", [smartctl_nvme, nvme_cli])
@pytest.mark.parametrize(("before", "after"), [(1000, 1250), ("1,000", "1,250"), ("1000", "1250"), (1000.0, 1250.0)])
def test_nvme_counts_units_of_512000_bytes(tmp_path: Path, tool: Any, before: Any, after: Any) -> None:
    difference = written(tmp_path, tool(before), tool(after))
    assert difference == smart.Written(250 * 512_000, 512_000, None, "NVMe data units written")


@pytest.mark.parametrize("name", ["Physical media units written", "physical_media_units_written"])
def test_ocp_counts_bytes_in_two_halves(tmp_path: Path, name: str) -> None:
    def log(value: Any) -> dict[str, Any]:
        return {name if key.startswith("Physical media units w") else key: v for key, v in ocp(value).items()}

    difference = written(tmp_path, log({"hi": 1, "lo": 2**64 - 5}), log({"hi": 2, "lo": 7}))
    assert difference == smart.Written(None, 0, 12, "physical media units written")
    assert written(tmp_path, log("100"), log(4096)).media_bytes == 3996


@pytest.mark.parametrize(
    ("number", "name", "unit"),
    [
        (241, "Host_Writes_32MiB", 32 * MIB),
        (225, "Host_Writes_32MiB", 32 * MIB),
        (241, "Lifetime_Writes_GiB", 1 << 30),
        (241, "Total_Writes_GB", 10**9),
        (241, "Host_Writes_MiB", MIB),
        (246, "Written_TiB", 1 << 40),
    ],
)
def test_attributes_count_in_the_unit_of_their_names(tmp_path: Path, number: int, name: str, unit: int) -> None:
    difference = written(tmp_path, ata([(9, "Power_On_Hours", 4), (number, name, 10)]), ata([(number, name, "13")]))
    assert difference == smart.Written(3 * unit, unit, None, f"attribute {number} ({name})")


def test_units_that_vendors_choose_are_asked_for(tmp_path: Path) -> None:
    readings = ata([(241, "Total_LBAs_Written", 100)]), ata([(241, "Total_LBAs_Written", 4196)])
    assert refusal(tmp_path, *readings) == (
        "b.json: attribute 241 ('Total_LBAs_Written') counts in units that each maker chooses; expected --attribute "
        "241=host:UNIT or --attribute 241=media:UNIT (512: 2.10 MB; 1MiB: 4.29 GB; 32MiB: 137 GB; 1GiB: 4.40 TB)"
    )
    assert written(tmp_path, *readings, 512).host_bytes == MIB * 2
    assert written(tmp_path, *readings, 512).step_bytes == 512


def test_device_statistics_come_before_attributes(tmp_path: Path) -> None:
    difference = written(tmp_path, statistics(8), statistics(24))
    assert difference == smart.Written(16 * 512, 512, None, "logical sectors written")
    assert written(tmp_path, statistics(8, block=4096), statistics("24", block=4096)).host_bytes == 16 * 4096
    assert written(tmp_path, statistics(8, block=None), statistics(24, block=None), 512).host_bytes == 16 * 512
    # Statistics that the drive calls invalid do not count.
    assert "attribute 241" in refusal(tmp_path, statistics(8, valid=False), statistics(24, valid=False))


def test_different_drives_are_refused(tmp_path: Path) -> None:
    other = {**smartctl_nvme(20), "serial_number": "OTHER"}
    assert refusal(tmp_path, smartctl_nvme(10), other) == (
        "b.json: is of drive 'OTHER', and a.json of drive 'S4EMNX0R123456'; expected two readings of one drive"
    )


def test_counters_that_go_backwards_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, smartctl_nvme(11), smartctl_nvme(10)) == (
        "b.json: NVMe data units written go back from 5632000 to 5120000 bytes; "
        "expected the reading before first: a.json may be the later one"
    )
    assert "physical media units written go back" in refusal(tmp_path, ocp({"hi": 1, "lo": 0}), ocp({"hi": 0, "lo": 9}))


def test_readings_of_two_tools_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, nvme_cli(10), ocp({"hi": 0, "lo": 5})) == (
        "b.json: counts physical media units written, and a.json NVMe data units written; "
        "expected two readings of one tool"
    )


def test_a_failure_of_smartctl_is_quoted(tmp_path: Path) -> None:
    failed = smartctl("nvme")
    failed["smartctl"]["messages"] = [{"string": "/dev/x: Permission denied", "severity": "error"}]
    assert refusal(tmp_path, failed, failed) == f"a.json: smartctl failed (/dev/x: Permission denied); {EXPECTED}"


_UNITS = "a.json: data_units_written:"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "a.json: is empty; "),
        ("[1]", "a.json: is a list; expected an object, in "),
        ("7", "a.json: is the number 7; expected an object, in "),
        ("{}", "a.json: says nothing of data written; "),
        ("[" * 100_000, "a.json:1:101: is nested too deeply; "),
        ('{"data_units_written": null}', "a.json: says nothing of data written; "),
        ('{"data_units_written": -4}', f"{_UNITS} is the number -4; expected a whole number from 0 on, in "),
        ('{"data_units_written": 2.5}', f"{_UNITS} is the number 2.5; expected a whole number from 0 on, in "),
        ('{"data_units_written": "many"}', f"{_UNITS} is the text 'many'; expected a counter, in digits, in "),
        ('{"data_units_written": true}', f"{_UNITS} is true; expected a whole number from 0 on, in "),
        ('{"data_units_written": NaN}', f"{_UNITS} is not a finite number or too large; "),
        ('{"data_units_written": 1e999}', f"{_UNITS} is not a finite number or too large; "),
        ('{"data_units_written": ' + "9" * 5000 + "}", f"{_UNITS} is not a finite number or too large; "),
        ('{"data_units_written": 1, "data_units_written": 2}', f"{_UNITS} is there twice; expected each key once, in "),
        (
            '{"nvme_smart_health_information_log": 4}',
            "a.json: nvme_smart_health_information_log: is the number 4; expected an object, in ",
        ),
        (
            '{"Physical media units written": {"hi": 0}}',
            "a.json: ['Physical media units written'].lo: is missing; expected a value, in ",
        ),
        (
            '{"ata_smart_attributes": {"table": [4]}}',
            "a.json: ata_smart_attributes.table[0]: is the number 4; expected an object, in ",
        ),
        (
            '{"ata_smart_attributes": {"table": [{"id": []}]}}',
            "a.json: ata_smart_attributes.table[0].id: is a list; expected a whole number from 0 to 255, in ",
        ),
        (
            '{"ata_smart_attributes": {"table": [{"id": 241, "raw": [1]}]}}',
            "a.json: ata_smart_attributes.table[0].raw: is a list; expected an object, in ",
        ),
        (
            '{"ata_device_statistics": {"pages": 5}}',
            "a.json: ata_device_statistics.pages: is the number 5; expected a list, in ",
        ),
        (
            '{"smartctl": {"messages": [4]}}',
            "a.json: smartctl.messages[0]: is the number 4; expected an object, in ",
        ),
        ('{"scsi_error_counter_log": {}}', "a.json: says nothing of data written; "),
        ("\x00\x01", "a.json:1:1: not JSON: no value at '\\x00'; "),
    ],
)
def test_damaged_readings_are_refused(tmp_path: Path, content: str, expected: str) -> None:
    message = refusal(tmp_path, content, nvme_cli(3))
    assert message.startswith(expected)
    assert EXPECTED.removeprefix("expected ") in message
    assert "\n" not in message


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00{")
    for name, place, end in (("missing", "", ""), ("d", "", ""), ("bytes", ":1:1", ", in UTF-8")):
        with pytest.raises(InputError, match=f"^{re.escape(str(tmp_path / name))}{place}: ") as caught:
            smart.read(tmp_path / name)
        assert str(caught.value).endswith(f"{EXPECTED}{end}")


# The command line

DRIVE = ("--channels", "1", "--chips", "1", "--dies", "1", "--planes", "1", "--page-bytes", "4096")


def capture(folder: Path) -> None:
    (folder / "c.txt").write_text("low_us\n" + "500\n" * 1000)


def save(folder: Path, **contents: Any) -> None:
    for name, content in contents.items():
        (folder / f"{name}.json").write_text(json.dumps(content))


def test_host_bytes_of_readings_and_their_step(cli: Cli, tmp_path: Path) -> None:
    capture(tmp_path)
    save(tmp_path, a=nvme_cli(10), b=nvme_cli(18), p=ocp({"hi": 0, "lo": 100}), q=ocp({"hi": 0, "lo": 4_096_100}))
    command = ("rb", "measure", "c.txt", *DRIVE, "--smart", "a.json", "b.json")
    facts = json.loads(cli(*command, "--ocp", "p.json", "q.json", "--json", "-").done())
    assert (facts["host_bytes"], facts["host_step_bytes"]) == (8 * 512_000, 512_000)
    assert facts["wa"] == pytest.approx(1.0)
    low = 1000 - facts["terms"]["hidden_erases"] - facts["terms"]["near_ends"]
    assert facts["wa_low"] == pytest.approx(low * 4096 / (9 * 512_000))
    assert facts["wa_high"] == pytest.approx((1000 + facts["terms"]["near_ends"]) * 4096 / (7 * 512_000))
    assert facts["firmware"] == {"media_bytes": 4_096_000}
    text = cli(*command, "--ocp", "p.json", "q.json").done()
    assert "drive says 4.10 MB programmed, a write amplification of 1.000; the pin count is the same to 0.1 %" in text
    assert "step of the host's counter" in text
    # A counter that rose by one step leaves the upper end open.
    save(tmp_path, b=nvme_cli(11))
    facts = json.loads(cli(*command, "--json", "-").done())
    assert facts["wa_high"] is None
    assert "to ?)" in cli(*command).done()


def test_readings_that_do_not_fit_are_refused(cli: Cli, tmp_path: Path) -> None:
    capture(tmp_path)
    lbas = "Total_LBAs_Written"
    save(tmp_path, a=smartctl_nvme(10), b=smartctl_nvme(18), o={**smartctl_nvme(20), "serial_number": "O"})
    save(tmp_path, p=ocp({"hi": 0, "lo": 1}), u=ata([(241, lbas, 1)]), v=ata([(241, lbas, 9)]))
    for more, expected in (
        (("--smart", "a.json", "a.json"), "--smart: NVMe data units written: the host wrote nothing; expected bytes"),
        (("--smart", "b.json", "a.json"), "a.json: NVMe data units written go back from 9216000 to 5120000 bytes"),
        (("--smart", "a.json", "o.json"), "o.json: is of drive 'O', and a.json of drive 'S4EMNX0R123456'"),
        (("--smart", "p.json", "p.json"), "p.json: has what the drive programmed, not what the host wrote"),
        (("--ocp", "a.json", "b.json"), "a.json: has NVMe data units written, not what the drive programmed"),
        (
            ("--smart", "u.json", "v.json"),
            "v.json: attribute 241 ('Total_LBAs_Written') counts in units that each maker",
        ),
        (("--smart", "u.json", "v.json", "--smart-unit", "0"), "--smart-unit: expected a number of bytes from 1 on"),
        (("--smart-unit", "512"), "--smart-unit: expected a number of bytes from 1 on, beside --smart"),
        (("--smart", "a.json", "b.json", "--host-bytes", "5"), "--host-bytes and --smart exclude each other"),
        (("--smart", "a.json"), "--smart"),
    ):
        assert expected in cli("rb", "measure", "c.txt", *DRIVE, *more).refused(), more
    vendor = ("--smart", "u.json", "v.json", "--smart-unit", "512", "--json", "-")
    assert json.loads(cli("rb", "measure", "c.txt", *DRIVE, *vendor).done())["host_bytes"] == 4096


def test_attributes_that_the_user_states(cli: Cli, tmp_path: Path) -> None:
    capture(tmp_path)
    rows = (241, "Total_LBAs_Written")
    save(tmp_path, a=ata([(*rows, 1)]), b=ata([(*rows, 3)]))
    command = ("rb", "measure", "c.txt", *DRIVE, "--smart", "a.json", "b.json")
    facts = json.loads(cli(*command, "--attribute", "241=host:1MiB", "--json", "-").done())
    assert (facts["host_bytes"], facts["host_step_bytes"]) == (2 * MIB, MIB)
    assert "has what the drive programmed" in cli(*command, "--attribute", "241=media:1MiB").refused()
    assert "--attribute: no readings are named" in cli(*command[:-3], "--attribute", "241=host:1MiB").refused()


def test_flash_writes_of_attributes_beside_the_pins(cli: Cli, tmp_path: Path) -> None:
    """--ocp takes any log of flash writes, whether or not the unit of its host writes is known."""
    capture(tmp_path)
    for name, count in (("a", 1), ("b", 5)):
        rows = [(241, "Total_LBAs_Written", count * 9), (243, "NAND_Writes_32MiB", count)]
        save(tmp_path, **{name: ata(rows)})
    command = ("rb", "measure", "c.txt", *DRIVE, "--host-bytes", "4096000", "--ocp", "a.json", "b.json", "--json", "-")
    assert json.loads(cli(*command).done())["firmware"] == {"media_bytes": 4 * 32 * MIB}
    error = cli("rb", "measure", "c.txt", *DRIVE, "--smart", "a.json", "b.json").refused()
    assert "attribute 241 ('Total_LBAs_Written') counts in units that each maker chooses" in error
