"""Reader of the text of ``strace -f -y -k`` with time stamps in seconds since 1970.

A call may be split in ``name(... <unfinished ...>`` and ``<... name resumed>...``; its stack follows the line that has
its result, one ``> module(symbol+0x..) [0x..]`` per line, the bracketed number relative to the module's file.
"""

from __future__ import annotations

import functools
import re
import signal
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from floatgate.trace.recorder import strace_data
from floatgate.trace.recorder.calls import AT_CWD, DELETED, Call, Frame, Tally
from floatgate.trace.recorder.contexts import ANONYMOUS, relative_frame
from floatgate.trace.recorder.processes import Birth

_LINE = re.compile(r"(\d+)\s+(\d+)\.(\d{1,9}) (.*)")
_CALL = re.compile(r"(\w+)\((.*)\)\s+= (.*)", re.DOTALL)
_UNFINISHED = re.compile(r"(\w+)\((.*)$", re.DOTALL)
_MODE = "[ Process PID="
"""Begins the line that gives the bits of a thread's system calls from here on."""
_UNFINISHED_END = "<unfinished ...>"
_RESUMED = re.compile(r"<\.\.\. (\w+) resumed>,?\s*(.*)")
_ENDED = re.compile(r"\+\+\+ (?:exited with (\d+)|killed by (\w+)(?: \(core dumped\))?|superseded by execve.*) \+\+\+")
_FRAME = re.compile(r" > (.+?)(?:\(([^()]*(?:\(.*\)[^()]*)*)\))? \[(0x[0-9a-f]+)\]\s*$")
_DISTANCE = re.compile(r"\+0x([0-9a-f]+)$")
_NO_FRAME = re.compile(r" > (unexpected_backtracing_error|backtracing_error)")
_FAR = 4096
"""Bytes after a symbol from where on it is the last one known rather than the function: a library without names."""
_FD = re.compile(r"(-?\d+|AT_FDCWD)(?:<((?:[^>\\]|\\.)*)>)?(\(deleted\))?$")
_NUMBER = re.compile(r"-?(?:0x[0-9a-fA-F]+|\d+)")
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{2})|(.))")
_SIMPLE_ESCAPES = {"n": 10, "t": 9, "r": 13, "v": 11, "f": 12, "a": 7, "b": 8, "e": 27}
_CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_DESCRIPTOR = r"-?\d+(?:<(?:[^>\\]|\\.)*>)?(?:\(deleted\))?"
_PASSED = re.compile(
    r'"[^"\\]*(?:\\.[^"\\]*)*"|<[^>\\]*(?:\\.[^>\\]*)*>|'
    rf"cmsg_type=SCM_RIGHTS, cmsg_data=\[({_DESCRIPTOR}(?:, {_DESCRIPTOR})*)",
    re.DOTALL,
)
"""A string, a path, or the descriptors of a control message: what looks like one within the first two is none."""
_AT_ONCE = ("close", "sendmsg")
"""Calls that count when they begin: a closed number is free for another thread, and a descriptor that was sent can be
received, before the call has returned."""
_SPLIT_STOPS = re.compile(r'["(\[{<>}\]),]')


def split_arguments(text: str) -> list[str]:
    """Return arguments at the commas that stand in no string, bracket or path."""
    parts: list[str] = []
    open_brackets: list[str] = []
    start = position = 0
    while (match := _SPLIT_STOPS.search(text, position)) is not None:
        char, position = match.group(), match.end()
        if char == '"':
            position = _after_string(text, position)
        elif open_brackets and char == open_brackets[-1]:
            open_brackets.pop()
        elif char in "([{" or (char == "<" and not text.startswith("<<", position - 1) and text[position - 2] != "<"):
            open_brackets.append(_CLOSERS[char])
        elif char == "," and not open_brackets:
            parts.append(text[start : position - 1].strip())
            start = position
    last = text[start:].strip()
    return [*parts, last] if last or parts else []


def _after_string(text: str, position: int) -> int:
    """Find the end of a string that began before ``position``, from quote to quote: it may be a written page."""
    while (end := text.find('"', position)) >= 0:
        escapes = end
        while escapes > position and text[escapes - 1] == "\\":
            escapes -= 1
        position = end + 1
        if (end - escapes) % 2 == 0:
            return position
    return len(text)


