"""Singular and plural in what ``floatgate counters`` says of readings and attributes."""

from __future__ import annotations

from pathlib import Path

from conftest import Cli
from floatgate.lab.counters import collecting
from test_counters import sata, save


def test_an_attribute_falls(cli: Cli, tmp_path: Path) -> None:
    host = "Host_Writes_GiB"
    save(tmp_path, a=sata((241, host, 500)), b=sata((241, host, 480), days=1), c=sata((241, host, 600), days=2))
    text = cli("counters", "a.json", "b.json", "c.json").done()
    assert "attribute 241 (Host_Writes_GiB) falls from " in text


def test_one_reading_is_a_singular() -> None:
    assert collecting._lonely(1) == "1 reading has no counterpart at its time"
    assert collecting._lonely(2) == "2 readings have no counterpart at their time"
