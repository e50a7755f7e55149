"""The parsers of the recorder's back ends, on text that strace 6.1 and perf 6.1 wrote, and on lines made by hand."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floatgate.trace.recorder import perf_text, strace_text
from floatgate.trace.recorder.calls import AT_CWD, DELETED, Call, Frame, Tally
from floatgate.trace.recorder.contexts import ANONYMOUS, ContextTable, context_id, context_name, module_hash
from floatgate.trace.recorder.perf_data import separate_programs

SAMPLES = Path(__file__).parent / "test_record_samples"


def strace_calls(text: str) -> tuple[list[Call], Tally]:
    tally = Tally()
    return list(strace_text.StraceParser(tally).calls(text.splitlines(keepends=True))), tally


def one(text: str) -> Call:
    calls, tally = strace_calls(f"7 1.5 {text}\n")
    assert tally.malformed_lines == 0, tally
    assert len(calls) == 1
    return calls[0]


def test_threads_of_a_real_program() -> None:
    calls, tally = strace_calls((SAMPLES / "threads.strace.txt").read_text())
    assert tally.malformed_lines == tally.unpaired_calls == 0
    assert tally.ended == {4523: 0, 4528: 0, 4529: 0}
    names = [call.name for call in calls]
    assert names.count("write") == 4
    assert names.count("sync") == 4
    assert names.count("spawn") == 2
    writes = [call for call in calls if call.name == "write"]
    assert {call.length for call in writes} == {4096}
    assert {call.path for call in writes} == {"/opt/demo/t.dat"}
    assert writes[0].frames is not None
    assert writes[0].frames[:2] == (Frame("libc.so.6", 0xF838F, "__write"), Frame("th", 0x11A7, "run"))
    assert len({call.frames for call in writes}) == 2
    assert [call.time_ns for call in calls] == sorted(call.time_ns for call in calls)


def test_children_are_known_before_their_parent_returns() -> None:
    lines = (SAMPLES / "threads.strace.txt").read_text().splitlines()
    assert strace_text.spawned(lines) == {4528: (4523, True, True), 4529: (4523, True, True)}
    split = ["1 1.0 vfork( <unfinished ...>", "2 1.1 close(3) = 0", "1 1.2 <... vfork resumed>) = 2"]
    assert strace_text.spawned(split) == {2: (1, False, False)}
    shared = ["1 1.0 clone(child_stack=NULL, flags=CLONE_VM|CLONE_FILES|SIGCHLD) = 9"]
    assert strace_text.spawned(shared) == {9: (1, True, False)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('pwrite64(3</a>, ""..., 10, 8192) = 10', {"name": "write", "fd": 3, "offset": 8192, "length": 10}),
        (
            'pwritev2(4</a>, [{iov_base=""..., iov_len=5}], 1, -1, RWF_DSYNC) = 5',
            {"name": "write", "fd": 4, "offset": None, "flags": frozenset({"RWF_DSYNC"})},
        ),
        (
            "copy_file_range(3</a>, NULL, 4</b>, [512], 99, 0) = 40",
            {"fd": 4, "offset": 512, "length": 40, "path": "/b"},
        ),
        (
            'openat(AT_FDCWD</w>, "x", O_WRONLY|O_CREAT|O_APPEND, 0644) = 3</w/x>',
            {"name": "open", "result": 3, "path": "/w/x", "flags": frozenset({"O_WRONLY", "O_CREAT", "O_APPEND"})},
        ),
        ('open("a, b) = 1", O_RDWR) = 5', {"name": "open", "result": 5, "path": "a, b) = 1"}),
        ('unlinkat(AT_FDCWD</w>, "gr\\303\\274n", 0) = 0', {"name": "unlink", "path": "/w/grün"}),
        (
            'renameat2(AT_FDCWD</w>, "a", AT_FDCWD</v>, "b", RENAME_NOREPLACE) = 0',
            {"name": "rename", "path": "/w/a", "path2": "/v/b"},
        ),
        (
            "fcntl(3</a>, F_DUPFD_CLOEXEC, 10) = 11</a>",
            {"name": "dup", "fd": 3, "result": 11, "flags": frozenset({"O_CLOEXEC"})},
        ),
        ("lseek(3</a b>(deleted), -5, SEEK_END) = 95", {"name": "seek", "fd": 3, "result": 95}),
        ('write(3</a>(deleted), ""..., 5) = 5', {"name": "write", "path": f"/a{DELETED}"}),
        ("unshare(CLONE_FILES|CLONE_FS) = 0", {"name": "unshare"}),
        ("io_uring_setup(4, {flags=0}) = 3<anon_inode:[io_uring]>", {"passed": ((3, "anon_inode:[io_uring]"),)}),
        ("pidfd_getfd(4<anon_inode:[pidfd]>, 7, 0) = 5</a>", {"name": "receive", "passed": ((5, "/a"),)}),
        (
            "open_by_handle_at(3</mnt>, {handle_bytes=8, handle_type=1, f_handle=0x0}, O_RDWR) = 4</mnt/a>",
            {"name": "open", "path": "/mnt/a", "result": 4, "flags": frozenset({"O_RDWR"})},
        ),
        ("ftruncate(3</a>, 4097) = 0", {"name": "truncate", "fd": 3, "length": 4097}),
        (
            "fallocate(3</a>, FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, 4096, 8192) = 0",
            {"name": "punch", "offset": 4096, "length": 8192},
        ),
        (
            'execve("/usr/bin/cc1", ["/usr/bin/cc1", ...], 0x7ff /* 9 vars */) = 0',
            {"name": "exec", "path": "/usr/bin/cc1"},
        ),
        ('execveat(5</usr/bin>, "cc1", [...], NULL, 0) = 0', {"name": "exec", "path": "cc1"}),
        (
            "clone(child_stack=NULL, flags=CLONE_VM|CLONE_FILES|SIGCHLD) = 9",
            {"name": "spawn", "result": 9, "flags": frozenset({"CLONE_FILES"})},
        ),
    ],
)
def test_calls_of_strace(text: str, expected: dict[str, object]) -> None:
    call = one(text)
    assert {key: getattr(call, key) for key in expected} == expected
    assert (call.task, call.time_ns) == (7, 1_500_000_000)


def test_descriptors_that_pass_sockets() -> None:
    calls, tally = strace_calls((SAMPLES / "passed.strace.txt").read_text())
    assert (tally.malformed_lines, tally.unpaired_calls) == (0, 0)
    assert [(call.task, call.name, call.passed) for call in calls if call.passed] == [
        (900, "receive", ((3, "socket:[77]"), (4, "socket:[78]"))),
        (900, "send", ((5, "/opt/demo/a"),)),  # when the call begins
        (901, "receive", ((5, "/opt/demo/a"),)),
        (900, "send", ((6, f"/opt/demo/b{DELETED}"), (7, "pipe:[79]"))),
        (901, "receive", ((6, f"/opt/demo/b{DELETED}"), (7, "pipe:[79]"), (8, "/opt/demo/c, 9</d>"))),
    ]
    # The payload of a message is no control message, whatever it looks like.
    text = (
        r'recvmsg(4<socket:[1]>, {msg_iov=[{iov_base="\"cmsg_type=SCM_RIGHTS, cmsg_data=[5</a>]", iov_len=9}]}, 0) = 9'
    )
    assert strace_calls(f"7 1.5 {text}\n")[0] == []


def test_failed_and_unknown_calls_are_left_out_and_counted() -> None:
    text = (
        '7 1.0 write(3</a>, ""..., 5) = -1 ENOSPC (No space left on device)\n'
        '7 1.1 openat(AT_FDCWD</w>, "x", O_RDONLY) = -1 ENOENT (No such file or directory)\n'
        "7 1.2 getpid() = 7\n"
        "7 1.3 --- SIGCHLD {si_signo=SIGCHLD} ---\n"
        "7 1.4 +++ killed by SIGKILL +++\n"
    )
    calls, tally = strace_calls(text)
    assert [call.name for call in calls] == ["exit"]
    assert (tally.failed_writes, tally.other["getpid"], tally.ended, tally.malformed_lines) == (1, 1, {7: 137}, 0)


def test_malformed_lines_of_strace_are_counted_and_the_first_shown() -> None:
    calls, tally = strace_calls('nonsense\n7 1.0 write(3</a>, ""..., 5) = 5\n > no frame\n7 1.1 write(\n > x\n')
    assert len(calls) == 1
    assert tally.malformed_lines == 3
    assert tally.first_malformed == "nonsense"


def test_a_close_counts_when_it_begins() -> None:
    calls, tally = strace_calls(
        '7 1.0 close(3</a> <unfinished ...>\n8 1.1 open("b", O_RDWR) = 3</b>\n7 1.2 <... close resumed>) = 0\n'
    )
    assert [call.name for call in calls] == ["close", "open"]
    assert tally.malformed_lines == tally.unpaired_calls == 0


@given(st.text(alphabet='write(3</a>, "\\x0)= <unfinished ...>[{]}?resumed+-0123456789\n >', max_size=120))
def test_no_text_breaks_the_parsers(text: str) -> None:
    for prefix in ("", "7 1.0 ", "7 1.0 write(", " > ", "7/7 1.0: syscalls:sys_enter_write: "):
        lines = [prefix + line for line in text.split("\n")]
        list(strace_text.StraceParser(Tally()).calls(lines))
        list(perf_text.PerfParser(Tally()).calls(lines))


def test_arguments_are_split_outside_strings_and_brackets() -> None:
    assert strace_text.split_arguments('3</a, b>, [{x=1, y="),"}], "p\\"q, r"..., 5') == [
        "3</a, b>",
        '[{x=1, y="),"}]',
        '"p\\"q, r"...',
        "5",
    ]
    assert strace_text.split_arguments("") == []
    assert strace_text.split_arguments("1<<3|2, 4") == ["1<<3|2", "4"]


def perf_calls(text: str, **how: object) -> tuple[list[Call], Tally]:
    tally = Tally()
    parser = perf_text.PerfParser(tally, **how)  # type: ignore[arg-type]
    return list(parser.calls(text.splitlines(keepends=True))), tally


def test_writes_of_a_real_program_under_perf() -> None:
    calls, tally = perf_calls((SAMPLES / "writer.perf.txt").read_text())
    assert (tally.malformed_lines, tally.unpaired_calls, tally.lost_events, tally.broken_stacks) == (0, 0, 0, 0)
    assert [(call.name, call.fd, call.offset, call.length) for call in calls] == [
        ("write", 3, None, 4096),
        ("write", 3, None, 4096),
        ("write", 3, 0, 4096),
        ("write", 3, 4096, 4096),
    ]
    assert calls[0].frames is not None
    # The same addresses that `strace -k` prints for the program: 0xf8350, 0x11c8, 0x129e, 0x2724a, 0x27305, 0x10d1.
    assert [frame.offset for frame in calls[0].frames] == [0xF8350, 0x11C8, 0x129E, 0x2724A, 0x27305, 0x10D1]
    assert context_name(calls[0].frames) == "inner < main < _start"


def test_perf_tells_mappings_and_io_uring_without_their_end() -> None:
    calls, tally = perf_calls((SAMPLES / "unseen.perf.txt").read_text())
    # Neither an anonymous mapping, nor a copy to an offset in the program's memory, which strace tells.
    assert [(call.name, call.fd) for call in calls] == [("map", 3), ("io_uring", AT_CWD)]
    assert (tally.malformed_lines, tally.unpaired_calls) == (0, 0)


def test_perf_counts_what_is_lost() -> None:
    text = (
        " 5/5 1.000000001: PERF_RECORD_LOST lost 17\n"
        " 5/5 1.000000002: syscalls:sys_exit_write: 0x5    7f00 write+0x1 (/lib/libc.so.6)\n"
        " 5/6 1.000000003: syscalls:sys_enter_write: fd: 0x00000003, buf: 0x1, count: 0x5\n"
        "\t 10 f+0x1 (/opt/x)\n\n"
        " 5/6 1.000000004: syscalls:sys_exit_write: 0xffffffffffffffe4\n"
        " 9/9 1.000000005: syscalls:sys_enter_write: fd: 0x00000001, buf: 0x1, count: 0x5\n"
        "\t 10 f+0x1 (/opt/x)\n\n"
        "what is this\n"
        " 5/5 1.000000006: syscalls:sys_enter_lseek: fd: 0x00000004, offset: 0x0, whence: 0x2\n"
        " 5/5 1.000000007: syscalls:sys_exit_lseek: 0x64\n"
    )
    calls, tally = perf_calls(text, ignore=9)
    assert [(call.name, call.fd, call.result) for call in calls] == [("seek", 4, 100)]
    assert (tally.lost_events, tally.unpaired_calls, tally.failed_writes, tally.malformed_lines) == (17, 1, 1, 1)
    assert tally.broken_stacks == 1


def test_contexts_survive_randomised_addresses() -> None:
    frames = (Frame("libc.so.6", 0xF8350, "write"), Frame("w", 0x11C8, "inner"))
    assert context_id(frames) == (module_hash("libc.so.6") + 0xF8350 + module_hash("w") + 0x11C8) % 2**64
    # Code without a file has no address that lasts: two runs give one frame.
    first = strace_text.parse_frame(" > //anon() [0x7f0000001234]")
    second = strace_text.parse_frame(" > //anon() [0x7fab00001234]")
    assert first == second == Frame(ANONYMOUS, 0, "")


def test_contexts_have_names_from_outside_the_c_library() -> None:
    table = ContextTable()
    frames = (Frame("libc.so.6", 1, "write"), Frame("db", 2, "pager_write"), Frame("db", 3, ""), Frame("db", 4, "main"))
    context = table.intern(frames)
    assert context is not None
    assert table.intern(frames) == context
    assert table.intern(()) is None
    assert table.name(context) == "pager_write < db+0x3 < main"
    assert table.described() == {
        str(context): {
            "name": "pager_write < db+0x3 < main",
            "frames": ["libc.so.6+0x1 write", "db+0x2 pager_write", "db+0x3", "db+0x4 main"],
        }
    }
    assert context_name(frames[:1]) == "write"


def perf_data(records: list[bytes]) -> bytes:
    """A file as perf writes it, with one event: IDENTIFIER, IP, TID, TIME."""
    kinds = 1 | 2 | 4 | (1 << 16)
    attribute = struct.pack("<IIQQQQQ", 2, 48, 0, 1, kinds, 0, 1 << 18) + struct.pack("<QQ", 0, 0)
    start = 104 + len(attribute)
    body = b"".join(records)
    header = struct.pack("<8sQQQQQQ", b"PERFILE2", 104, len(attribute), 104, len(attribute), start, len(body))
    return header.ljust(104, b"\0") + attribute + body


def perf_record(kind: int, misc: int, body: bytes, process: int, time: int) -> bytes:
    trailer = struct.pack("<IIQQ", process, process, time, 0)
    return struct.pack("<IHH", kind, misc, 8 + len(body) + len(trailer)) + body + trailer


def test_processes_get_new_numbers_at_exec(tmp_path: Path) -> None:
    def sample(time: int) -> bytes:
        return struct.pack("<IHHQQIIQ", 9, 2, 40, 1, 0xABC, 50, 50, time)

    fork = perf_record(7, 0, struct.pack("<IIIIQ", 60, 50, 60, 50, 25), 50, 25)
    comms = [perf_record(3, 1 << 13, struct.pack("<II8s", 50, 50, b"prog"), 50, time) for time in (10, 20)]
    path = tmp_path / "perf.data"
    path.write_bytes(perf_data([sample(15), *comms, sample(25), fork]))
    assert set(separate_programs(path).values()) == {50}
    data = path.read_bytes()
    start = 104 + 64
    before, after = (struct.unpack_from("<I", data, start + at + 24)[0] for at in (0, 40 + 2 * 48))
    assert before != after
    assert struct.unpack_from("<IIII", data, start + 80 + 96 + 8) == (60, after, 60, after)

    other = tmp_path / "other"
    other.write_bytes(b"something else, longer than a header of perf's " * 4)
    assert separate_programs(other) == {}
    (tmp_path / "empty").touch()
    assert separate_programs(tmp_path / "empty") == {}