def unescaped(text: str) -> str:
    """Return a path as strace escapes it, without the escapes."""
    if "\\" not in text:
        return text
    raw = bytearray()
    position = 0
    for match in _ESCAPE.finditer(text):
        raw += text[position : match.start()].encode("utf-8", "surrogateescape")
        octal, hexadecimal, char = match.groups()
        if octal is not None:
            raw.append(int(octal, 8) & 0xFF)
        elif hexadecimal is not None:
            raw.append(int(hexadecimal, 16))
        else:
            raw.append(_SIMPLE_ESCAPES.get(char, ord(char) & 0xFF))
        position = match.end()
    raw += text[position:].encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "surrogateescape")


@functools.lru_cache(maxsize=65536)
def parse_frame(line: str) -> Frame | None:
    """Parse one line of a stack; None for any other line."""
    match = _FRAME.match(line)
    if match is None:
        return Frame(ANONYMOUS, 0, "") if _NO_FRAME.match(line) else None
    module, symbol, offset = match.groups()
    distance = _DISTANCE.search(symbol or "")
    name = (symbol or "")[: distance.start()] if distance else symbol or ""
    if distance and int(distance[1], 16) >= _FAR:
        name = ""
    return relative_frame(module, int(offset, 16), name)


class StraceParser:
    """Lines in, calls out; streaming.

    Args:
        tally: counts what could not be used.
        clock: turns the stamp, in nanoseconds since 1970, into the time of the calls.
        data: whether to keep what calls wrote.
    """

    def __init__(self, tally: Tally, clock: Callable[[int], int] | None = None, *, data: bool = False) -> None:
        """Start with no call open."""
        self.tally = tally
        self._data = data
        self._clock = clock
        self._unfinished: dict[int, tuple[str, str]] = {}
        self._pending: Call | None = None
        self._frames: list[Frame] = []
        self._expect_frames = False

    def calls(self, lines: Iterable[str]) -> Iterator[Call]:
        """Yield all calls of a text."""
        for line in lines:
            yield from self.feed(line)
        yield from self.flush()

    def flush(self) -> Iterator[Call]:
        """Yield the last call, whose stack no further line can follow."""
        if self._pending is not None:
            pending, self._pending = self._pending, None
            yield pending._replace(frames=tuple(self._frames)) if self._frames else pending
        self._frames.clear()

    def feed(self, line: str) -> Iterator[Call]:
        """Take one line; yields the call that it closes, if any."""
        if line.startswith(" > "):
            self._take_frame(line)
            return
        yield from self.flush()
        match = _LINE.match(line)
        if match is None:
            if line.strip():
                self.tally.malformed(line)
            self._expect_frames = False
            return
        seconds, digits = match[2], match[3]
        stamp = int(seconds) * 1_000_000_000 + int(digits.ljust(9, "0"))
        self._pending = self._entry(stamp if self._clock is None else self._clock(stamp), int(match[1]), match[4], line)

    def _take_frame(self, line: str) -> None:
        if self._pending is None:
            if not self._expect_frames:
                self.tally.malformed(line)
            return
        frame = parse_frame(line)
        if frame is None:
            self.tally.malformed(line)
        else:
            self._frames.append(frame)

    def _entry(self, time_ns: int, task: int, text: str, line: str) -> Call | None:
        """Return the call that a line completes. Lines with a result may be followed by a stack, used or not."""
        self._expect_frames = True
        if text.startswith("+++"):
            return self._end(time_ns, task, text, line)
        if text.startswith(("---", _MODE)):
            self._note_mode(task, text)
            return None
        resumed = _RESUMED.match(text)
        if resumed is not None:
            name, begun = self._unfinished.pop(task, ("", ""))
            if name != resumed[1]:
                self.tally.unpaired_calls += 1
                return None
            if name in _AT_ONCE:
                return None
            rest = resumed[2]
            text = f"{name}({begun}{'' if not begun or rest.startswith(')') else ', '}{rest}"
        if text.endswith(_UNFINISHED_END):
            unfinished = _UNFINISHED.match(text.removesuffix(_UNFINISHED_END).rstrip().removesuffix(","))
            if unfinished is not None:
                self._unfinished[task] = (unfinished[1], unfinished[2])
                if unfinished[1] in _AT_ONCE:
                    return self._call(time_ns, task, unfinished[1], unfinished[2], "0", line)
                return None
        match = _CALL.match(text)
        if match is None:
            self.tally.malformed(line)
            return None
        return self._call(time_ns, task, match[1], match[2], match[3], line)

    def _note_mode(self, task: int, text: str) -> None:
        if text.startswith(_MODE) and "32 bit" in text:
            self.tally.compat.add(task)

    def _end(self, time_ns: int, task: int, text: str, line: str) -> Call | None:
        match = _ENDED.match(text)
        if match is None:
            self.tally.malformed(line)
            return None
        self._unfinished.pop(task, None)
        if match[1] is None and match[2] is None:
            return None
        self.tally.ended[task] = int(match[1]) if match[1] is not None else 128 + _signal_number(match[2])
        return Call(time_ns, task, "exit")

    def _call(self, time_ns: int, task: int, name: str, arguments: str, result: str, line: str) -> Call | None:
        make = _MAKERS.get(name)
        if make is None:
            self.tally.other[name] += 1
            return None
        if result.startswith(("-1 ", "?")) or result == "-1":
            if make is _write:
                self.tally.failed_writes += 1
            return None
        try:
            value = _NUMBER.match(result)
            parts = split_arguments(arguments)
            call = Call(time_ns, task, name, result=int(value.group(), 0) if value else 0)
            made = make(_PrintedCall(call, name, parts, result))
            if self._data and make is _write and made is not None:
                made = made._replace(data=strace_data.written(name, parts, made.length, split_arguments))
            return made
        except (ValueError, IndexError):
            self.tally.malformed(line)
            return None


