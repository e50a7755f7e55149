"""Descriptors and files of the recorded processes: which bytes of which file a call touches.

A descriptor whose open was not seen gets its file from strace's text of any later call. Without that, a write
to it is counted as not attributed (:class:`.descriptors.Unseen`), never as one to a pipe or terminal.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

from floatgate.trace.recorder.calls import AT_CWD, DELETED, Call
from floatgate.trace.recorder.contexts import ContextTable
from floatgate.trace.recorder.descriptors import (
    BLOCK_DEVICE,
    FILE,
    UNKNOWN,
    Description,
    InFlight,
    Inherited,
    Slot,
    Table,
    Unseen,
    kind_of,
)
from floatgate.trace.recorder.layout import PAGE_BYTES, File
from floatgate.trace.recorder.page_cache import PageCache, Writer
from floatgate.trace.recorder.processes import Birth, Processes
from floatgate.trace.recorder.shadow import NoShadow

_WRITABLE = {"O_WRONLY", "O_RDWR"}
_READ_ONLY = "read-only"
_OF_DESCRIPTOR = re.compile(r"(?:/proc/(?P<task>self|thread-self|\d{1,9})/fd|/dev/fd)/(?P<fd>\d{1,9})")
_STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}


class FileTracker:
    """The tracker of files: it applies calls, in the order of time, to the page cache.

    Args:
        cache: the page cache.
        contexts: the contexts met.
        spawned: by task, how it came to be.
        cwd: where the program starts.
        inherited: the files that it starts with.
        keep_reads: whether reads reach the cache.
        of_this_machine: whether to look at paths to distinguish regular files from others.
        shadow: is notified of changes to the content of files.
    """

    def __init__(
        self,
        cache: PageCache,
        contexts: ContextTable,
        spawned: dict[int, Birth],
        cwd: str,
        inherited: list[Inherited],
        *,
        keep_reads: bool = False,
        of_this_machine: bool = True,
        shadow: NoShadow | None = None,
    ) -> None:
        """Start with one process."""
        self.files: list[File] = []
        self.counts: Counter[str] = Counter()
        self.elsewhere: Counter[str] = Counter()
        """Writes to other files than regular ones, by kind."""
        self.unseen = Unseen()
        self.processes = Processes(spawned)
        self._cache = cache
        self._contexts = contexts
        self._spawned = spawned
        self._keep_reads = keep_reads
        self._of_this_machine = of_this_machine
        self._shadow = NoShadow() if shadow is None else shadow
        self._by_path: dict[str, File] = {}
        self._kinds: dict[str, str] = {}
        self._in_flight = InFlight()
        self._tables: dict[int, Table] = {}
        self._root = Table(cwd=cwd)
        self._now = 0
        for start in inherited:
            self._inherit(start)
        self._handlers: dict[str, Callable[[Table, Call], None]] = {
            "open": self._open,
            "close": lambda table, call: self._close(table, call.fd),
            "close_range": self._close_range,
            "dup": self._dup,
            "seek": self._seek,
            "write": self._write,
            "read": self._read,
            "sync": self._sync,
            "sync_range": self._sync_range,
            "sync_all": lambda _table, _call: self._cache.sync_all(self._now),
            "truncate": self._truncate,
            "punch": self._punch,
            "zero": self._zero,
            "shift": self._lose,
            "map": self._map,
            "unlink": self._unlink,
            "rename": self._rename,
            "link": self._link,
            "chdir": self._chdir,
            "spawn": self._spawn,
            "exec": self._exec,
            "set_flags": self._set_flags,
            "set_cloexec": self._set_cloexec,
            "unshare": self._unshare,
            "send": self._send,
            "receive": self._receive,
            "io_uring": self._io_uring,
            "aio": self._aio,
        }

    def take(self, call: Call) -> None:
        """Follow one call."""
        self._now = max(self._now, call.time_ns)
        if call.name == "exit":
            self._exit(call.task)
        else:
            self._handlers[call.name](self._table(call.task), call)

    def finish(self) -> None:
        """Write back all dirty pages; called when the program has ended."""
        self._cache.finish(self._now)

    def _table(self, task: int) -> Table:
        table = self._tables.get(task)
        if table is None:
            birth = self._spawned.get(task)
            known = None if birth is None else self._tables.get(birth.parent)
            if known is None:
                # The program itself, or a child of an unseen process; the descriptors it starts with are its own.
                table = self._root.copy()
            elif birth is not None and birth.shares_files:
                known.users += 1
                table = known
            else:
                table = known.copy()
            self._tables[task] = table
            self.processes.of(task)  # now, while its parent runs the program that it inherits
        return table

    def _exit(self, task: int) -> None:
        table = self._tables.pop(task, None)
        if table is None:
            return
        table.users -= 1
        if table.users == 0:
            for fd in list(table.slots):
                self._close(table, fd)

    def _inherit(self, start: Inherited) -> None:
        shared = None if start.shares is None else self._root.slots.get(start.shares)
        if shared is not None:
            self._install(self._root, start.fd, shared.description)
            return
        description = self._describe(start.path, start.flags)
        description.offset = start.offset
        self._install(self._root, start.fd, description)
        if description.file is not None:
            description.file.size = max(description.file.size, start.offset)

    def _kind(self, path: str) -> str:
        """Find the file of an absolute path, or of strace's word for a nameless file."""
        if path in self._by_path:
            return FILE
        kind = self._kinds.get(path)
        if kind is None:
            kind = self._kinds[path] = kind_of(path, of_this_machine=self._of_this_machine)
        return kind

    def _describe(self, path: str, flags: frozenset[str] = frozenset(), file: File | None = None) -> Description:
        """Make a description of a path; of ``file`` where the path is not its name."""
        kind = FILE if file is not None else self._kind(path)
        return Description(
            self._file(path) if file is None and kind == FILE else file,
            kind,
            path,
            append="O_APPEND" in flags,
            sync=bool({"O_SYNC", "O_DSYNC"} & flags),
            direct="O_DIRECT" in flags,
        )

    def _file(self, path: str) -> File:
        file = self._by_path.get(path)
        if file is None:
            file = self._nameless(path)
            self._shadow.begin(file, path)
            self._give_name(file, path)
        return file

    def _nameless(self, path: str) -> File:
        file = File(len(self.files), set(), path)
        self.files.append(file)
        return file

    def _path(self, table: Table, path: str) -> str:
        return os.path.normpath(path if path.startswith("/") else f"{table.cwd}/{path}")

    def _real(self, path: str) -> str:
        """Resolve the symbolic links of a folder, if they can be looked at."""
        return os.path.realpath(path) if self._of_this_machine else path

    def _of_descriptor(self, table: Table, path: str) -> File | None:
        """Find the file of a path that names a descriptor: ``/proc/self/fd/3``, ``/dev/stdout``."""
        match = _OF_DESCRIPTOR.fullmatch(path)
        number = _STANDARD.get(path) if match is None else int(match["fd"])
        if match is not None and (match["task"] or "self").isdigit():
            table = self._tables.get(int(match["task"]), Table())
        slot = None if number is None else table.slots.get(number)
        return None if slot is None else slot.description.file

    def _named(self, table: Table, path: str) -> File | None:
        """Look up the file of a path as a program wrote it; the path may go through symbolic links."""
        file = self._of_descriptor(table, path)
        if file is not None:
            return file
        plain = self._path(table, path)
        known = self._by_path.get(plain)
        if known is None:
            folder, _, name = plain.rpartition("/")
            known = self._by_path.get(f"{self._real(folder or '/')}/{name}")
        return known

    def _install(self, table: Table, fd: int, description: Description, *, close_on_exec: bool = False) -> None:
        if fd in table.slots:
            self._close(table, fd)
        if description.users == 0 and description.file is not None:
            description.file.opens += 1
        description.users += 1
        table.slots[fd] = Slot(description, close_on_exec)

    def _open(self, table: Table, call: Call) -> None:
        path = self._path(table, call.path)
        writable = bool(_WRITABLE & call.flags)
        file = self._of_descriptor(table, call.path2)
        if any(word.endswith("O_TMPFILE") for word in call.flags):
            file = self._nameless(path)
            self._shadow.begin_empty(file)
        if file is not None or writable or self._keep_reads or path in self._by_path:
            description = self._describe(path, call.flags, file)
        else:
            description = Description(None, _READ_ONLY, path)
        if description.file is not None and writable and _empties(call.flags):
            self._cut(description.file, 0)
        self._install(table, call.result, description, close_on_exec="O_CLOEXEC" in call.flags)

    def _slot(self, table: Table, fd: int, path: str) -> Slot | None:
        """Find a descriptor; one whose open or replacement was not seen, by strace's current name of its file."""
        slot = table.slots.get(fd)
        if path and (slot is None or self._was_replaced(slot.description, path)):
            description = self._met(path)
            if description is not None:
                self.counts["descriptors_not_seen_opened"] += 1
                self._install(table, fd, description)
                slot = table.slots.get(fd)
        return slot

    def _was_replaced(self, description: Description, path: str) -> bool:
        """Return whether strace's name of the file changed in a way that no rename and no deletion explains."""
        if path.endswith(DELETED) or path == description.path:
            return False
        if description.file is None:
            return self._kind(path) not in (description.kind, UNKNOWN)
        other = self._by_path.get(path)
        return self._kind(path) not in (FILE, UNKNOWN) if other is None else other is not description.file

    def _met(self, path: str) -> Description | None:
        """Find the one open description of a path, or make one; None for what strace does not show.

        Descriptors of several descriptions that have the path count as opened apart.
        """
        bare, deleted = path.removesuffix(DELETED), path.endswith(DELETED)
        candidates = {id(one): one for one in self._open_descriptions() if _goes_by(one, bare, deleted=deleted)}
        if len(candidates) == 1:
            return next(iter(candidates.values()))
        file = next((one.file for one in candidates.values()), None) if deleted else None
        if deleted and file is None and self._kind(bare) == FILE:
            file = self._nameless(bare)
            self._shadow.begin(file, bare)
        description = self._describe(bare, file=file)
        return None if description.kind == UNKNOWN else description

    def _open_descriptions(self) -> Iterator[Description]:
        tables = {id(table): table for table in (self._root, *self._tables.values())}
        for table in tables.values():
            for slot in table.slots.values():
                yield slot.description

    def _send(self, table: Table, call: Call) -> None:
        for fd, path in call.passed:
            slot = self._slot(table, fd, path)
            if slot is not None:
                self._in_flight.send(slot.description, path.removesuffix(DELETED))

    def _receive(self, table: Table, call: Call) -> None:
        for fd, path in call.passed:
            sent = self._in_flight.receive(path.removesuffix(DELETED))
            description = sent or self._met(path)
            if description is not None:
                self._install(table, fd, description, close_on_exec="CLOEXEC" in call.flags)
                description.users -= sent is not None

    def _unshare(self, table: Table, call: Call) -> None:
        """Give a task its own copy of the table that it shares with others."""
        if table.users > 1:
            self._tables[call.task] = table.copy()
            table.users -= 1

    def _close(self, table: Table, fd: int) -> None:
        slot = table.slots.pop(fd, None)
        if slot is None:
            return
        description = slot.description
        description.users -= 1
        if description.users == 0 and description.file is not None:
            description.file.opens -= 1
            self._drop_if_gone(description.file)

    def _drop_if_gone(self, file: File) -> None:
        if not file.names and file.opens == 0:
            self._cut(file, 0)

    def _cut(self, file: File, length: int) -> None:
        if length < file.size or length == 0:
            self._cache.discard(self._now, file, -(-length // PAGE_BYTES))
        self._cache.advance(self._now)
        self._shadow.cut(file, length)
        file.size = length

    def _close_range(self, table: Table, call: Call) -> None:
        if "CLOSE_RANGE_UNSHARE" in call.flags:
            self._unshare(table, call)
            table = self._tables[call.task]
        for fd in [fd for fd in table.slots if call.fd <= fd <= call.length]:
            if "CLOSE_RANGE_CLOEXEC" in call.flags:
                table.slots[fd].close_on_exec = True
            else:
                self._close(table, fd)

    def _dup(self, table: Table, call: Call) -> None:
        slot = self._slot(table, call.fd, call.path)
        if call.result == call.fd:
            return
        if slot is None:
            self._close(table, call.result)
        else:
            self._install(table, call.result, slot.description, close_on_exec="O_CLOEXEC" in call.flags)

    def _seek(self, table: Table, call: Call) -> None:
        slot = self._slot(table, call.fd, call.path)
        if slot is not None:
            slot.description.offset = call.result

    def _written(self, table: Table, call: Call) -> Description | None:
        """Find the description of a regular file that a call writes to; count writes without one."""
        slot = self._slot(table, call.fd, call.path)
        kind = UNKNOWN if slot is None else slot.description.kind
        if slot is not None and kind == FILE:
            return slot.description
        if kind in (UNKNOWN, BLOCK_DEVICE, _READ_ONLY):
            if call.length:
                self.unseen.write(UNKNOWN if kind == _READ_ONLY else kind, call.length)
        else:
            self.elsewhere[kind] += 1
            self.counts["writes_elsewhere"] += 1
        return None

    def _write(self, table: Table, call: Call) -> None:
        description = self._written(table, call)
        if description is None or description.file is None or call.length == 0:
            return
        file = description.file
        offset = description.offset if call.offset is None else call.offset
        if description.append or "RWF_APPEND" in call.flags:
            offset = file.size
            self._shadow.append_at(file)
        if call.offset is None:
            description.offset = offset + call.length
        file.size = max(file.size, offset + call.length)
        self._cache.write(
            self._now,
            file,
            offset,
            call.length,
            self._contexts.intern(call.frames),
            sync=description.sync or bool({"RWF_SYNC", "RWF_DSYNC"} & call.flags),
            direct=description.direct,
            patch=partial(self._shadow.patch, file, offset, call.length, call.data),
            writer=Writer(self.processes.of(call.task), call.task, call.fd),
        )

    def _read(self, table: Table, call: Call) -> None:
        slot = self._slot(table, call.fd, call.path)
        if slot is None:
            return
        description = slot.description
        offset = description.offset if call.offset is None else call.offset
        if call.offset is None:
            description.offset = offset + call.length
        if self._keep_reads and description.file is not None and call.length:
            self._cache.read(self._now, description.file, offset, call.length)

    def _sync(self, table: Table, call: Call) -> None:
        slot = self._slot(table, call.fd, call.path)
        if slot is not None and slot.description.file is not None:
            self._cache.sync(self._now, slot.description.file)

    def _sync_range(self, table: Table, call: Call) -> None:
        slot = self._slot(table, call.fd, call.path)
        if slot is None or slot.description.file is None:
            return
        start = call.offset or 0
        end = None if call.length == 0 else -(-(start + call.length) // PAGE_BYTES)
        self._cache.sync(self._now, slot.description.file, start // PAGE_BYTES, end)

    def _truncate(self, table: Table, call: Call) -> None:
        if call.path:
            file = self._named(table, call.path)
        else:
            slot = table.slots.get(call.fd)
            file = None if slot is None else slot.description.file
        if file is not None:
            self._cut(file, call.length)
        elif call.path:
            self._shadow.came(self._new_name(table, call.path))

    def _punch(self, table: Table, call: Call) -> None:
        slot = self._slot(table, call.fd, call.path)
        if slot is not None and slot.description.file is not None and call.offset is not None:
            first, end = -(-call.offset // PAGE_BYTES), (call.offset + call.length) // PAGE_BYTES
            if end > first:
                self._cache.discard(self._now, slot.description.file, first, end)
            self._zero(table, call)

    def _zero(self, table: Table, call: Call) -> None:
        slot = self._slot(table, call.fd, call.path)
        if slot is not None and slot.description.file is not None and call.offset is not None:
            self._cache.advance(self._now)
            self._shadow.zero(slot.description.file, call.offset, call.length)

    def _lose(self, table: Table, call: Call) -> None:
        slot = self._slot(table, call.fd, call.path)
        if slot is not None and slot.description.file is not None:
            self._cache.advance(self._now)
            self._shadow.lose(slot.description.file)

    def _map(self, table: Table, call: Call) -> None:
        slot = self._slot(table, call.fd, call.path)
        if slot is None:
            self.unseen.unknown_mappings += 1
        elif slot.description.file is not None:
            self.unseen.mapped.add(slot.description.file.number)
            self._lose(table, call)

    def _io_uring(self, table: Table, call: Call) -> None:
        self.unseen.io_uring_calls += 1
        self._receive(table, call)

    def _aio(self, _table: Table, _call: Call) -> None:
        self.unseen.aio_calls += 1

    def _forget_name(self, file: File, path: str) -> None:
        file.names.discard(path)
        if self._by_path.get(path) is file:
            del self._by_path[path]
        self._drop_if_gone(file)

    def _unlink(self, table: Table, call: Call) -> None:
        file = self._named(table, call.path)
        self._shadow.gone(self._new_name(table, call.path))
        if file is not None:
            self._forget_name(file, self._name_of(file, table, call.path))

    def _name_of(self, file: File, table: Table, path: str) -> str:
        plain = self._path(table, path)
        if plain in file.names:
            return plain
        folder, _, name = plain.rpartition("/")
        return f"{self._real(folder or '/')}/{name}"

    def _new_name(self, table: Table, path: str) -> str:
        folder, _, name = self._path(table, path).rpartition("/")
        return f"{self._real(folder) if folder else ''}/{name}"

    def _rename(self, table: Table, call: Call) -> None:
        old, new = self._path(table, call.path), self._new_name(table, call.path2)
        moved, replaced = self._named(table, call.path), self._named(table, call.path2)
        if "RENAME_EXCHANGE" in call.flags:
            self.counts["exchanges_not_followed"] += 1
            for file in (moved, replaced):
                if file is not None:
                    self._shadow.lose(file)
            return
        self._shadow.gone(self._new_name(table, call.path))
        self._shadow.came(new)
        if moved is None:
            self._rename_folder(old, new)
        if replaced is not None and replaced is not moved:
            self._forget_name(replaced, self._name_of(replaced, table, call.path2))
        if moved is not None:
            previous = self._name_of(moved, table, call.path)
            moved.names.discard(previous)
            self._by_path.pop(previous, None)
            self._give_name(moved, new)

    def _rename_folder(self, old: str, new: str) -> None:
        for path in [path for path in self._by_path if path.startswith(f"{old}/")]:
            file = self._by_path.pop(path)
            file.names.discard(path)
            self._give_name(file, new + path[len(old) :])

    def _give_name(self, file: File, path: str) -> None:
        file.names.add(path)
        file.last_name = path
        self._by_path[path] = file

    def _link(self, table: Table, call: Call) -> None:
        file = self._named(table, call.path)
        self._shadow.came(self._new_name(table, call.path2))
        if file is not None:
            self._give_name(file, self._new_name(table, call.path2))

    def _chdir(self, table: Table, call: Call) -> None:
        if call.fd == AT_CWD or call.path.startswith("/"):
            table.cwd = self._real(self._path(table, call.path))

    def _spawn(self, _table: Table, call: Call) -> None:
        if call.result > 0 and call.result not in self._tables:
            self._spawned[call.result] = Birth(call.task, "CLONE_FILES" in call.flags, "CLONE_THREAD" in call.flags)
            self._table(call.result)

    def _exec(self, table: Table, call: Call) -> None:
        self.processes.execute(call.task, call.path)
        if table.users > 1 and self._shares_with_others(table, call.task):
            self._unshare(table, call)
            table = self._tables[call.task]
        for fd in [fd for fd, slot in table.slots.items() if slot.close_on_exec]:
            self._close(table, fd)

    def _shares_with_others(self, table: Table, task: int) -> bool:
        """Return whether another process has the table, too; the process's other threads end at an exec."""
        process = self.processes.of(task)
        sharing = [other for other, its in self._tables.items() if its is table]
        return any(self.processes.of(other) != process for other in sharing)

    def _set_flags(self, table: Table, call: Call) -> None:
        slot = table.slots.get(call.fd)
        if slot is not None:
            slot.description.append = "O_APPEND" in call.flags
            slot.description.direct = "O_DIRECT" in call.flags

    def _set_cloexec(self, table: Table, call: Call) -> None:
        if call.fd in table.slots:
            table.slots[call.fd].close_on_exec = "FD_CLOEXEC" in call.flags


def _empties(flags: frozenset[str]) -> bool:
    """Return whether an open leaves the file without content: cut, or made by it."""
    return "O_TRUNC" in flags or {"O_CREAT", "O_EXCL"} <= flags


def _goes_by(description: Description, path: str, *, deleted: bool) -> bool:
    """Return whether strace would use this name for a description's file."""
    file = description.file
    if file is None:
        return description.path == path and description.kind != _READ_ONLY
    return not file.names and file.last_name == path if deleted else path in file.names
