"""From a recording to its placement: keys, groups, and the runs that judge them."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from floatgate.base.errors import input_error, meant, quote
from floatgate.placement.answer import BY_FILE, LOG_DATA, NONE, ORA, SEPBIT, Applied, Placement
from floatgate.placement.drive import ISOLATIONS, SEPARATOR, Wanted, collection_units, unit_bytes
from floatgate.placement.grouping import NO_HANDLE, by_life
from floatgate.placement.keys import BY, RECORD_AGAIN, Keys, keys_of
from floatgate.placement.lives import of_keys
from floatgate.placement.logs import logs
from floatgate.placement.tables import group_rows, key_rows
from floatgate.placement.trial import HOST_STREAMS, Results, Trial, TrialRun, result_of
from floatgate.report.sections.streams import streams_of_contexts
from floatgate.run.experiment import Overrides

LIFETIME = "lifetime"
SEPARATORS = ("pds", "ids")
"""Policies that are separators of the drive; they use contexts."""
POLICIES = (*SEPARATORS, LIFETIME)


def place(
    trace: str | Path,
    *,
    by: str = "context",
    policy: str | None = None,
    handles: int = 8,
    isolation: str = ISOLATIONS[0],
    reclaim_unit_kib: int | None = None,
    overrides: Overrides | None = None,
    apply: str | Path | None = None,
) -> Placement:
    """Find the table of a trace that ``floatgate trace record`` wrote, and compare it with simpler rules.

    Args:
        trace: Parquet, with what ``by`` goes by.
        by: one of :data:`~floatgate.placement.keys.BY`.
        policy: ``lifetime``, or for contexts ``pds`` or ``ids``; None for ``pds`` with contexts, ``lifetime``
            otherwise.
        handles: of the drive, handle 0 included; from 2 to 1024.
        isolation: which unit a moved page joins, as ``ftl.separate.isolation`` of ``host-given`` has it.
        reclaim_unit_kib: size of a reclaim unit; None for the drive's.
        overrides: settings of the drive in place of :data:`~floatgate.placement.drive.DRIVE`'s, and parameters of
            the separator that makes the table.
        apply: another such trace, on which the table is tried, too.

    Raises:
        InputError: no such key, policy or isolation, a number of handles out of range, a trace without such keys,
            unusable settings, a trace to apply the table to that shares no key with the first.
        RunError: a run ended early.
    """
    policy = _checked(by, policy, handles, isolation, reclaim_unit_kib, overrides or [])
    wanted = Wanted(handles, isolation, reclaim_unit_kib, overrides)
    source = Path(trace)
    keys = keys_of(source, by)
    with tempfile.TemporaryDirectory(prefix="floatgate-") as folder:
        other: _Other | None = None
        if apply is not None:
            other = _other(Path(apply), source, keys)
        first = Trial(source, Path(folder) / "first", wanted)
        second = None if other is None else Trial(other.source, Path(folder) / "other", wanted)
        if other is not None and second is not None:
            _must_share(other, keys, first, second)
        rules = _Rules(first, keys, policy)
        outcome = rules.find()
        applied = None
        if other is not None and second is not None:
            applied = _applied(other, second, outcome.handle, wanted, policy)
    return Placement(
        trace=str(trace),
        by=by,
        policy=policy,
        handles=handles,
        isolation=isolation,
        reclaim_unit_bytes=unit_bytes(outcome.config),
        collection_units=collection_units(handles, isolation),
        span_s=first.span_s,
        keys=outcome.keys,
        groups=outcome.groups,
        results=outcome.results,
        isolations=outcome.isolations,
        used=outcome.used,
        stand_ins=rules.files.stand_ins,
        applied=applied,
    )


def _checked(
    by: str, policy: str | None, handles: int, isolation: str, reclaim_unit_kib: int | None, overrides: Overrides
) -> str:
    """Check the arguments; return the policy."""
    if by not in BY:
        raise input_error(f"--by {quote(by)}: unknown key; {meant(by, BY)}")
    chosen = policy or (SEPARATORS[0] if by == "context" else LIFETIME)
    if chosen not in POLICIES:
        raise input_error(f"--policy {quote(chosen)}: unknown policy; {meant(chosen, POLICIES)}")
    if chosen in SEPARATORS and by != "context":
        raise input_error(f"{chosen} goes by contexts, not by {by}; expected --by context, or --policy {LIFETIME}")
    if isolation not in ISOLATIONS:
        raise input_error(f"--isolation {quote(isolation)}: unknown isolation; {meant(isolation, ISOLATIONS)}")
    if reclaim_unit_kib is not None and reclaim_unit_kib < 1:
        raise input_error(f"--reclaim-unit-kib {reclaim_unit_kib}; expected a whole number of KiB greater than 0")
    if not 2 <= handles <= 1024:
        raise input_error(
            f"--handles {handles}: out of range; expected 2 to 1024, one for ungrouped writes and one per group"
        )
    _must_be_free(chosen, overrides)
    return chosen


def _must_be_free(chosen: str, overrides: Overrides) -> None:
    """Refuse settings that the placement makes itself."""
    for key, _ in overrides:
        if key in {SEPARATOR + "policy", SEPARATOR + "groups"}:
            raise input_error(
                f"{key}: the table is made by the separator that --policy names, with a group for each handle but one; "
                "expected --policy and --handles"
            )
        if key in {SEPARATOR + "handles", SEPARATOR + "isolation"}:
            raise input_error(f"{key}: {HOST_STREAMS} follows the table; expected --handles and --isolation")
        if key.startswith(SEPARATOR) and chosen == LIFETIME:
            raise input_error(f"{key}: no separator makes this table; expected it with --policy {SEPARATORS[0]} or ids")


@dataclass(frozen=True)
class _Outcome:
    handle: Any
    keys: list[dict[str, Any]]
    groups: list[dict[str, Any]]
    results: Results
    isolations: Results
    used: dict[str, int]
    config: dict[str, Any]


class _Rules:
    """The rules that are tried on a recording, each with the handles that it gives to its rows."""

    def __init__(self, trial: Trial, keys: Keys, policy: str) -> None:
        self._trial, self._keys, self._policy, self._wanted = trial, keys, policy, trial.wanted
        self.files = keys if keys.by == "file" else keys_of(trial.trace, "file")

    def find(self) -> _Outcome:
        trial, wanted, policy = self._trial, self._wanted, self._policy
        by_file, by_log = self._by_file(), log_data(self._trial, self.files)
        runs = [
            TrialRun(NONE, "none", []),
            self._handle_run(LOG_DATA, by_log, wanted.isolation, must=False),
            *([] if self._keys.by == "file" else [self._handle_run(BY_FILE, by_file, wanted.isolation, must=False)]),
            *in_drive(wanted, policy),
        ]
        results = trial.run(runs)
        handle = self._handles(results)
        of_row = trial.handle_of(self._keys.of_row, handle)
        chosen = [self._handle_run(HOST_STREAMS, of_row, wanted.isolation, must=True)]
        others = [self._handle_run(one, of_row, one, must=False) for one in ISOLATIONS if one != wanted.isolation]
        followed = trial.run([*chosen, *others])
        results[HOST_STREAMS] = followed.pop(HOST_STREAMS)
        mine = result_of(results, HOST_STREAMS)
        keys = key_rows(self._keys, self._of_keys(self._keys), handle, trial)
        written = trial.lives.row
        used = {
            name: len(np.unique(rows[written]))
            for name, rows in ((LOG_DATA, by_log), (BY_FILE, by_file), (HOST_STREAMS, of_row))
            if name in results
        }
        groups = group_rows(keys, of_row, trial)
        return _Outcome(handle, keys, groups, results, followed, {NONE: 1, **used}, mine["config"])

    def _handle_run(self, name: str, handle: Any, isolation: str, *, must: bool) -> TrialRun:
        return TrialRun(name, HOST_STREAMS, handle_settings(self._wanted.handles, isolation), handle, must)

    def _of_keys(self, keys: Keys) -> Any:
        return of_keys(self._trial.lives, keys.of_row[self._trial.rows], len(keys.names))

    def _lifetime(self, keys: Keys) -> Any:
        lives = self._of_keys(keys)
        return by_life(lives.mean_life, lives.page_writes, self._wanted.handles)

    def _by_file(self) -> Any:
        return self._trial.handle_of(self.files.of_row, self._lifetime(self.files))

    def _handles(self, results: Results) -> Any:
        """Return the handle of each key."""
        if self._policy == LIFETIME:
            return self._lifetime(self._keys)
        separated = result_of(results, self._policy)
        streams = streams_of_contexts(separated)
        handles = [streams.get(number, NO_HANDLE) for number in self._keys.numbers]
        return np.array([one if one < self._wanted.handles else NO_HANDLE for one in handles] or [0], dtype=np.uint32)


def log_data(trial: Trial, files: Keys) -> Any:
    """Return the handle of each row where logs have handle 1 and all else has handle 0."""
    are_logs = logs(trial.lives, files.of_row[trial.rows], len(files.names), trial.address)
    return trial.handle_of(files.of_row, are_logs.astype(np.uint32))


def handle_settings(handles: int, isolation: str) -> Overrides:
    """Return the parameters of a drive that only knows handles."""
    return [(SEPARATOR + "handles", str(handles)), (SEPARATOR + "isolation", f'"{isolation}"')]


def in_drive(wanted: Wanted, policy: str) -> list[TrialRun]:
    """List the separators that the drive itself may run."""
    own = []
    if policy in SEPARATORS:
        groups: Overrides = [(SEPARATOR + "groups", str(wanted.handles - 1))]
        own = [TrialRun(policy, policy, [*wanted.parameters, *groups])]
    return [
        TrialRun(SEPBIT, "sepbit", [], must=False),
        TrialRun(ORA, "ora", [(SEPARATOR + "streams", str(wanted.handles))], must=False),
        *own,
    ]


@dataclass(frozen=True)
class _Other:
    """The trace to which a table is applied, and which key of the first trace each row has; negative if none."""

    source: Path
    keys: Keys
    of_row: Any


def _other(source: Path, first: Path, keys: Keys) -> _Other:
    if keys.stand_ins:
        raise input_error(f"{first}: does not name its files; they cannot be found again in {source}; {RECORD_AGAIN}")
    theirs = keys_of(source, keys.by, keys.names if keys.by == "path-pattern" else None)
    if theirs.stand_ins:
        raise input_error(f"{source}: does not name its files; those of {first} cannot be found in it; {RECORD_AGAIN}")
    number = {identity: number for number, identity in enumerate(keys.identities())}
    ours = np.array([number.get(identity, -1) for identity in theirs.identities()] + [-1], dtype=np.int64)
    return _Other(source, theirs, ours[theirs.of_row])


def _must_share(other: _Other, keys: Keys, first: Trial, second: Trial) -> None:
    known = np.unique(first.key_of(keys.of_row))
    theirs = np.unique(second.key_of(other.of_row))
    if len(np.intersect1d(known[known >= 0], theirs)):
        return
    more = {
        "context": ", and of the same build of it: contexts are made of addresses in its files",
        "file": " in the same folders, or --by path-pattern",
    }
    raise input_error(
        f"{other.source}: no {keys.by.replace('-', ' ')} that writes there writes in {first.trace}, so its table says "
        f"nothing about this trace; expected a recording of the same program{more.get(keys.by, '')}"
    )


def _applied(other: _Other, trial: Trial, handle: Any, wanted: Wanted, policy: str) -> Applied:
    of_row = trial.handle_of(other.of_row, handle)
    follow = handle_settings(wanted.handles, wanted.isolation)
    rule = log_data(trial, other.keys if other.keys.by == "file" else keys_of(trial.trace, "file"))
    runs = [
        TrialRun(NONE, "none", []),
        TrialRun(LOG_DATA, HOST_STREAMS, follow, rule, must=False),
        *in_drive(wanted, policy),
        TrialRun(HOST_STREAMS, HOST_STREAMS, follow, of_row),
    ]
    results = trial.run(runs)
    # Keys of the first trace that do not write there are no match.
    ours, theirs = trial.key_of(other.of_row), trial.key_of(other.keys.of_row)
    matched = ours >= 0
    return Applied(
        trace=str(other.source),
        keys=len(np.unique(theirs[theirs >= 0])),
        matched_keys=len(np.unique(theirs[matched])),
        page_writes=trial.page_writes,
        matched_page_writes=int(matched.sum()),
        placed_page_writes=int((of_row[trial.lives.row] != NO_HANDLE).sum()),
        results=results,
    )
