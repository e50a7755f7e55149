"""One recording from the command to the Parquet file."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from floatgate.base.errors import PATH_MAX, input_error, quote
from floatgate.base.units import counted
from floatgate.results.folder import replacing
from floatgate.trace.recorder import backends, trace_file
from floatgate.trace.recorder.calls import Tally
from floatgate.trace.recorder.content import Content, LastWrites, WrittenContent, fingerprint
from floatgate.trace.recorder.contexts import ContextTable
from floatgate.trace.recorder.descriptors import BLOCK_DEVICE, UNKNOWN, Inherited
from floatgate.trace.recorder.distinct import DistinctPages
from floatgate.trace.recorder.files import FileTracker
from floatgate.trace.recorder.inherited import inherited
from floatgate.trace.recorder.layout import PAGE_BYTES, Layout
from floatgate.trace.recorder.page_cache import READ, TRIM, WRITE, CacheModel, PageCache, Request
from floatgate.trace.recorder.shadow import Before, Shadow

OUT_OF_SCOPE = (
    "writes through memory-mapped files are not recorded (the files are counted: not_seen)",
    "writes by io_uring and Linux AIO are not recorded (the calls are counted: not_seen)",
    "writes to descriptors whose file is unknown are not recorded (calls and bytes are counted: not_seen)",
    "file-system metadata and journal are not modelled; the logical layout is ours, not the file system's",
    "partial page writes cost no read of the rest of the page",
    "without --reads, a plain read does not move the descriptor's offset for a plain write after it",
    "a file that was there before starts at size 0 for appends unless a seek tells its end",
    "interpreters: the context is the interpreter's own stack, not the script's",
)


@dataclass(frozen=True)
class Options:
    """How to record."""

    backend: str | None = None
    model: CacheModel = field(default_factory=CacheModel)
    reads: bool = False
    content: bool = False
    stack_bytes: int = 8192
    measure_overhead: bool = False
    stdout: int | None = None


def not_seen(counts: Mapping[str, Any]) -> str:
    """Say what changed files without being recorded; nothing where all is recorded."""
    parts = [
        f"{counted(there['writes'], 'write')} ({counted(there['bytes'], 'byte')}) to {_A[why]}"
        for why, there in counts["writes_to"].items()
    ]
    calls = (("io_uring_calls", "io_uring call"), ("aio_calls", "Linux AIO call"))
    parts += [counted(counts[key], noun) for key, noun in calls if counts[key]]
    if counts["mapped_files"]:
        parts.append(f"{counted(counts['mapped_files'], 'file')} mapped for writing")
    if counts["threads_of_32_bit"]:
        parts.append(f"the calls of {counted(counts['threads_of_32_bit'], 'thread')} of 32 bits")
    return ", ".join(parts)


_A = {UNKNOWN: "descriptors of unknown origin", BLOCK_DEVICE: "block devices"}


@dataclass(frozen=True)
class Recorded:
    """The outcome. ``status`` is the program's own: 128 + the signal that ended it, None if unknown."""

    facts: dict[str, Any]
    status: int | None


def record(command: list[str], target: Path, options: Options) -> Recorded:
    """Run a program and write its trace; the file appears whole or not at all.

    Raises:
        InputError: the command fails to start, no back end works, or nothing reached the drive.
    """
    backends.executable(command)
    folder = Path(tempfile.mkdtemp(prefix="floatgate-record-"))
    written: WrittenContent | None = None
    try:
        choice = backends.choose(options.backend, folder)
        start = inherited(options.stdout)
        cwd = os.path.realpath(Path.cwd())
        exact = options.content and choice.name == backends.STRACE
        shadow = Shadow(folder, _before(command, cwd, start)) if exact else None
        if shadow is not None:
            written = WrittenContent(shadow, DistinctPages(folder, fingerprint))
        recording = backends.run(
            choice,
            command,
            folder,
            reads=options.reads,
            stack_bytes=options.stack_bytes,
            with_data=exact,
            stdout=options.stdout,
        )
        build = _Build(recording, options, cwd, start, shadow, written)
        # A recorded run that failed has no time to compare with.
        compares = options.measure_overhead and not build.status
        plain = backends.run_without(command, options.stdout) if compares else None
        try:
            with replacing(target) as temporary:
                build.write(temporary, command, choice)
        except OSError as error:
            raise input_error(f"{target}: {error.strerror or error}; expected a file that can be written") from None
        return Recorded(build.facts(target, choice, plain), build.status)
    finally:
        if written is not None:
            written.distinct.close()
        shutil.rmtree(folder, ignore_errors=True)


def _before(command: list[str], cwd: str, starts: list[Inherited]) -> Before:
    """Record what lies where the program probably writes: here, in folders of its arguments, among temporary files."""
    named = [Path(word.rpartition("=")[2]) for word in command[1:] if "/" in word]
    folders = [str(path if path.is_dir() else path.parent) for path in named]
    before = Before([cwd, *folders, tempfile.gettempdir()])
    for start in starts:
        with contextlib.suppress(OSError):
            before.note(start.path, Path(start.path).stat().st_size)
    return before


