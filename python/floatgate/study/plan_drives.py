"""The drives of a plan: names and groups of the catalogue, their capacities and spare factors, and their needs."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from floatgate import _core
from floatgate.base import units
from floatgate.base.errors import InputError, input_error, meant, one_line, quote
from floatgate.results.drive_array import entries_of_catalogue
from floatgate.results.sold_drives import flash_and_capacity
from floatgate.run.experiment import Experiment, Overrides, toml_value
from floatgate.run.needs import TABLE_BYTES, WAF_SETTINGS, flash_bytes, units_of_map
from floatgate.run.run import check
from floatgate.run.slicing import slice_of
from floatgate.run.volume import volume_of

GROUPS = ("current", "papers")
"""Groups that the catalogue itself names: drives that one can buy, and those of papers."""
_ALIASES = {"enterprise": ("ent", "boot")}
"""Words for parts of names: boot drives of servers are of enterprise flash."""
_OWN = ("geometry", "capacity", "timing", "endurance", "rated")
"""Keys of ``[drive]`` that define a drive."""
_SHOWN_MAX = 5


@dataclass(frozen=True)
class Candidate:
    """One drive that a plan tries.

    Attributes:
        drive: its name in the catalogue; None for the drive of the experiment.
        capacity: a text such as ``64 GiB``; None for its own.
        spare: the text of a share; None for its own.
        refusal: why it cannot hold the volume of the plan; None where it can.
    """

    drive: str | None
    capacity: str | None
    spare: str | None = None
    refusal: str | None = None

    @property
    def label(self) -> str:
        """``client-tlc-1t``, ``64 GiB``, ``client-tlc-1t of 64 GiB``."""
        if self.drive is None:
            return self.capacity or "the drive of the experiment"
        return self.drive if self.capacity is None else f"{self.drive} of {self.capacity}"

    def overrides(self, base: Experiment) -> Overrides:
        """Return the settings that make it the drive of an experiment.

        A smaller capacity is a slice with fewer dies, as ``--capacity`` makes it.
        """
        made: Overrides = []
        if self.drive is not None:
            made.append(("drive.preset", toml_value("drive.preset", self.drive)))
        if self.capacity is not None:
            made += slice_of(base.with_overrides(made), self.capacity)
        return made if self.spare is None else [*made, ("ftl.spare_factor", self.spare)]

    def holding(self, base: Experiment, volume_bytes: int | None) -> Candidate:
        """Return it with as much spare space as a volume leaves, or with the reason why it cannot hold that."""
        if volume_bytes is None:
            return self
        try:
            settings = volume_of(base.with_overrides(self.overrides(base)), volume_bytes)
        except _core.InputError as error:
            return replace(self, refusal=one_line(error))
        return replace(self, spare=settings[0][1])


@dataclass(frozen=True)
class Needs:
    """The cost of the work on a drive: flash, a bound of memory (data at rest take none), and pages of the map."""

    flash_bytes: int
    memory_bytes: int
    map_units: int = 0

    @classmethod
    def of(cls, resolved: str) -> Needs:
        """Derive the needs of a resolved experiment."""
        settings = tomllib.loads(resolved)
        # A drive for the laps and one for the close-up.
        map_units = units_of_map(settings)
        return cls(flash_bytes(settings), int(map_units * 2 * TABLE_BYTES), map_units)


def needs(base: Experiment, candidate: Candidate) -> Needs | InputError:
    """Return the needs of a drive, or the error of an impossible one."""
    if candidate.refusal is not None:
        return input_error(candidate.refusal)
    try:
        return Needs.of(check(base.with_overrides(candidate.overrides(base))))
    except _core.InputError as error:
        return error


def flash_as_sold(name: str) -> int:
    """Return the flash of a drive of the catalogue as it is sold, which may be more than its model has."""
    return flash_and_capacity(name)[0]


def sold_bytes(name: str | None, physical_bytes: float) -> float | None:
    """Return the capacity as sold of so much flash of a drive of the catalogue; None where no such drive is sold."""
    flash, sold = (0, None) if name is None else flash_and_capacity(name)
    return None if sold is None else physical_bytes / flash * sold


def named_drives(names: Sequence[str], option: str = "--drives") -> list[str]:
    """Expand names and groups into names, each once; errors name the option.

    A group is ``current``, ``papers``, or one or more words of names: ``client``, ``ent-tlc``, ``qlc``. It holds the
    current drives with these words; those of papers where no current drive has them.

    Raises:
        InputError: a name or group is unknown.
    """
    entries = entries_of_catalogue()
    of_group = {entry["name"]: entry["group"] for entry in entries}
    drives: list[str] = []
    for name in names:
        members = [name] if name in of_group else _members(name, of_group)
        if not members:
            raise input_error(_unknown(option, name, list(of_group)))
        drives += members
    return list(dict.fromkeys(drives))


def assumes_waf(base: Experiment) -> bool:
    """Return whether write amplification is given; then no drive is simulated."""
    settings = tomllib.loads(base.toml or "").get("lifetime", {}).get("forecast", {})
    keys = {f"lifetime.forecast.{key}" for key in settings} | {key for key, _ in base.overrides}
    return bool(keys & WAF_SETTINGS)


def must_leave_drives(base: Experiment) -> None:
    """Refuse an experiment file whose own drive would lie over those of the catalogue.

    Raises:
        InputError: it sets a key that defines a drive.
    """
    settings = tomllib.loads(base.toml or "")
    keys = [f"drive.{key}" for key in _OWN if key in settings.get("drive", {})]
    keys += ["ftl.spare_factor"] if "spare_factor" in settings.get("ftl", {}) else []
    if keys:
        raise input_error(
            f"{base.path}: sets {', '.join(keys)}, which each drive of --drives has itself; expected an experiment "
            "without it (--capacities and --spare-factors vary drives)"
        )


def _members(group: str, of_group: dict[str, str]) -> list[str]:
    if group in GROUPS:
        return [name for name, own in of_group.items() if own == group]
    words = [f"-{word}-" for word in _ALIASES.get(group, (group,))]
    having = [name for name in of_group if any(word in f"-{name}-" for word in words)]
    return [name for name in having if of_group[name] == "current"] or having


def _unknown(option: str, name: str, names: list[str]) -> str:
    words = sorted({part for one in names for part in one.split("-") if part.isalpha()} | {*GROUPS, *_ALIASES})
    return f"{option}: unknown drive or group {quote(name)}; {meant(name, [*names, *words], 'floatgate drives')}"


def work_texts(drive_needs: Sequence[Needs], at_once: int, managers: int, *, whole: bool) -> list[str]:
    """Say what a plan is about to do, what of that is simulated, and how to shorten it.

    Args:
        drive_needs: those of the drives.
        at_once: how many are simulated at a time.
        managers: the throttles and reducers of each drive.
        whole: whether the drives keep their own capacities.

    Returns:
        A line such as ``3 drives of 1.1 TiB to 2.0 TiB, 2 at once; up to 9.4 GiB of memory``, and one or two more.
    """
    sizes = sorted(one.flash_bytes for one in drive_needs)
    memory = sum(sorted((one.memory_bytes for one in drive_needs), reverse=True)[:at_once])
    ends = dict.fromkeys(map(units.binary_bytes, (sizes[0], sizes[-1])))
    drives = f"{units.counted(len(sizes), 'drive')} of {' to '.join(ends)}"
    pages = sum(one.map_units for one in drive_needs)
    lives = f"forecast from that: the lives of {units.counted(managers * len(sizes), 'choice')}"
    slices = ", or slices: --capacities 64GiB" if whole else ""
    return [
        f"{drives}, {at_once} at once; up to {units.binary_bytes(memory)} of memory",
        f"simulated: {pages / 1e6:.0f} million pages, until write amplification settles; {lives}",
        f"faster: --set lifetime.forecast.waf_of_bytes=WAF if known (no simulation){slices}",
    ]
