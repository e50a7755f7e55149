"""Descriptors and files of the recorded processes: which bytes of which file a call touches.

An open file description (offset, append, synchronous) is shared by ``dup`` and by children; a table of descriptors
belongs to a process and is shared by its threads.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from floatgate.recorder.calls import AT_CWD, Call
from floatgate.recorder.contexts import ContextTable
from floatgate.recorder.layout import PAGE_BYTES, File
from floatgate.recorder.page_cache import PageCache, Writer
from floatgate.recorder.processes import Birth, Processes
from floatgate.recorder.shadow import NoShadow

_NOT_FILES = ("/dev/", "/proc/", "/sys/")
_WRITABLE = {"O_WRONLY", "O_RDWR"}


def _is_irregular(path: str) -> bool:
    """Whether a path is now something else than a regular file: a named pipe, say."""
    try:
        return not stat.S_ISREG(Path(path).stat().st_mode)
    except (OSError, ValueError):
        return False


@dataclass(eq=False)
class Description:
    """An open file description; ``file`` is None for what is no regular file."""

    file: File | None
    offset: int = 0
    append: bool = False
    sync: bool = False
    direct: bool = False
    users: int = 0


@dataclass
class Slot:
    """A descriptor."""

    description: Description
    close_on_exec: bool = False


@dataclass(eq=False)
class Table:
    """The descriptors of a process."""

    slots: dict[int, Slot] = field(default_factory=dict)
    cwd: str = "/"
    users: int = 1


@dataclass(frozen=True)
class Inherited:
    """A descriptor that the program starts with."""

    fd: int
    path: str
    offset: int
    append: bool


class FileTracker:
    """Takes calls in the order of time and does to the page cache what they do.

    Args:
        cache: the page cache.
        contexts: the contexts met.
        spawned: by task, how it came to be.
        cwd: where the program starts.
        inherited: the files that it starts with.
        keep_reads: whether reads reach the cache.
        of_this_machine: whether paths may be looked at to tell regular files from others.
        shadow: is told what happens to the content of files.
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
        self.processes = Processes(spawned)
        self._cache = cache
        self._contexts = contexts
        self._spawned = spawned
        self._keep_reads = keep_reads
        self._of_this_machine = of_this_machine
        self._shadow = NoShadow() if shadow is None else shadow
        self._by_path: dict[str, File] = {}
        self._irregular: set[str] = set()
        self._tables: dict[int, Table] = {}
        self._root = Table(cwd=cwd)
        self._now = 0
        for start in inherited:
            file = self._file(start.path)
            self._install(self._root, start.fd, Description(file, start.offset, append=start.append))
            if file is not None:
                file.size = max(file.size, start.offset)
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
            "map": self._lose,
            "unlink": self._unlink,
            "rename": self._rename,
            "link": self._link,
            "chdir": self._chdir,
            "spawn": self._spawn,
            "exec": self._exec,
            "set_flags": self._set_flags,
            "set_cloexec": self._set_cloexec,
            "asynchronous": lambda _table, _call: self.counts.update(["asynchronous"]),
        }

    def take(self, call: Call) -> None:
        """Follow one call."""
        self._now = max(self._now, call.time_ns)
        if call.name == "exit":
            self._exit(call.task)
        else:
            self._handlers[call.name](self._table(call.task), call)

    def finish(self) -> None:
        """The program is over: what is dirty is written back."""
        self._cache.finish(self._now)

    def _table(self, task: int) -> Table:
        table = self._tables.get(task)
        if table is None:
            birth = self._spawned.get(task)
            known = None if birth is None else self._tables.get(birth.parent)
            if known is None:
                # The program itself, or a child of one that nobody saw; the descriptors it starts with are its own.
                table = self._copy(self._root)
            elif birth is not None and birth.shares_files:
                known.users += 1
                table = known
            else:
                table = self._copy(known)
            self._tables[task] = table
            self.processes.of(task)  # now, while its parent runs the program that it inherits
        return table

    def _copy(self, table: Table) -> Table:
        for slot in table.slots.values():
            slot.description.users += 1
        return Table({fd: replace(slot) for fd, slot in table.slots.items()}, table.cwd)

    def _exit(self, task: int) -> None:
        table = self._tables.pop(task, None)
        if table is None:
            return
        table.users -= 1
        if table.users == 0:
            for fd in list(table.slots):
                self._close(table, fd)

    def _file(self, path: str) -> File | None:
        """The file of an absolute path; None for what is no regular file."""
        if not path.startswith("/") or path.startswith(_NOT_FILES) or path in self._irregular:
            return None
        file = self._by_path.get(path)
        if file is None:
            if self._of_this_machine and _is_irregular(path):
                self._irregular.add(path)
                return None
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
        """A folder without symbolic links, where they can be looked at."""
        return os.path.realpath(path) if self._of_this_machine else path

    def _named(self, table: Table, path: str) -> File | None:
        """The file of a path as a program wrote it, which may go through symbolic links."""
        plain = self._path(table, path)
        found = self._by_path.get(plain)
        if found is None:
            folder, _, name = plain.rpartition("/")
            found = self._by_path.get(f"{self._real(folder or '/')}/{name}")
        return found

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
        file = self._file(path) if writable or self._keep_reads or path in self._by_path else None
        if any(word.endswith("O_TMPFILE") for word in call.flags):
            file = self._nameless(path)
            self._shadow.begin_empty(file)
        if file is not None and writable and ("O_TRUNC" in call.flags or {"O_CREAT", "O_EXCL"} <= call.flags):
            self._cut(file, 0)
        description = Description(
            file,
            append="O_APPEND" in call.flags,
            sync=bool({"O_SYNC", "O_DSYNC"} & call.flags),
            direct="O_DIRECT" in call.flags,
        )
        self._install(table, call.result, description, close_on_exec="O_CLOEXEC" in call.flags)

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
        for fd in [fd for fd in table.slots if call.fd <= fd <= call.length]:
            if "CLOSE_RANGE_CLOEXEC" in call.flags:
                table.slots[fd].close_on_exec = True
            else:
                self._close(table, fd)

    def _dup(self, table: Table, call: Call) -> None:
        slot = table.slots.get(call.fd)
        if call.result == call.fd:
            return
        if slot is None:
            self._close(table, call.result)
        else:
            self._install(table, call.result, slot.description, close_on_exec="O_CLOEXEC" in call.flags)

    def _seek(self, table: Table, call: Call) -> None:
        slot = table.slots.get(call.fd)
        if slot is not None:
            slot.description.offset = call.result

    def _described(self, table: Table, call: Call) -> Description | None:
        slot = table.slots.get(call.fd)
        if slot is None and call.path.startswith("/"):
            # strace tells the file of a descriptor that nobody saw opened (one that came through a socket, say).
            self._install(table, call.fd, Description(self._file(call.path)))
            self.counts["descriptors_not_seen_opened"] += 1
            slot = table.slots.get(call.fd)
        if slot is None:
            self.counts["writes_elsewhere"] += 1  # pipes, sockets, terminals
            return None
        return slot.description

    def _write(self, table: Table, call: Call) -> None:
        description = self._described(table, call)
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
        slot = table.slots.get(call.fd)
        if slot is None:
            return
        description = slot.description
        offset = description.offset if call.offset is None else call.offset
        if call.offset is None:
            description.offset = offset + call.length
        if self._keep_reads and description.file is not None and call.length:
            self._cache.read(self._now, description.file, offset, call.length)

    def _sync(self, table: Table, call: Call) -> None:
        slot = table.slots.get(call.fd)
        if slot is not None and slot.description.file is not None:
            self._cache.sync(self._now, slot.description.file)

    def _sync_range(self, table: Table, call: Call) -> None:
        slot = table.slots.get(call.fd)
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
        slot = table.slots.get(call.fd)
        if slot is not None and slot.description.file is not None and call.offset is not None:
            first, end = -(-call.offset // PAGE_BYTES), (call.offset + call.length) // PAGE_BYTES
            if end > first:
                self._cache.discard(self._now, slot.description.file, first, end)
            self._zero(table, call)

    def _zero(self, table: Table, call: Call) -> None:
        slot = table.slots.get(call.fd)
        if slot is not None and slot.description.file is not None and call.offset is not None:
            self._cache.advance(self._now)
            self._shadow.zero(slot.description.file, call.offset, call.length)

    def _lose(self, table: Table, call: Call) -> None:
        slot = table.slots.get(call.fd)
        if slot is not None and slot.description.file is not None:
            self._cache.advance(self._now)
            self._shadow.lose(slot.description.file)

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
        for fd in [fd for fd, slot in table.slots.items() if slot.close_on_exec]:
            self._close(table, fd)

    def _set_flags(self, table: Table, call: Call) -> None:
        slot = table.slots.get(call.fd)
        if slot is not None:
            slot.description.append = "O_APPEND" in call.flags
            slot.description.direct = "O_DIRECT" in call.flags

    def _set_cloexec(self, table: Table, call: Call) -> None:
        if call.fd in table.slots:
            table.slots[call.fd].close_on_exec = "FD_CLOEXEC" in call.flags