class _Build:
    """The trace of a recording, built from its calls."""

    def __init__(
        self,
        recording: backends.Recording,
        options: Options,
        cwd: str,
        start: list[Inherited],
        shadow: Shadow | None,
        written: WrittenContent | None,
    ) -> None:
        self._recording = recording
        self._cwd = cwd
        self._options = options
        self._tally = Tally()
        self._contexts = ContextTable()
        self._columns = trace_file.Columns()
        self._layout = Layout()
        self._written = written
        self._cache = PageCache(self._layout, options.model, self._emit)
        self._tracker = FileTracker(
            self._cache,
            self._contexts,
            recording.spawned(),
            cwd,
            start,
            keep_reads=options.reads,
            shadow=shadow,
        )
        began = ended = None
        for call in recording.calls(self._tally):
            began = call.time_ns if began is None else began
            ended = call.time_ns
            self._tracker.take(call)
        self._program_s = (ended - began) / 1e9 if ended is not None and began is not None else 0.0
        self._tracker.finish()
        if recording.backend == backends.PERF:
            self._tracker.unseen.compat_tasks = len(self._tally.compat)
        if shadow is not None:
            shadow.close()
        self._content: Content | None = None
        self.status = None if recording.root is None else self._tally.ended.get(recording.root, recording.status)

    def _emit(self, request: Request) -> None:
        self._columns.append(request)
        if self._written is not None:
            self._written.take(request)

    def write(self, target: Path, command: list[str], choice: backends.Choice) -> None:
        """Write the Parquet file."""
        if len(self._columns) == 0:
            raise input_error(self._why_nothing(command[0]))
        if self._options.content:
            known = self._written
            last = LastWrites(self._columns, self._path_of, None if known is None else known.distinct.fingerprint)
            self._content = last
            if known is not None:
                known.rest = last
                self._content = known
        trace_file.write(target, self._columns, lambda: self._metadata(command, choice), self._content)

    def _why_nothing(self, program: str) -> str:
        name, dirty, model = quote(program, PATH_MAX), self._cache.dirty_pages, self._options.model
        if dirty == 0:
            unseen = not_seen(self._tracker.unseen.to_dict())
            if unseen:
                return f"{name}: wrote no file in a way that can be recorded; not seen: {unseen}"
            return f"{name}: wrote no file; expected a program that writes regular files"
        return (
            f"{name}: wrote {dirty} pages, which all stayed in the cache of {model.capacity_pages} pages; "
            "expected a smaller --cache-mb, a program that writes more, or --writeback linux"
        )

    def _path_of(self, number: int) -> str | None:
        names = self._tracker.files[number].names
        return min(names) if names else None

    def _metadata(self, command: list[str], choice: backends.Choice) -> dict[str, Any]:
        recorder: dict[str, Any] = {
            "backend": choice.name,
            "backend_reason": choice.reason,
            "command": shlex.join(command),
            "exit_status": self.status,
            **self._losses(),
            "cache": self._options.model.to_dict(),
            "dirty_at_end": self._cache.dirty_pages,
            "reads": self._options.reads,
            "out_of_scope": list(OUT_OF_SCOPE),
        }
        if choice.name == backends.PERF:
            recorder["stack_bytes"] = self._options.stack_bytes
        if self._content is not None:
            recorder["content"] = self._content.described()
        contexts = self._contexts.described(self._columns.contexts())
        return {
            "schema": trace_file.SCHEMA,
            "contexts": contexts,
            "processes": self._tracker.processes.described(self._columns.processes()),
            "folder": _plain(self._cwd),
            "files": {str(number): self._file_name(number) for number in sorted(set(self._columns.file))},
            "recorder": recorder,
        }

    def _file_name(self, number: int) -> str:
        """Return the last path of a file, relative to the program's working folder inside it; text that fits UTF-8."""
        return _plain(self._tracker.files[number].last_name.removeprefix(f"{self._cwd}/"))

    def _losses(self) -> dict[str, Any]:
        tally, counts = self._tally, self._tracker.counts
        return {
            "lost_events": tally.lost_events,
            "malformed_lines": tally.malformed_lines,
            "first_malformed_line": tally.first_malformed,
            "unpaired_calls": tally.unpaired_calls,
            "failed_writes": tally.failed_writes,
            "broken_stacks": tally.broken_stacks,
            "not_seen": self._tracker.unseen.to_dict(),
            "writes_elsewhere": counts["writes_elsewhere"],
            "elsewhere": dict(sorted(self._tracker.elsewhere.items())),
            "exchanges_not_followed": counts["exchanges_not_followed"],
        }

    def facts(self, target: Path, choice: backends.Choice, plain: backends.PlainRun | None) -> dict[str, Any]:
        """Return the figures of the command line; a second run that failed has no time to compare with."""
        plain_s = plain.wall_s if plain is not None and plain.status == 0 else None
        columns, cache = self._columns, self._cache
        pages, updates = cache.pages.total(), cache.updates.total()
        top = [
            {
                "context": None if context is None else str(context),
                "name": "(no stack)" if context is None else self._contexts.name(context),
                "pages": count,
                "pages_share": count / pages,
                "updates_share": cache.updates[context] / updates if updates else None,
            }
            for context, count in sorted(cache.pages.items(), key=lambda item: (-item[1], item[0] or 0))[:5]
        ]
        return {
            "out": str(target),
            "backend": choice.name,
            "backend_reason": choice.reason,
            "requests": len(columns),
            "reads": columns.op.count(READ),
            "writes": columns.op.count(WRITE),
            "trims": columns.op.count(TRIM),
            "pages_written": pages,
            "updates": updates,
            "files": len(self._tracker.files),
            "drive_bytes": self._layout.pages * PAGE_BYTES,
            "contexts": len(self._columns.contexts()),
            "processes": len(self._columns.processes()),
            "cache": self._options.model.to_dict(),
            "dirty_at_end": cache.dirty_pages,
            "top_contexts": top,
            **self._losses(),
            "content": None if self._content is None else self._content.described(),
            "exit_status": self.status,
            "wall_s": self._recording.wall_s,
            "program_s": self._program_s,
            "program_without_s": plain_s,
            "slowdown": self._program_s / plain_s if plain_s else None,
            "exit_status_without": None if plain is None else plain.status,
        }


def _plain(path: str) -> str:
    """Make text that can be written as UTF-8 of a path, which may have any bytes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