def _signal_number(name: str) -> int:
    try:
        return int(signal.Signals[name])
    except KeyError:
        return 0


def _descriptor(text: str) -> tuple[int, str]:
    """Return a descriptor, and its file's path; :data:`~floatgate.trace.recorder.calls.DELETED` ends a lost one."""
    match = _FD.match(text)
    if match is None:
        raise ValueError(text)
    number = AT_CWD if match[1] == "AT_FDCWD" else int(match[1])
    path = unescaped(match[2] or "")
    bare = path.removesuffix(" (deleted)")
    return number, bare + DELETED if match[3] or bare != path else bare


def _folder(text: str) -> tuple[int, str]:
    fd, path = _descriptor(text)
    return fd, path.removesuffix(DELETED)


def _text(text: str) -> str:
    if len(text) < 2 or text[0] != '"' or not text.endswith('"'):
        raise ValueError(text)
    return unescaped(text[1:-1])


def _integer(text: str) -> int:
    if text == "NULL":
        return 0
    return int(text, 0)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split("|"))


def _at(directory: str, path: str) -> tuple[int, str]:
    """Return a path relative to a directory descriptor, made absolute if strace shows the directory."""
    fd, folder = _folder(directory)
    name = _text(path)
    return (fd, name) if name.startswith("/") or not folder else (fd, f"{folder}/{name}")


COPY = "copy_file_range"
"""Flag of a write by this call."""


class _PrintedCall(NamedTuple):
    """A call as strace prints it: what is parsed already, its name, its arguments and its result."""

    call: Call
    name: str
    args: list[str]
    result: str


def _open(printed: _PrintedCall) -> Call:
    fd, path = _folder(printed.result.split(" (flags ")[0])
    if printed.name == "creat":
        flags = frozenset({"O_WRONLY", "O_CREAT", "O_TRUNC"})
    elif printed.name == "openat2":
        match = re.search(r"flags=([\w|]+)", printed.args[2])
        flags = _words(match[1]) if match else frozenset()
    else:
        flags = _words(printed.args[2 if printed.name == "openat" else 1])
    named = _text(printed.args[0 if printed.name in ("open", "creat") else 1])
    return printed.call._replace(name="open", result=fd, path=path or named, path2=named, flags=flags)


