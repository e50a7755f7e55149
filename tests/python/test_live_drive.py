"""`floatgate live`: the drive behind the socket, its journal, its end."""

from __future__ import annotations

import json
import os
import random
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest

import floatgate
from floatgate.live.conditions import Condition
from floatgate.live.exports import parsed
from live_served import SETTINGS, refused, served, without_run
from nbd_client import FLUSH, FUA, READ, TRIM, WRITE, ZEROES, Client, connected, option


def named(name: bytes) -> bytes:
    return struct.pack(">I", len(name)) + name + struct.pack(">H", 0)


def test_data_come_back_and_the_journal_gives_the_same_result(tmp_path: Path) -> None:
    drawn = random.Random(7)
    with served(tmp_path / "drive") as drive, Client(tmp_path / "drive/socket") as client:
        held = bytearray(client.bytes)
        for _ in range(3000):
            size = drawn.choice((512, 4096, 4096, 16384))
            offset = drawn.randrange((client.bytes - size) // 512) * 512
            what = drawn.random()
            if what < 0.7:
                data = drawn.randbytes(size)
                assert client.write(offset, data, FUA if drawn.random() < 0.01 else 0) == 0
                held[offset : offset + size] = data
            elif what < 0.9:
                assert client.read(offset, size) == held[offset : offset + size]
            elif what < 0.98:
                assert client.ask(drawn.choice((TRIM, ZEROES)), offset, size) == 0
                held[offset : offset + size] = bytes(size)
            else:
                assert client.ask(FLUSH) == 0
    assert drive.status in (0, 143), drive.text()
    live = without_run(tmp_path / "drive/result.json")
    run = floatgate.run((tmp_path / "drive/experiment.toml").read_text())
    replayed = json.loads(run.result_json)
    del replayed["run"]
    assert live == replayed
    assert (tmp_path / "drive/data.img").read_bytes() == held


def test_a_drive_goes_on_after_an_end_and_after_a_kill(tmp_path: Path) -> None:
    folder = tmp_path / "drive"
    for number, end in enumerate((signal.SIGTERM, signal.SIGKILL, signal.SIGTERM)):
        with served(folder, end=end), Client(folder / "socket") as client:
            for page in range(200):
                assert client.write(4096 * (page * 7 % 1000), bytes([number]) * 4096) == 0
            assert client.ask(FLUSH) == 0
            assert client.read(0, 4096) == bytes([number]) * 4096
    assert floatgate.load(folder).host.write_requests == 600
    done = refused("live", str(folder), *SETTINGS, "--set", "ftl.spare_factor=0.5")
    assert "is the state of a drive with other settings" in done


def test_requests_that_make_no_sense_get_an_error_and_change_nothing(tmp_path: Path) -> None:
    with served(tmp_path / "d"), Client(tmp_path / "d/socket") as client, Client(tmp_path / "d/socket") as other:
        end = client.bytes
        assert client.write(0, b"x" * 512) == 0
        for kind, offset, size, data, flags, error in (
            (READ, end, 512, b"", 0, 22),
            (READ, 2**64 - 512, 1024, b"", 0, 22),
            (READ, 0, 0, b"", 0, 22),
            (READ, 0, (32 << 20) + 1, b"", 0, 75),
            (READ, 0, 512, b"", 1 << 9, 22),
            (WRITE, end - 512, 1024, b"y" * 1024, 0, 28),
            (WRITE, 0, 512, b"y" * 512, 1 << 3, 22),
            (TRIM, end, 512, b"", 0, 22),
            (ZEROES, end, 512, b"", 2, 28),
            (5, 0, 512, b"", 0, 22),
            (77, 0, 512, b"", 0, 22),
        ):
            assert client.ask(kind, offset, size, data, flags) == error, (kind, offset, size)
        assert client.read(0, 512) == b"x" * 512
        # Rubbish ends the connection, and no other.
        client.socket.sendall(b"no request at all, but bytes" * 2)
        assert client.socket.recv(1) == b""
        assert other.read(0, 512) == b"x" * 512
    assert floatgate.load(tmp_path / "d").host.to_dict()["read_requests"] == 2


def test_the_handshake_lists_informs_and_refuses(tmp_path: Path) -> None:
    with served(tmp_path / "d", "--exports", "data=rest:0,wal=8MiB:1"):
        with connected(tmp_path / "d/socket") as asking:
            asking.sendall(struct.pack(">I", 3))
            names = [data[4:].decode() for kind, data in option(asking, 3) if kind == 2]
            assert names == ["data", "wal"]
            assert option(asking, 7, named(b"nothing"))[-1][0] == 1 << 31 | 6
            assert option(asking, 7, b"\0\0\0\xff")[-1][0] == 1 << 31 | 3
            assert option(asking, 3, b"more")[-1][0] == 1 << 31 | 3
            assert option(asking, 8)[-1][0] == 1 << 31 | 1
            assert option(asking, 3, b"x" * 10000)[-1][0] == 1 << 31 | 9
            assert option(asking, 6, named(b"wal"))[-1][0] == 1
            assert option(asking, 2)[-1][0] == 1
            assert asking.recv(1) == b""
        with Client(tmp_path / "d/socket", "wal") as wal, Client(tmp_path / "d/socket", "data") as data:
            assert wal.bytes == 8 << 20
            assert wal.write(0, b"w" * 4096) == 0
            assert wal.write(wal.bytes - 512, b"w" * 1024) == 28
            assert data.read(0, 4096) == bytes(4096)
            total = data.bytes + wal.bytes
    assert (tmp_path / "d/data.img").read_bytes()[total - (8 << 20) :][:4096] == b"w" * 4096


def test_a_volatile_cache_loses_what_was_not_flushed_and_only_that(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    with served(folder, "--cache", "volatile", end=signal.SIGKILL), Client(folder / "socket") as client:
        for page in range(200):
            assert client.write(4096 * page, b"f" * 4096) == 0
        assert client.ask(FLUSH) == 0
        for page in range(100, 300):
            assert client.write(4096 * page, b"u" * 4096) == 0
        assert client.read(4096 * 250, 4096) == b"u" * 4096
    with served(folder), Client(folder / "socket") as client:
        pages = [client.read(4096 * page, 4096)[:1] for page in range(300)]
    assert pages[:100] == [b"f"] * 100
    assert set(pages[100:200]) == {b"f", b"u"}
    assert set(pages[200:]) == {b"\0", b"u"}


def test_a_write_with_fua_survives_a_kill(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    with served(folder, "--cache", "volatile", end=signal.SIGKILL), Client(folder / "socket") as client:
        for page in range(100):
            assert client.write(4096 * page, b"a" * 4096, FUA) == 0
    with served(folder), Client(folder / "socket") as client:
        assert all(client.read(4096 * page, 4096) == b"a" * 4096 for page in range(100))


def test_a_worn_out_drive_refuses_writes_and_can_be_read(tmp_path: Path) -> None:
    worn = ("--set", "drive.endurance.pe_cycles=2")
    with served(tmp_path / "d", *worn) as drive, Client(tmp_path / "d/socket") as client:
        errors = [client.write(4096 * (n % (client.bytes // 4096)), b"z" * 4096) for n in range(80_000)]
        first = errors.index(1)
        assert set(errors[:first]) == {0}
        assert set(errors[first:]) == {1}
        assert client.read(0, 4096) == b"z" * 4096
    assert drive.status in (0, 143)


def test_conditions_decide_the_exit_status(tmp_path: Path) -> None:
    for condition, status in (("waf_bytes < 1.5", 0), ("host.write_requests > 1", 1)):
        folder = tmp_path / condition[:3]
        with served(folder, "--assert", condition) as drive, Client(folder / "socket") as client:
            assert client.write(0, bytes(4096)) == 0
        assert drive.status == status, drive.text()
    assert "host.write_requests is 1; expected > 1" in drive.text()


@pytest.mark.parametrize("text", ["waf", "waf <", "waf < x", "waf = 1", "< 1", "wav < 1", "host.wav < 1"])
def test_a_condition_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(floatgate.InputError, match="--assert"):
        Condition.parsed(text)
    assert Condition.parsed("waf_bytes_95.high < 2").bound == 2


@pytest.mark.parametrize("text", ["", "a", "a=", "a=x", "a=1KiB", "=1GiB", "a=1GiB:x", "a=1GiB:70000", "a b=1GiB"])
def test_an_export_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(floatgate.InputError, match="--exports"):
        parsed(text)
    assert parsed("data=rest:0,wal=2GiB:1") == [("data", 0, 0), ("wal", 2 << 30, 1)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (("ftl.background.policy=idle", "mode=timed"), "jobs in idle time"),
        (("ftl.separate.policy=fk",), "needs the future"),
        (("workload.warmup_requests=10",), "serves the requests of its host"),
        (("workload.repeat=2",), "serves the requests of its host"),
        (("ftl.precondition=auto",), "auto needs laps"),
        (("mode=timed", "workload.arrival=closed"), "come when they come"),
        (("lifetime.reduce.policy=dedup",), "needs the content"),
    ],
)
def test_settings_that_a_live_drive_cannot_have_are_refused(
    tmp_path: Path, settings: tuple[str, ...], message: str
) -> None:
    options = [word for setting in settings for word in ("--set", setting)]
    assert message in refused("live", str(tmp_path / "d"), *SETTINGS, *options)
    assert not (tmp_path / "d").exists()


def test_a_socket_in_use_and_a_folder_in_use_are_refused(tmp_path: Path) -> None:
    with served(tmp_path / "d"):
        for folder, message in (("d", "another run is writing"), ("e", "another server listens")):
            words = ["live", str(tmp_path / folder), *SETTINGS, "--socket", str(tmp_path / "d/socket")]
            assert message in refused(*words)


def test_idle_connections_do_not_keep_others_out(tmp_path: Path) -> None:
    with served(tmp_path / "d"):
        idle = [connected(tmp_path / "d/socket") for _ in range(60)]
        with Client(tmp_path / "d/socket") as client:
            assert client.write(0, b"a" * 4096) == 0
        for one in idle:
            one.close()
        time.sleep(0.3)
        more = [Client(tmp_path / "d/socket") for _ in range(50)]
        assert all(one.read(0, 1) == b"a" for one in more)
        for client in more:
            client.socket.close()


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [("--journal-max", "much", "--journal-max 'much': not a size"), ("--cache", "none", "--cache: 'none' is unknown")],
)
def test_an_option_that_is_unusable_is_named(tmp_path: Path, option: str, value: str, message: str) -> None:
    assert message in refused("live", str(tmp_path / "d"), *SETTINGS, option, value)


def test_a_full_disk_costs_nothing_that_was_written(tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("needs a file system of its own, for which one must be root")
    try:
        ballast = place / "ballast"
        ballast.write_bytes(bytes(1 << 20))
        with served(place / "d"), Client(place / "d/socket") as client:
            errors = [client.write(4096 * n, b"%04d" % n * 1024) for n in range(4000)]
            first = errors.index(28)
            assert set(errors) <= {0, 28}, "no space left, and nothing else"
            assert client.read(4096 * (first - 1), 4096) == b"%04d" % (first - 1) * 1024
            ballast.unlink()
            assert client.write(4096 * first, b"more" * 1024) == 0
            assert client.ask(FLUSH) == 0
            held = {n: client.read(4096 * n, 4096) for n in range(0, first, 50)}
        with served(place / "d"), Client(place / "d/socket") as client:
            assert all(client.read(4096 * n, 4096) == data for n, data in held.items())
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
