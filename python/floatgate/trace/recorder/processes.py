"""Processes: the one that a thread belongs to, and the programs that it ran."""

from __future__ import annotations

from typing import NamedTuple


class Birth(NamedTuple):
    """The origin of a task.

    Attributes:
        parent: the task that started it.
        shares_files: whether the two have one table of descriptors (``CLONE_FILES``).
        is_thread: whether it is a thread of its parent's process (``CLONE_THREAD``).
    """

    parent: int
    shares_files: bool
    is_thread: bool


class Processes:
    """The processes of a recording and their programs.

    Args:
        births: by task, how it came to be; may grow later.
    """

    def __init__(self, births: dict[int, Birth]) -> None:
        """Start with none."""
        self._births = births
        self._programs: dict[int, list[str]] = {}

    def of(self, task: int) -> int:
        """Return the process of a task, which is the number of its first thread."""
        process = self._first_thread(task)
        line = [process]  # its ancestors follow, up to one whose programs are known
        while line[-1] not in self._programs:
            birth = self._births.get(line[-1])
            parent = None if birth is None else self._first_thread(birth.parent)
            if parent is None or parent in line:
                self._programs[line[-1]] = []
            else:
                line.append(parent)
        # A process runs its parent's program until it executes another.
        for child, parent in zip(line[-2::-1], line[:0:-1], strict=True):
            self._programs[child] = self._programs[parent][-1:]
        return process

    def _first_thread(self, task: int) -> int:
        """Return the first thread of a task's process. Numbers are reused, so a task may be among its own ancestors."""
        met = set()
        while task not in met and (birth := self._births.get(task)) is not None and birth.is_thread:
            met.add(task)
            task = birth.parent
        return task

    def execute(self, task: int, path: str) -> None:
        """Record that a task executes the program of a path; an empty path is an unknown program."""
        process = self.of(task)
        name = path.rpartition("/")[2]
        if name:
            self._programs[process].append(name)

    def described(self, used: set[int]) -> dict[str, dict[str, object]]:
        """Return the trace's metadata of processes: by the process in decimal, its programs.

        ``name`` is the base name of the last program, null where it is unknown; ``programs`` lists all in order.
        """
        return {
            str(process): {"name": _plain(names[-1]) if names else None, "programs": [_plain(name) for name in names]}
            for process in sorted(used)
            for names in [self._programs.get(process, [])]
        }


def _plain(text: str) -> str:
    """Make text that UTF-8 can hold: names of files may hold any bytes."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
