"""The formats of readings: one row each, with the command that prints it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

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
            return [reading for reading in made if reading.counts]
    return []


def refusal(document: Document) -> Exception:
    """Return the error of a document without a known counter."""
    if re.search(r"permission denied|no such device|not found", document.text, re.IGNORECASE):
        line = next(line for line in document.text.splitlines() if line.strip())
        return input_error(
            f"{document.place}: holds a message in place of a reading ({line.strip()}); expected {SOURCE}"
        )
    return input_error(f"{document.place}: says nothing of data written; expected {SOURCE}")