def _open_by_handle(printed: _PrintedCall) -> Call:
    fd, path = _folder(printed.result)
    return printed.call._replace(name="open", result=fd, path=path, flags=_words(printed.args[-1]))


def _write(printed: _PrintedCall) -> Call | None:
    flags: frozenset[str] = frozenset()
    offset: int | None = None
    place = printed.args[0]
    if printed.name == "pwrite64":
        offset = _integer(printed.args[3])
    elif printed.name in ("pwritev", "pwritev2"):
        offset = _integer(printed.args[3])
        offset = None if offset == -1 else offset
        flags = _words(printed.args[4]) if len(printed.args) > 4 else flags
    elif printed.name in ("copy_file_range", "splice"):
        place = printed.args[2]
        flags = frozenset({COPY}) if printed.name == "copy_file_range" else flags
        match = _NUMBER.search(printed.args[3])
        offset = int(match.group(), 0) if match else None
    fd, path = _descriptor(place)
    length = printed.call.result
    return printed.call._replace(name="write", fd=fd, path=path, offset=offset, length=length, flags=flags)


def _read(printed: _PrintedCall) -> Call:
    fd, path = _descriptor(printed.args[0])
    offset = _integer(printed.args[3]) if printed.name in ("pread64", "preadv", "preadv2") else None
    return printed.call._replace(
        name="read", fd=fd, path=path, offset=None if offset == -1 else offset, length=printed.call.result
    )


def _on_descriptor(kind: str) -> Callable[[_PrintedCall], Call]:
    def make(printed: _PrintedCall) -> Call:
        fd, path = _descriptor(printed.args[0])
        return printed.call._replace(name=kind, fd=fd, path=path)

    return make


def _sync_range(printed: _PrintedCall) -> Call:
    fd, path = _descriptor(printed.args[0])
    return printed.call._replace(
        name="sync_range",
        fd=fd,
        path=path,
        offset=_integer(printed.args[1]),
        length=_integer(printed.args[2]),
        flags=_words(printed.args[3]),
    )


def _truncate(printed: _PrintedCall) -> Call:
    if printed.name == "truncate":
        return printed.call._replace(name="truncate", path=_text(printed.args[0]), length=_integer(printed.args[1]))
    fd, path = _descriptor(printed.args[0])
    return printed.call._replace(name="truncate", fd=fd, path=path if fd < 0 else "", length=_integer(printed.args[1]))


def _fallocate(printed: _PrintedCall) -> Call | None:
    kind = next((kind for word, kind in _FALLOCATE.items() if word in printed.args[1]), None)
    if kind is None:
        return None
    fd, _ = _descriptor(printed.args[0])
    return printed.call._replace(name=kind, fd=fd, offset=_integer(printed.args[2]), length=_integer(printed.args[3]))


_FALLOCATE = {
    "FALLOC_FL_PUNCH_HOLE": "punch",
    "FALLOC_FL_ZERO_RANGE": "zero",
    "FALLOC_FL_COLLAPSE_RANGE": "shift",
    "FALLOC_FL_INSERT_RANGE": "shift",
}


def _map(printed: _PrintedCall) -> Call | None:
    """Parse a mapping through which a file can be changed."""
    if "PROT_WRITE" not in printed.args[2] or "MAP_SHARED" not in printed.args[3]:
        return None
    fd, path = _descriptor(printed.args[4])
    return printed.call._replace(name="map", fd=fd, path=path) if fd >= 0 else None


def _unlink(printed: _PrintedCall) -> Call | None:
    if printed.name == "unlink":
        return printed.call._replace(name="unlink", path=_text(printed.args[0]))
    if "AT_REMOVEDIR" in printed.args[2]:
        return None
    fd, path = _at(printed.args[0], printed.args[1])
    return printed.call._replace(name="unlink", fd=fd, path=path)


