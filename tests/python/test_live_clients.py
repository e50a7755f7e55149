"""Clients and file systems that others made work on a live drive, and find what they have written."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from live_served import served

MIB = 1 << 20
CAP_SYS_ADMIN = 21


def _needs(*programs: str) -> pytest.MarkDecorator:
    missing = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} missing")


def _run(*command: object, cwd: Path | None = None) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, cwd=cwd)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def _uri(folder: Path) -> str:
    return f"nbd+unix:///?socket={folder / 'socket'}"


def _host(folder: Path) -> dict[str, int]:
    host: dict[str, int] = json.loads((folder / "result.json").read_text())["host"]
    return host


def _random_file(path: Path, size: int, seed: int) -> bytes:
    content = np.random.default_rng(seed).bytes(size)
    path.write_bytes(content)
    return content


@_needs("fio")
def test_fio_verifies_what_it_wrote_at_random(tmp_path: Path) -> None:
    folder = tmp_path / "drive"
    with served(folder):
        job = ("--name=v", "--ioengine=nbd", f"--uri={_uri(folder)}", "--rw=randwrite", "--bs=4k", "--iodepth=16")
        out = _run("fio", *job, "--size=16m", "--verify=crc32c", "--do_verify=1", "--output-format=json", cwd=tmp_path)
    job_json = json.loads(out[out.index("{") :])["jobs"][0]
    assert job_json["error"] == 0
    assert (job_json["write"]["io_bytes"], job_json["read"]["io_bytes"]) == (16 * MIB, 16 * MIB)
    assert (_host(folder)["write_bytes"], _host(folder)["read_bytes"]) == (16 * MIB, 16 * MIB)


@_needs("nbdcopy", "nbdinfo")
def test_nbdcopy_brings_a_file_there_and_back(tmp_path: Path) -> None:
    folder, there, back = tmp_path / "drive", tmp_path / "there", tmp_path / "back"
    with served(folder):
        size = json.loads(_run("nbdinfo", "--json", _uri(folder)))["exports"][0]["export-size"]
        # Holes are left out by it, or arrive as zeroes.
        content = bytearray(_random_file(there, size, seed=1))
        content[MIB : 9 * MIB] = bytes(8 * MIB)
        there.write_bytes(content)
        _run("nbdcopy", there, _uri(folder))
        _run("nbdcopy", _uri(folder), back)
    assert back.read_bytes() == there.read_bytes()
    host = _host(folder)
    assert host["write_bytes"] + host["trim_bytes"] >= size


@_needs("qemu-io")
def test_qemu_io_writes_discards_and_flushes(tmp_path: Path) -> None:
    folder = tmp_path / "drive"
    commands = (
        "write -P 5 1M 64k",
        "write -z 1M 4k",
        "discard 1088k 64k",
        "flush",
        "read -P 5 1028k 60k",
        "read -P 0 1M 4k",
    )
    with served(folder):
        words = [word for command in commands for word in ("-c", command)]
        out = _run("qemu-io", "-f", "raw", *words, _uri(folder))
    assert "failed" not in out
    assert "error" not in out
    host = _host(folder)
    assert host["read_bytes"] == 64 << 10
    assert host["write_bytes"] + host["trim_bytes"] == (64 + 4 + 64) << 10


@_needs("qemu-img")
def test_qemu_img_converts_an_image_to_the_drive_and_compares(tmp_path: Path) -> None:
    folder, image, packed = tmp_path / "drive", tmp_path / "raw", tmp_path / "image.qcow2"
    _random_file(image, 24 * MIB, seed=2)
    _run("qemu-img", "convert", "-f", "raw", "-O", "qcow2", image, packed)
    with served(folder):
        _run("qemu-img", "convert", "-n", "-f", "qcow2", "-O", "raw", packed, _uri(folder))
        # The drive is larger than the image, and zero beyond.
        out = _run("qemu-img", "compare", "-f", "raw", "-F", "qcow2", _uri(folder), packed)
    assert "identical" in out
    assert _host(folder)["write_bytes"] >= 24 * MIB


@contextlib.contextmanager
def _block_device(folder: Path, place: Path) -> Iterator[str]:
    place.mkdir()
    with subprocess.Popen(["nbdfuse", str(place), _uri(folder)], stderr=subprocess.DEVNULL) as fuse:
        device = ""
        try:
            bound = time.monotonic() + 30
            while not (place / "nbd").exists():
                assert time.monotonic() < bound
                assert fuse.poll() is None
                time.sleep(0.02)
            device = _run("losetup", "--sector-size", "4096", "--direct-io=on", "-f", "--show", place / "nbd").strip()
            yield device
        finally:
            if device:
                _run("losetup", "-d", device)
            _run("umount", place)
            fuse.wait(30)


@contextlib.contextmanager
def _mounted(device: str, place: Path) -> Iterator[Path]:
    place.mkdir(exist_ok=True)
    _run("mount", device, place)
    try:
        yield place
    finally:
        _run("umount", place)


def _loop_devices() -> bool:
    """Whether this process may mount, and a loop device is free: a container's root may do neither."""
    status = Path("/proc/self/status").read_text()
    may_mount = int(status.split("CapEff:")[1].split()[0], 16) >> CAP_SYS_ADMIN & 1
    if not may_mount or not Path("/dev/fuse").exists() or shutil.which("losetup") is None:
        return False
    return subprocess.run(["losetup", "-f"], capture_output=True, check=False).returncode == 0


