"""The drive of DiskSim's parameters, for floatgate and for the model of DiskSim's rules."""

from __future__ import annotations

from typing import Any

from floatgate.base.errors import input_error
from validation.disksim.model import BYTES_PER_SECTOR, SECTORS_PER_PAGE, Drive

# What both can follow; anything else would be another drive.
_REQUIRED = {
    "Write policy": (2.0, "pages are written to the log of their plane"),
    "Cleaning policy": (2.0, "greedy, wear does not matter"),
    "Plane block mapping": (3.0, "blocks are striped over all planes"),
    "Copy back": (1.0, "pages are moved inside their plane"),
    "Number of parallel units": (1.0, "an element does one thing at a time"),
    "Allocation pool logic": (1.0, "pages are allocated by element"),
    "Elements per gang": (1.0, "each element has its own bus"),
    "Cleaning in background": (0.0, "in the foreground"),
    "Element stride pages": (1.0, "page p lies on element p modulo elements"),
    "Page size": (float(SECTORS_PER_PAGE), "8 sectors"),
    "Command overhead": (0.0, "none"),
    "Bus transaction latency": (0.0, "none"),
    "Bulk sector transfer time": (0.0, "the bus alone takes time"),
    "Never disconnect": (1.0, "the link is kept"),
}


def drive_of(parameters: dict[str, dict[str, str]], path: str) -> Drive:
    """Make the drive of the blocks ``ssdmodel_ssd`` and the last bus above it.

    Raises:
        InputError: a parameter is missing, or needs what neither floatgate nor the model does.
    """
    ssd = _Block(parameters, "ssdmodel_ssd", path)
    for key, (value, meaning) in _REQUIRED.items():
        if ssd.number(key) != value:
            raise input_error(f"{path}: ssdmodel_ssd: '{key}' = {ssd.text(key)}; expected {value:g} ({meaning})")
    blocks = int(ssd.number("Blocks per plane"))
    drive = Drive(
        elements=int(ssd.number("Flash chip elements")),
        planes=int(ssd.number("Planes per package")),
        blocks_per_plane=blocks,
        pages_per_block=int(ssd.number("Pages per block")),
        reserved_blocks=blocks * int(ssd.number("Reserve pages percentage")) // 100,
        clean_blocks=blocks * int(ssd.number("Minimum free blocks percentage")) // 100,
        read_ms=ssd.number("Page read latency"),
        write_ms=ssd.number("Page write latency"),
        erase_ms=ssd.number("Block erase latency"),
        byte_ms=ssd.number("Chip xfer latency"),
        link_sector_ms=_link_sector_ms(parameters, path),
        queue_max=int(ssd.number("Max queue length")),
    )
    if drive.elements < 1 or drive.planes < 1 or drive.pages_per_block < 2:
        raise input_error(f"{path}: ssdmodel_ssd: no pages; expected elements, planes, and blocks of 2 pages or more")
    return drive


def _link_sector_ms(parameters: dict[str, dict[str, str]], path: str) -> float:
    bus = _Block(parameters, "disksim_bus BUSHBA", path)
    read, write = bus.number("Read block transfer time"), bus.number("Write block transfer time")
    if read != write:
        raise input_error(f"{path}: disksim_bus BUSHBA: reads and writes take different times; expected equal ones")
    return read


def settings_of(drive: Drive) -> dict[str, Any]:
    """Return the same drive as an experiment of floatgate, without a workload.

    floatgate has no key for the link to the host, the summary page of each block, and writes to the plane with most
    free pages. The room of the summary page is left out of the block, its time is not spent. An element serves one page
    at a time whatever the plane, so its blocks are one plane here (``Drive.in_one_plane``).
    """
    pool = drive.in_one_plane()
    transfer_us = SECTORS_PER_PAGE * BYTES_PER_SECTOR * drive.byte_ms * 1e3
    return {
        "mode": "timed",
        "drive.geometry.channels": drive.elements,
        "drive.geometry.planes_per_die": 1,
        "drive.geometry.blocks_per_plane": pool.blocks_per_plane,
        "drive.geometry.pages_per_block": drive.pages_per_block - 1,
        "drive.geometry.page_bytes": SECTORS_PER_PAGE * 512,
        "drive.timing.read_us": round(drive.read_ms * 1e3, 6),
        "drive.timing.program_us": round(drive.write_ms * 1e3, 6),
        "drive.timing.erase_us": round(drive.erase_ms * 1e3, 6),
        # 512 bytes take as long as the 528 that DiskSim sends for them.
        "drive.timing.channel_mb_per_s": SECTORS_PER_PAGE * 512 / transfer_us,
        "drive.commands.copyback": True,
        "drive.scheduling.policy": "fcfs",
        "ftl.mapping_bytes": SECTORS_PER_PAGE * 512,
        "ftl.spare_factor": pool.reserved_blocks / pool.blocks_per_plane,
        "ftl.precondition": "sequential",
        "ftl.allocation.mode": "static",
        "ftl.collect.policy": "greedy",
        "ftl.collect.mode": "whole-block",
        "ftl.collect.trigger_free_blocks": pool.clean_blocks + 1,
        "ftl.collect.stop_free_blocks": pool.clean_blocks + 1,
        "host.outstanding_max": drive.queue_max,
        "workload.arrival": "open",
    }


class _Block:
    """The keys of one block."""

    def __init__(self, parameters: dict[str, dict[str, str]], name: str, path: str) -> None:
        """Take the block ``name`` (its type, or type and name); without one, no key is found."""
        self.keys = parameters.get(name, {})
        self.name = name
        self.path = path

    def text(self, key: str) -> str:
        if key not in self.keys:
            raise input_error(f"{self.path}: {self.name}: no '{key}'; expected parameters of DiskSim's SSD extension")
        return self.keys[key]

    def number(self, key: str) -> float:
        text = self.text(key)
        try:
            return float(text)
        except ValueError:
            raise input_error(f"{self.path}: {self.name}: '{key}' = {text}; expected a number") from None