def _two_names(printed: _PrintedCall) -> Call | None:
    kind = "link" if printed.name.startswith("link") else "rename"
    if printed.name in ("rename", "link"):
        return printed.call._replace(name=kind, path=_text(printed.args[0]), path2=_text(printed.args[1]))
    fd, path = _at(printed.args[0], printed.args[1])
    fd2, path2 = _at(printed.args[2], printed.args[3])
    flags = _words(printed.args[4]) if len(printed.args) > 4 else frozenset()
    return printed.call._replace(name=kind, fd=fd, path=path, fd2=fd2, path2=path2, flags=flags)


def _dup(printed: _PrintedCall) -> Call:
    fd, path = _descriptor(printed.args[0])
    flags = frozenset({"O_CLOEXEC"}) if printed.name == "dup3" and "O_CLOEXEC" in printed.args[2] else frozenset()
    return printed.call._replace(name="dup", fd=fd, path=path, flags=flags)


def _fcntl(printed: _PrintedCall) -> Call | None:
    fd, path = _descriptor(printed.args[0])
    if printed.args[1].startswith("F_DUPFD"):
        flags = frozenset({"O_CLOEXEC"}) if "CLOEXEC" in printed.args[1] else frozenset()
        return printed.call._replace(name="dup", fd=fd, path=path, flags=flags)
    if printed.args[1] == "F_SETFL":
        return printed.call._replace(name="set_flags", fd=fd, flags=_words(printed.args[2]))
    if printed.args[1] == "F_SETFD":
        return printed.call._replace(name="set_cloexec", fd=fd, flags=_words(printed.args[2]))
    return None


def _spawn(printed: _PrintedCall) -> Call:
    text = ", ".join(printed.args)
    return printed.call._replace(name="spawn", flags=frozenset(flag for flag in _SHARED if flag in text))


_SHARED = ("CLONE_FILES", "CLONE_THREAD")


def _exec(printed: _PrintedCall) -> Call:
    name = printed.args[1 if printed.name == "execveat" else 0]
    return printed.call._replace(name="exec", path=_text(name) if name.startswith('"') else "")


def _messages(kind: str) -> Callable[[_PrintedCall], Call | None]:
    """Parse descriptors that pass a socket; of several messages those of all."""

    def make(printed: _PrintedCall) -> Call | None:
        text = ", ".join(printed.args[1:])
        lists = [match[1] for match in _PASSED.finditer(text) if match[1]] if "SCM_RIGHTS" in text else []
        passed = tuple(_descriptor(one) for part in lists for one in split_arguments(part))
        flags = frozenset({"CLOEXEC"}) if "MSG_CMSG_CLOEXEC" in printed.args[-1] else frozenset()
        return printed.call._replace(name=kind, passed=passed, flags=flags) if passed else None

    return make


def _new_descriptor(printed: _PrintedCall) -> Call:
    """Parse a descriptor of something that has no path, or of another process."""
    marked = printed.name == "pidfd_getfd" or any(
        "CLOEXEC" in word for word in printed.args if not word.startswith('"')
    )
    flags = frozenset({"CLOEXEC"}) if marked else frozenset()
    return printed.call._replace(name="receive", passed=(_descriptor(printed.result),), flags=flags)


def _ring(printed: _PrintedCall) -> Call:
    return printed.call._replace(name="io_uring", passed=(_descriptor(printed.result),), flags=frozenset({"CLOEXEC"}))


def _two_descriptors(printed: _PrintedCall) -> Call:
    pair = printed.args[0 if printed.name.startswith("pipe") else 3]
    flags = frozenset({"CLOEXEC"}) if any("CLOEXEC" in word for word in printed.args) else frozenset()
    passed = tuple(_descriptor(one) for one in split_arguments(pair.removeprefix("[").removesuffix("]")))
    return printed.call._replace(name="receive", passed=passed, flags=flags)


def _unshare(printed: _PrintedCall) -> Call | None:
    return printed.call._replace(name="unshare") if "CLONE_FILES" in printed.args[0] else None


def _plain(kind: str) -> Callable[[_PrintedCall], Call]:
    def make(printed: _PrintedCall) -> Call:
        return printed.call._replace(name=kind)

    return make