CHECKS = {"ext4": ("fsck.ext4", "-fn"), "xfs": ("xfs_repair", "-n"), "btrfs": ("btrfs", "check")}


@_needs("nbdfuse", "losetup", "fstrim")
@pytest.mark.skipif(not _loop_devices(), reason="needs root, fuse and loop devices")
@pytest.mark.parametrize("kind", CHECKS)
def test_a_file_system_holds_its_files_and_is_sound(kind: str, tmp_path: Path) -> None:
    if shutil.which(f"mkfs.{kind}") is None:
        pytest.skip(f"mkfs.{kind} missing")
    folder, place = tmp_path / "drive", tmp_path / "mnt"
    with served(folder, "--set", "drive.capacity=512 MiB"):
        with _block_device(folder, tmp_path / "nbd") as device:
            _run(f"mkfs.{kind}", "-q", device)
            with _mounted(device, place):
                contents = {number: _random_file(place / str(number), MIB + number, number) for number in range(24)}
                _run("sync")
                for number in range(0, 24, 3):
                    (place / str(number)).unlink()
                    del contents[number]
                contents[1] = _random_file(place / "1", 3 * MIB, seed=99)
                _run("sync")
                _run("fstrim", place)
        # A device of its own: nothing is in the caches of the first.
        (tmp_path / "nbd").rmdir()
        with _block_device(folder, tmp_path / "nbd") as device:
            _run(*CHECKS[kind], device)
            with _mounted(device, place):
                assert {int(path.name) for path in place.iterdir() if path.is_file()} == set(contents)
                for number, content in contents.items():
                    assert (place / str(number)).read_bytes() == content
    host = _host(folder)
    assert host["write_bytes"] > 27 * MIB
    assert host["trim_bytes"] > 8 * MIB


@_needs("fio")
def test_the_job_of_the_page_fails_only_when_a_program_writes_more(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/live.md").read_text()
    job = textwrap.dedent(page.split("- run: |\n")[1].split("```")[0])
    places = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    more = job.replace("600000000", "500000000")
    for folder, script, status in ((tmp_path / "a", job, 0), (tmp_path / "b", more, 1)):
        folder.mkdir()
        # As a runner of such jobs starts it.
        shell = ["bash", "-e", "-o", "pipefail", "-c", script]
        done = subprocess.run(shell, cwd=folder, env=places, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == status, (done.stdout, done.stderr)
    assert "host.write_bytes" in done.stderr
