"""What the attributes of SATA drives count, by name and family of drives.

Facts of public drive databases: names and numbers as smartmontools prints them (``drivedb.h`` of smartmontools, read
2026-08), units as the names say them or as the maker documents them. No text of these databases is copied.

``SURE`` says how each unit is known. A row with an open unit makes a question to the user, never a figure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from floatgate.lab.counters.reading import Role
from floatgate.lab.counters.values import GIB, MIB, named_unit

SURE = {
    "name": "the name says the unit",
    "maker": "the maker documents the unit",
    "sectors": "the name says sectors, which have 512 bytes on these drives",
    "open": "no public source says the unit",
}
SECTOR = 512
USUAL = (SECTOR, MIB, 32 * MIB, GIB)
"""Units that makers choose for an attribute without a unit in its name."""


@dataclass(frozen=True)
class Row:
    """What an attribute counts.

    Attributes:
        name: of the attribute, as smartmontools prints it.
        role: what it counts.
        unit_bytes: bytes of one count; None if that is open, or if it counts something else.
        sure: how the unit is known, a key of ``SURE``.
        family: part of the name of the family of drives; empty for all.
        numbers: the attribute's numbers; empty for all.
        part: which part of the flash writes it counts, such as ``TLC``; empty for all of them.
        model: pattern of drives of this family that an older database does not know.
        programs: ``host`` or ``others`` if it counts programmed pages, of an unknown size.
        note: what else is known.
    """

    name: str
    role: Role
    unit_bytes: int | None = None
    sure: str = "name"
    family: str = ""
    numbers: tuple[int, ...] = ()
    part: str = ""
    model: str = ""
    programs: str = ""
    note: str = ""


_HOST, _MEDIA, _ERASE, _NOTHING = Role.HOST, Role.MEDIA, Role.ERASE, Role.NOTHING
_PAGES = "the ratio of (host + FTL) to host program pages is the write amplification (Micron TN-FD-23)"

ROWS = (
    # Host writes; the name says the unit.
    Row("Host_Writes_32MiB", _HOST, 32 * MIB, note="Intel, Solidigm, Silicon Motion, Plextor, Innodisk and others"),
    Row("Host_Writes_MiB", _HOST, MIB, note="Apple"),
    Row("Host_Writes_GiB", _HOST, GIB, note="Indilinx, Kingston, Maxio, Seagate, WD and others"),
    Row(
        "Lifetime_Writes_GiB", _HOST, GIB, note="Phison, SandForce, SK hynix, Supermicro; some Phison firmware: 32 MiB"
    ),
    Row("Total_Writes_GiB", _HOST, GIB, note="SanDisk, Seagate Nytro XF1230"),
    Row("Total_Writes_GB", _HOST, 10**9, note="SK hynix SC31x"),
    Row("Lifetime_Wts_Frm_Hst_GB", _HOST, 10**9, note="Seagate Nytro, IronWolf 110"),
    # Flash writes; the name says the unit.
    Row("NAND_Writes_32MiB", _MEDIA, 32 * MIB, note="Intel and Solidigm DC, Silicon Motion USB"),
    Row("NAND_Writes_1GiB", _MEDIA, GIB, note="Intel client drives, Samsung CM871a and PM871, Supermicro"),
    Row("NAND_Writes_GiB", _MEDIA, GIB, note="SK hynix SC311, SC313"),
    Row("Flash_Writes_32MiB", _MEDIA, 32 * MIB, note="Innodisk, XITC"),
    Row("Flash_Writes_GiB", _MEDIA, GIB, note="Phison, Seagate BarraCuda"),
    Row("NAND_GiB_Written", _MEDIA, GIB, note="SandForce"),
    Row("Total_NAND_Writes_GiB", _MEDIA, GIB, note="SanDisk with Marvell controllers"),
    Row("Total_NAND_Prog_Ct_GiB", _MEDIA, GIB, note="Indilinx Barefoot 3, OCZ Intrepid 3000"),
    Row("Lifetime_NAND_Prg_GiB", _MEDIA, GIB, family="SK hynix", numbers=(241,), note="241 is no host counter here"),
    Row("Lifetime_NAND_Prg_GiB", _NOTHING, family="SK hynix", numbers=(234,), note="doubtful in the database"),
    Row("Lifetime_Wts_To_Flsh_GB", _MEDIA, 10**9, note="Seagate Nytro, IronWolf 110"),
    # Flash writes in two parts.
    Row("NAND_GB_Written_TLC", _MEDIA, 10**9, part="TLC", note="WD Blue, Red, Green; with the part of SLC"),
    Row("NAND_GB_Written_SLC", _MEDIA, 10**9, part="SLC", note="WD Blue, Red, Green; with the part of TLC"),
    Row("TLC_Writes_32MiB", _MEDIA, 32 * MIB, part="TLC", note="Silicon Motion; with the part of SLC"),
    Row("SLC_Writes_32MiB", _MEDIA, 32 * MIB, part="SLC", note="Silicon Motion; with the part of TLC"),
    Row("TLC_NAND_GB_Writes", _MEDIA, 10**9, part="TLC", note="SanDisk; Total_NAND_Writes_GiB has all"),
    # Sectors.
    Row("Sectors_Written_to_SSD", _HOST, SECTOR, "sectors", note="ATP Superior"),
    Row("Sectors_Written_to_NAND", _MEDIA, SECTOR, "sectors", note="ATP Superior: 241 counts flash"),
    Row("Device_Sectors_Written", _HOST, SECTOR, "sectors", note="ATP aMLC"),
    Row("Nand_Sectors_Written", _MEDIA, SECTOR, "sectors", note="ATP aMLC: 241 counts flash"),
    Row("NAND_Write_Sector_Cnt", _MEDIA, SECTOR, "sectors", note="Maxio, first variant"),
    Row("Flash_Writes_Sectors", _MEDIA, SECTOR, "sectors", note="Seagate BarraCuda, IronWolf 125"),
    Row(
        "Total_LBAs_Written",
        _HOST,
        SECTOR,
        "maker",
        "Samsung",
        (241,),
        model=r"samsung (ssd|mz)",
        note="times 512 bytes by Samsung's note on lifetime",
    ),
    Row(
        "Total_LBAs_Written",
        _HOST,
        SECTOR,
        "maker",
        "Micron",
        (246,),
        model=r"(crucial_)?ct\d+.*ssd|micron_(m|5)",
        note="cumulative host sectors (Micron TN-FD-22)",
    ),
    Row("Host_Program_Page_Count", _NOTHING, programs="host", numbers=(247,), note=_PAGES),
    Row("FTL_Program_Page_Count", _NOTHING, programs="others", numbers=(248,), note=_PAGES),
    Row("Bckgnd_Program_Page_Cnt", _NOTHING, programs="others", numbers=(248,), note=_PAGES),
    # Writes of an open unit: a question.
    Row("Host_Writes", _HOST, None, "open", note="OCZ/Toshiba Trion"),
    Row("Lifetime_Writes", _HOST, None, "open", note="Indilinx Everest"),
    Row("Total_Host_LBA_Written", _HOST, None, "open", note="Swissbit X-8x"),
    Row("Write_Sectors_Tot_Ct", _HOST, None, "open", note="Indilinx Barefoot"),
    Row("Flash_Writes_LBAs", _MEDIA, None, "open", note="SMART Modular XL+"),
    Row("Total_Media_Writes", _MEDIA, None, "open", note="SK hynix"),
    Row("NAND_Writes", _MEDIA, None, "open", note="Samsung PM863, PM893"),
    Row("Lifetime_Nand_Writes", _MEDIA, None, "open", note="SanDisk CloudSpeed"),
    Row("Lifetime_Nand_Gb", _MEDIA, None, "open", note="Seagate Nytro XF1230"),
    Row("Total_NAND_Written", _MEDIA, None, "open", note="SSSTC"),
    Row("Flash_LBAs_Written", _MEDIA, None, "open", note="Swissbit X-7x, with an exponent in 237"),
    Row("Flash_Writes_LBAs_Low", _MEDIA, None, "open", note="Swissbit X-600m, in two halves"),
    Row("Total_LBAs_Written_Low", _HOST, None, "open", note="Swissbit X-600m, in two halves"),
    Row("Total_LBAs_Written", _HOST, None, "open", note="the name that smartctl has for 241 of any drive"),
    # Numbers that count writes elsewhere.
    Row("Total_LBAs_Written_High", _NOTHING, note="Swissbit X-600m"),
    Row("Flash_Writes_LBAs_High", _NOTHING, note="Swissbit X-600m"),
    Row("Flash_LBAs_Written_Exp", _NOTHING, note="Swissbit X-7x"),
    Row("Host_LBA_Write_Exp", _NOTHING, note="Swissbit X-7x"),
    Row("Total_Write/Erase_Count", _NOTHING, note="SanDisk: several values in one field"),
    Row("Data_Log_Write_Count", _NOTHING, note="Innodisk"),
    Row("Number_Of_Write_Ct", _NOTHING, note="SanDisk CS1K"),
    Row("Write_Commands_Tot_Ct", _NOTHING, note="Indilinx Barefoot"),
    Row("Total_Erase_Count", _ERASE, None, "open", note="blocks: 246 on Phison, where others count writes"),
    Row("Gigabytes_Erased", _ERASE, 10**9, note="SandForce, Seagate"),
    Row("Flash_GB_Erased", _ERASE, 10**9, note="Seagate Nytro, IronWolf 110"),
)

_WRITE = re.compile(r"writ|wts|prog(?!ram_fail)|prg", re.IGNORECASE)
_FLASH = re.compile(r"nand|flash|flsh|media|[tqs]lc|prog|prg", re.IGNORECASE)
_OTHER = re.compile(
    r"erase|fail|error|err_|retr|protect|amp|throttl|high_fly|head|temp|wear|perc|percent|exp$|command|cmd|read|rds|"
    r"recover|skip|level|endurance|remap|abort|life_?left|remain",
    re.IGNORECASE,
)


@cache
def _by_name() -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {}
    for row in ROWS:
        rows.setdefault(row.name.lower(), []).append(row)
    return rows


def row_of(number: int | None, name: str, family: str | None, model: str | None) -> Row | None:
    """Return what an attribute counts: by the table, else by its name; None if it counts no writes.

    Args:
        number: of the attribute, if the tool prints it.
        name: as the tool prints it, in any case, with ``-`` or ``_``.
        family: of the drive in the tool's database; None if that does not know the drive.
        model: name of the drive.
    """
    key = re.sub(r"[-\s]", "_", name.strip().lower())
    for row in _by_name().get(key, []):
        numbers = not row.numbers or number is None or number in row.numbers
        if numbers and _is_of(row, family, model):
            return row
    return of_name(name)


def _is_of(row: Row, family: str | None, model: str | None) -> bool:
    """Return whether a drive belongs to the family of a row."""
    if not row.family:
        return True
    if family:
        return row.family.lower() in family.lower()
    return bool(row.model and model and re.match(row.model, model.strip(), re.IGNORECASE))


def of_name(name: str) -> Row | None:
    """Return what the name of an attribute says by itself; None if it speaks of no writes.

    A unit in the name counts. Flash is what the name calls NAND, flash, media or programs; everything else is the host.
    """
    if not _WRITE.search(name) or _OTHER.search(name):
        return None
    role = Role.MEDIA if _FLASH.search(name) else Role.HOST
    unit = named_unit(name)
    if unit is None and re.search(r"sectors", name, re.IGNORECASE):
        return Row(name, role, None, "open")
    return Row(name, role, unit, "name" if unit else "open")