def _chdir(printed: _PrintedCall) -> Call:
    if printed.name == "chdir":
        return printed.call._replace(name="chdir", path=_text(printed.args[0]))
    fd, path = _folder(printed.args[0])
    return printed.call._replace(name="chdir", fd=fd, path=path)


def _close_range(printed: _PrintedCall) -> Call:
    return printed.call._replace(
        name="close_range",
        fd=_descriptor(printed.args[0])[0],
        length=_integer(printed.args[1]),
        flags=_words(printed.args[2]),
    )


_MAKERS: dict[str, Callable[[_PrintedCall], Call | None]] = {
    **dict.fromkeys(("open", "openat", "openat2", "creat"), _open),
    **dict.fromkeys(
        ("write", "pwrite64", "writev", "pwritev", "pwritev2", "copy_file_range", "sendfile", "splice"), _write
    ),
    **dict.fromkeys(("read", "pread64", "readv", "preadv", "preadv2"), _read),
    **dict.fromkeys(("fsync", "fdatasync"), _on_descriptor("sync")),
    **dict.fromkeys(("sync", "syncfs"), _plain("sync_all")),
    **dict.fromkeys(("truncate", "ftruncate"), _truncate),
    **dict.fromkeys(("unlink", "unlinkat"), _unlink),
    **dict.fromkeys(("rename", "renameat", "renameat2", "link", "linkat"), _two_names),
    **dict.fromkeys(("dup", "dup2", "dup3"), _dup),
    **dict.fromkeys(("clone", "clone3", "fork", "vfork"), _spawn),
    **dict.fromkeys(("execve", "execveat"), _exec),
    **dict.fromkeys(("chdir", "fchdir"), _chdir),
    "io_uring_setup": _ring,
    "io_uring_enter": _plain("io_uring"),
    **dict.fromkeys(("pipe", "pipe2", "socketpair"), _two_descriptors),
    **dict.fromkeys(("socket", "accept", "accept4", "eventfd", "eventfd2", "memfd_create"), _new_descriptor),
    **dict.fromkeys(("recvmsg", "recvmmsg"), _messages("receive")),
    **dict.fromkeys(("sendmsg", "sendmmsg"), _messages("send")),
    "pidfd_getfd": _new_descriptor,
    "open_by_handle_at": _open_by_handle,
    "unshare": _unshare,
    "io_submit": _plain("aio"),
    "sync_file_range": _sync_range,
    "fallocate": _fallocate,
    "mmap": _map,
    "fcntl": _fcntl,
    "lseek": _on_descriptor("seek"),
    "close": _on_descriptor("close"),
    "close_range": _close_range,
}

WRITES = tuple(name for name, make in _MAKERS.items() if make is _write)
READS = tuple(name for name, make in _MAKERS.items() if make is _read)
FREQUENT = ("mmap", "io_uring_enter", "lseek")
"""Calls that perf sees, too, at less cost."""
NAMELESS = ("pipe", "pipe2", "socketpair", "socket", "accept", "accept4", "eventfd", "eventfd2", "memfd_create")
"""Calls that make descriptors of no file: without them, a write to one is a write to an unknown descriptor. Where
strace sees the writes itself, it names their files there."""
BY_STRACE = ("splice", COPY)
"""Writes that strace tells beside perf: perf does not see whether the first goes to a file, nor the offset that the
second has by a pointer."""
OTHERS = tuple(name for name in _MAKERS if name not in (*WRITES, *READS))
WHOLE = ("recvmsg", "recvmmsg", "sendmsg", "sendmmsg", "pipe", "pipe2", "socketpair")
"""Calls that must not be abbreviated: with ``-s 0`` strace prints none of their descriptors otherwise."""


def spawned(lines: Iterable[str]) -> dict[int, Birth]:
    """Return which task started which: by task, how it came to be.

    A child's calls may be printed before the call that made it returns, so this runs beforehand.
    """
    parser = StraceParser(Tally())
    few = (line for line in lines if not line.startswith(" >") and ("clone" in line or "fork" in line))
    return {
        call.result: Birth(call.task, "CLONE_FILES" in call.flags, "CLONE_THREAD" in call.flags)
        for call in parser.calls(few)
        if call.name == "spawn" and call.result > 0
    }
