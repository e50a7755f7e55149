"""The dashboard of a live drive, replies that wait for it, TCP, and attaching."""

from __future__ import annotations

import http.client
import json
import shutil
import signal
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import floatgate
from floatgate.live import attaching, life, page, partial_pages
from floatgate.live.history import Sample
from floatgate.report.sections.rating import SECONDS_PER_YEAR
from live_served import SETTINGS, refused, served, without_run
from nbd_client import FLUSH, WRITE, Client

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
RULES = Path(__file__).with_name("browser_rules.js").read_text("utf-8")
TIMED = ("--mode", "timed")


def fetch(
    address: str, path: str, *, body: object = None, headers: Mapping[str, str] | None = None, host: str | None = None
) -> tuple[int, Any]:
    """Get a path, or post a body to it; returns the status and what the JSON says."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=20)
    sent = {"Host": host or place.netloc, **(headers or {})}
    connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body), sent)
    reply = connection.getresponse()
    data = reply.read()
    connection.close()
    return reply.status, json.loads(data) if "json" in reply.headers["Content-Type"] else data.decode()


def may(address: str) -> dict[str, str]:
    """Return the headers of the page itself."""
    _, setup = fetch(address, "/setup")
    return {"Origin": address.rstrip("/"), "X-Floatgate-Token": setup["token"]}


def look(address: str, query: str = "") -> dict[str, Any]:
    """Return the next event."""
    place = urlsplit(address)
    with socket.create_connection((place.hostname, place.port), timeout=20) as client:
        client.sendall(f"GET /events{query} HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
        heard = b""
        while b"\n\n" not in heard.partition(b"\r\n\r\n")[2]:
            part = client.recv(1 << 16)
            assert part, heard
            heard += part
    event = heard.partition(b"\r\n\r\n")[2].partition(b"\n\n")[0]
    shown: dict[str, Any] = json.loads(event.removeprefix(b"data: "))
    return shown


def test_replies_leave_when_the_drive_is_done(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    with served(folder, *TIMED, "--delay") as drive, Client(folder / "socket") as client:
        began = time.monotonic()
        for page_number in range(100):
            assert client.write(4096 * page_number, bytes([page_number]) * 4096) == 0
        took_s = time.monotonic() - began
    assert drive.status in (0, 143), drive.text()
    result = floatgate.load(folder)
    assert result.latency_us is not None
    writes = result.latency_us.to_dict()["write"]
    # One at a time: together they take at least the latencies of the simulated drive, each at least a program.
    assert writes["p50"] > 100
    assert took_s >= 100 * writes["mean"] / 1e6


def test_delayed_replies_of_requests_that_overlap(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    with served(folder, *TIMED, "--delay") as drive, Client(folder / "socket") as client:
        # Replies may come in another order than the requests.
        cookies = {client.send(WRITE, 4096 * n, 4096, b"x" * 4096): n for n in range(200)}
        answered = [client.reply() for _ in cookies]
        assert {cookie for _, cookie, _ in answered} == set(cookies)
        assert {error for error, _, _ in answered} == {0}
        assert client.ask(FLUSH) == 0
        assert client.read(4096 * 7, 4096) == b"x" * 4096
    assert drive.status in (0, 143), drive.text()
    replayed = json.loads(floatgate.run((folder / "experiment.toml").read_text()).result_json)
    del replayed["run"]
    assert without_run(folder / "result.json") == replayed


def test_replies_wait_after_a_restart_too(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    for end in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
        with served(folder, *TIMED, "--delay", end=end), Client(folder / "socket") as client:
            for n in range(40):
                assert client.write(4096 * n, b"r" * 4096) == 0
            assert client.read(0, 4096) == b"r" * 4096
            assert client.ask(FLUSH) == 0
    assert floatgate.load(folder).host.write_requests == 120


def test_replies_of_a_worn_out_drive_do_not_wait(tmp_path: Path) -> None:
    worn = ("--set", "drive.endurance.pe_cycles=1", *TIMED, "--delay", "--set", "drive.timing.program_us=1")
    with served(tmp_path / "d", *worn), Client(tmp_path / "d/socket") as client:
        pages = client.bytes // 4096
        errors = []
        for start in range(0, 3 * pages, 256):
            for n in range(start, start + 256):
                client.send(WRITE, 4096 * (n % pages), 4096, b"z" * 4096)
            errors += [client.reply()[0] for _ in range(256)]
        assert set(errors) == {0, 1}
        assert errors[-1] == 1
        assert client.read(0, 4096) == b"z" * 4096


def test_what_delay_and_tcp_need(tmp_path: Path) -> None:
    folder = str(tmp_path / "d")
    assert "--mode timed" in refused("live", folder, *SETTINGS, "--delay")
    assert "other machines" in refused("live", folder, *SETTINGS, "--listen", "0.0.0.0:0")
    assert "--listen HOST:PORT" in refused("live", folder, *SETTINGS, "--insecure")
    assert "no address" in refused("live", folder, *SETTINGS, "--listen", "here")
    assert "--dashboard beside it" in refused("live", folder, *SETTINGS, "--dashboard-read-only")
    assert "functional or timed" in refused("live", folder, *SETTINGS, "--mode", "fast")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert "cannot be used" in refused("live", folder, *SETTINGS, f"--dashboard={port}")
        assert "no socket can be opened" in refused("live", folder, *SETTINGS, "--listen", f"127.0.0.1:{port}")


def test_clients_connect_over_tcp(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with served(tmp_path / "d", "--listen", f"127.0.0.1:{port}"), Client(("127.0.0.1", port)) as client:
        assert client.write(0, b"t" * 4096) == 0
        with Client(tmp_path / "d/socket") as other:
            assert other.read(0, 4096) == b"t" * 4096


def test_the_page_shows_what_the_result_says(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    with served(folder, *TIMED, "--dashboard") as drive, Client(folder / "socket") as client:
        address = drive.address()
        pages = client.bytes // 4096
        for n in range(2 * pages):
            assert client.write(4096 * (n * 7 % pages), b"p" * 4096) == 0
        assert client.ask(FLUSH) == 0
        time.sleep(0.5)
        shown = look(address, "?dies=0&ms=5")
        measured = fetch(address, "/measure?dies=0")[1]
        sizes = [len(fetch(address, f"/{name}")[1]) for name in ("", "dashboard.js", "charts.js", "dashboard.css")]
        sizes += [len(fetch(address, f"/{name}")[1]) for name in ("uplot.js", "uplot.css")]
    result = floatgate.load(folder).to_dict()
    assert shown["host"]["write_bytes"] == result["host"]["write_bytes"]
    # The last requests may be under way, or in a buffer.
    assert shown["waf_bytes"] == pytest.approx(result["waf_bytes"], rel=0.01)
    assert shown["pins"]["0"]["whole"]
    assert shown["life"]["years"] is None, "a few seconds say nothing about years"
    assert measured["counted"] == pytest.approx(shown["waf_bytes"], rel=0.2)
    assert sum(sizes) < 200_000


def test_pages_that_are_written_in_part_are_pointed_out(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    with served(folder, "--dashboard") as drive, Client(folder / "socket") as client:
        for page_number in range(1200):
            assert client.write(4096 * page_number, b"w" * 4096) == 0
        time.sleep(0.3)
        whole = look(drive.address())
        for piece in range(1200):
            assert client.write(1024 * piece, b"p" * 1024) == 0
        time.sleep(0.3)
        parts = look(drive.address())
    assert partial_pages.share({}, whole) == pytest.approx(0.0, abs=1e-9)
    assert whole["advice"] is None
    # Each piece of 1 KiB programs a page of 4 KiB.
    assert partial_pages.share({}, parts) == pytest.approx(0.75 * 1200 / 2400, rel=0.02)
    assert "--sector-size" in parts["advice"]
    assert partial_pages.share(whole, parts) is None, "too little was written in between"


def test_only_the_page_itself_may_change_anything(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    with served(folder, "--dashboard", "--cache", "volatile") as drive:
        address = drive.address()
        own = may(address)
        assert fetch(address, "/setup", host="evil.example")[0] == 403
        for host in ("[", "[::1", "127.0.0.1:99999999", "127.0.0.1.evil.example", ""):
            status = fetch(address, "/setup", host=host)[0] if host else 403
            assert status == 403, host
        for origin in ("[", "http://127.0.0.1:99999999", "null", "file://"):
            assert fetch(address, "/power-cut", body={}, headers={**own, "Origin": origin})[0] == 403
        for query in ("dies=999999999", "dies=-1", "dies=x,,0", "ms=nan&dies=0", "ms=x"):
            assert "host" in look(address, f"?{query}")
            assert fetch(address, f"/measure?{query}")[0] == 200
        assert fetch(address, "/trials/../../etc/passwd/report.html")[0] == 404
        assert fetch(address, "/nothing")[0] == 404
        assert fetch(address, "/power-cut", body={})[0] == 403
        assert fetch(address, "/power-cut", body={}, headers={**own, "Origin": "http://evil.example"})[0] == 403
        assert fetch(address, "/power-cut", body={}, headers={**own, "X-Floatgate-Token": "x"})[0] == 403
        assert fetch(address, "/trials", body=[1], headers=own)[0] == 400
        assert fetch(address, "/trials", body={"key": "mode", "value": "timed"}, headers=own)[0] == 400
        with Client(folder / "socket") as client:
            for n in range(50):
                assert client.write(4096 * n, b"f" * 4096) == 0
            assert client.ask(FLUSH) == 0
            for n in range(50, 90):
                assert client.write(4096 * n, b"u" * 4096) == 0
            status, done = fetch(address, "/power-cut", body={}, headers=own)
            assert (status, done) == (200, {"connections": 1, "lost_blocks": 40})
            with pytest.raises((ConnectionError, BrokenPipeError)):
                client.write(0, b"n" * 4096)
        with Client(folder / "socket") as client:
            first = [client.read(4096 * n, 4096)[:1] for n in range(90)]
        assert first[:50] == [b"f"] * 50
        assert set(first[50:]) == {b"u", b"\0"}


def test_a_page_to_look_at_has_no_token(tmp_path: Path) -> None:
    with served(tmp_path / "d", "--dashboard", "--dashboard-read-only") as drive:
        assert fetch(drive.address(), "/setup")[1]["token"] is None
        headers = {"Origin": drive.address().rstrip("/"), "X-Floatgate-Token": ""}
        assert fetch(drive.address(), "/power-cut", body={}, headers=headers)[0] == 403


def test_policies_are_tried_on_what_was_recorded(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    with served(folder, "--dashboard") as drive, Client(folder / "socket") as client:
        address = drive.address()
        pages = client.bytes // 4096
        for n in range(3 * pages):
            assert client.write(4096 * (n * n % pages), b"p" * 4096) == 0
        own = may(address)
        wanted = {"key": "ftl.collect.policy", "value": "fifo", "minutes": None}
        status, begun = fetch(address, "/trials", body=wanted, headers=own)
        assert (status, begun["state"]) == (200, "running"), begun
        assert fetch(address, "/trials", body=wanted, headers=own)[0] == 400
        bound = time.monotonic() + 60
        while (trial := fetch(address, "/trials")[1][0])["state"] == "running":
            assert time.monotonic() < bound
            time.sleep(0.1)
        assert trial["state"] == "done", trial
        report = fetch(address, "/trials/1/report.html")
    assert [row["value"] for row in trial["rows"]] == ["greedy", "fifo"]
    assert report[0] == 200
    assert "fifo" in report[1]
    # The drive's own policy gives in the replay what the drive has counted.
    assert trial["rows"][0]["amplification"] == pytest.approx(floatgate.load(folder).to_dict()["waf_bytes"])


def counts(uptime_s: float, flash_bytes: float) -> Sample:
    return {"uptime_s": uptime_s, "flash_bytes": flash_bytes}


def test_a_life_at_the_observed_rate() -> None:
    year_s = SECONDS_PER_YEAR
    steady = [counts(t, 1e6 * t) for t in range(101)]
    forecast = life.at_rate(steady, 1000.0, int(1e6 * year_s / 1000))
    assert forecast["years"] == pytest.approx(1.0, rel=1e-6)
    assert forecast["low"] == pytest.approx(1.0, rel=1e-6)
    assert forecast["observed_s"] == 100
    burst = [counts(t, 1e8 * max(0, t - 95)) for t in range(101)]
    forecast = life.at_rate(burst, 1000.0, 10**12)
    assert forecast["high"] is None, "a single burst leaves the longest life open"
    assert forecast["low"] < forecast["years"]
    assert life.at_rate(steady[:50], 1000.0, 10**12)["years"] is None
    assert life.at_rate([counts(t, 0) for t in range(101)], 1000.0, 10**12)["years"] is None
    assert life.at_rate([], 1000.0, 10**12)["years"] is None


def test_commands_to_attach_name_every_export() -> None:
    text = "\n".join(attaching.lines(Path("/run/a b/socket"), ["data", "wal"]))
    for part in ("nbd+unix:///data?socket=/run/a%20b/socket", "nbd+unix:///wal?", "--sector-size 4096", "nbd-client"):
        assert part in text


def test_what_may_be_tried_exists() -> None:
    for key, values in page.TRIED.items():
        for value in values:
            floatgate.run({key: value, "workload.requests": 100, "drive.preset": "ent-tlc-ri-1t92"})


@pytest.mark.skipif(CHROMIUM is None, reason="without Chromium (Debian package chromium)")
@pytest.mark.parametrize("width", [360, 1200])
def test_the_page_in_a_browser(tmp_path: Path, width: int) -> None:
    sync_api = pytest.importorskip("playwright.sync_api")
    folder = tmp_path / "d"
    with (
        served(folder, *TIMED, "--dashboard", "--cache", "volatile") as drive,
        Client(folder / "socket") as client,
        sync_api.sync_playwright() as started,
    ):
        pages = client.bytes // 4096
        for n in range(pages + pages // 2):
            assert client.write(4096 * (n * 7 % pages), b"p" * 4096) == 0
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": width, "height": 900})
        faults: list[str] = []
        opened.on("pageerror", lambda error: faults.append(str(error)))
        opened.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        opened.goto(drive.address())
        opened.wait_for_selector("#card-waf b", timeout=20_000)
        opened.wait_for_timeout(1500)
        assert int(opened.evaluate("document.body.dataset.looks")) > 5
        waf = float(opened.inner_text("#card-waf b"))
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        opened.on("dialog", lambda dialog: dialog.accept())
        opened.focus("#cut")
        opened.keyboard.press("Enter")
        opened.get_by_text("1 connections ended").wait_for(timeout=20_000)
        browser.close()
        assert faults == []
    result = floatgate.load(folder).to_dict()
    assert waf == pytest.approx(result["waf_bytes"], abs=0.02)
