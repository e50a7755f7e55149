"""The formats of readings: one row each, with the command that prints it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from floatgate.base import units
from floatgate.base.errors import input_error
from floatgate.lab.counters import (
    fdp,
    intel,
    micron,
    nvme_smart,
    ocp,
    prometheus,
    smartctl_json,
    smartctl_text,
    wdc,
)
from floatgate.lab.counters.reading import SOURCE, Document, Reading, Stated

_SPEED_MAX = 100e9
"""Bytes per second that no drive takes, however it is attached."""
_LIFE_S = 30 * 365.25 * 86_400.0
"""Longer than drives of flash exist."""
One = Callable[[Document, Stated], Reading | None]


@dataclass(frozen=True)
class Format:
    """A format.

    Attributes:
        name: what it is called.
        command: prints it.
        counts: what it counts.
        read: makes readings of a document; an empty list if it is of another format.
    """

    name: str
    command: str
    counts: str
    read: Callable[[Document, Stated], list[Reading]]


def _single(read: One) -> Callable[[Document, Stated], list[Reading]]:
    def listed(document: Document, stated: Stated) -> list[Reading]:
        reading = read(document, stated)
        return [] if reading is None else [reading]

    return listed


FORMATS = (
    Format(
        "smartctl JSON", "smartctl --json -x /dev/sda", "host; flash on some SATA drives", _single(smartctl_json.read)
    ),
    Format("smartctl text", "smartctl -x /dev/sda", "host; flash on some SATA drives", _single(smartctl_text.read)),
    Format("OCP log 0xC0", "nvme ocp smart-add-log -o json /dev/nvme0", "flash", _single(ocp.read)),
    Format("FDP statistics", "nvme fdp stats -o json /dev/nvme0 -e 1", "host, flash, erased", _single(fdp.read)),
    Format("Intel, Solidigm", "nvme intel smart-log-add --json /dev/nvme0", "host, flash", _single(intel.read)),
    Format("Micron", "nvme micron vs-nand-stats -f json /dev/nvme0", "flash", _single(micron.read)),
    Format("WDC", "nvme wdc vs-nand-stats -o json /dev/nvme0", "flash", _single(wdc.read)),
    Format("nvme-cli", "nvme smart-log -o json /dev/nvme0", "host", _single(nvme_smart.read)),
    Format("Prometheus text", "curl localhost:9633/metrics", "host; flash on some SATA drives", prometheus.read),
)
"""In the order in which they are tried; ``smart-log`` is last of nvme-cli, since its keys stand in other logs, too."""


def readings(document: Document, stated: Stated) -> list[Reading]:
    """Return the readings of a document; an empty list if no format knows it, or it has no counter.

    Raises:
        InputError: a value in it is damaged.
    """
    for one in FORMATS:
        made = one.read(document, stated)
        if made:
            for reading in made:
                _must_be_possible(reading)
            return [reading for reading in made if reading.counts]
    return []


def _must_be_possible(reading: Reading) -> None:
    """Refuse a counter of more than any drive can have written since it was new.

    Raises:
        InputError: there is one.
    """
    hours = reading.power_on_hours
    # The hours of a drive may be one behind.
    seconds = _LIFE_S if hours is None else 3600.0 * (hours + 1)
    span = "since any drive was new" if hours is None else f"within {units.counted(hours, 'power-on hour')}"
    for counter in (reading.host, reading.media, reading.erased):
        if counter is not None and counter.value_bytes > _SPEED_MAX * seconds:
            raise input_error(
                f"{reading.place}: {counter.source} of {units.decimal_bytes(counter.value_bytes)} {span} are more "
                f"than {units.decimal_bytes(_SPEED_MAX)} per second; expected a count that the drive can reach (is "
                "its unit right?)"
            )


def refusal(document: Document) -> Exception:
    """Return the error of a document without a known counter."""
    if re.search(r"permission denied|no such device|not found", document.text, re.IGNORECASE):
        line = next(line for line in document.text.splitlines() if line.strip())
        return input_error(
            f"{document.place}: holds a message in place of a reading ({line.strip()}); expected {SOURCE}"
        )
    return input_error(f"{document.place}: says nothing of data written; expected {SOURCE}")
