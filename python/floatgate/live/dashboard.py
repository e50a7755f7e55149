"""The dashboard of a live drive: a page on this machine, fed by server-sent events.

It answers only requests that name this machine as their host, so no page of the web can read it by way of a name that
leads here. What changes anything is a POST with the token that the page holds, made anew at each start.
"""

from __future__ import annotations

import contextlib
import json
import math
import secrets
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from floatgate.base.errors import InputError, input_error
from floatgate.live import life, page, partial_pages, pin
from floatgate.live.history import History
from floatgate.live.trials import Trials

if TYPE_CHECKING:
    from floatgate.live.drive import LiveDrive

HOST = "127.0.0.1"
HEADER = "X-Floatgate-Token"
"""Header with the token of the page."""
_NAMES = frozenset({"127.0.0.1", "localhost"})
_BODY_MAX = 1 << 16
_STREAMS_MAX = 16
_PINS_MAX = 4
_WAIT_S = 10.0


class Dashboard:
    """The page of a drive, served until it is stopped."""

    def __init__(self, drive: LiveDrive, port: int = 0, *, read_only: bool = False) -> None:
        """Begin to serve.

        Args:
            drive: the drive.
            port: on this machine; 0 for a free one.
            read_only: whether the page has no power cut and no comparison.

        Raises:
            InputError: the port cannot be used.
        """
        self.drive = drive
        self.read_only = read_only
        self.token = secrets.token_urlsafe(24)
        self.history = History(drive.look)
        self.trials = Trials(drive)
        self.streams = threading.BoundedSemaphore(_STREAMS_MAX)
        handler = type("Handler", (_Handler,), {"dashboard": self})
        try:
            self._server = _Server((HOST, port), handler)
        except OSError as error:
            self.history.stop()
            what = f"--dashboard: port {port} cannot be used ({error.strerror})"
            raise input_error(f"{what}; expected a free one, or --dashboard alone") from None
        self._thread = threading.Thread(target=self._server.serve_forever, name="dashboard", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Port on this machine."""
        return int(self._server.server_address[1])

    @property
    def address(self) -> str:
        """Address for a browser."""
        return f"http://{HOST}:{self.port}/"

    def stop(self) -> None:
        """Stop serving."""
        self.trials.stop()
        self.history.stop()
        self._server.shutdown()
        self._server.server_close()

    def event(self, shown: dict[str, Any], dies: list[int], width_s: float) -> dict[str, Any]:
        """Return what the page shows of a look.

        Args:
            shown: the look.
            dies: whose pins it shows.
            width_s: how much of the drive's time they cover.

        Returns:
            The look with ``life``, ``pins``, and ``advice`` on partial pages (None where few are written).
        """
        samples = self.history.coarse()
        forecast = life.at_rate(samples, shown["rated_erases"], shown["flash_capacity_bytes"])
        begin_s = (shown["time_s"] or 0.0) - width_s
        pins = {str(die): self.drive.pin(die, begin_s) for die in dies}
        advice = partial_pages.advice({}, shown)
        return {**shown, "life": forecast, "pins": pins, "pins_from_s": begin_s, "advice": advice}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay silent: a browser that leaves within a reply is no fault of the drive."""


class _Handler(BaseHTTPRequestHandler):
    """One request of a browser."""

    dashboard: Dashboard
    protocol_version = "HTTP/1.1"
    server_version = "floatgate"
    sys_version = ""
    timeout = 60.0

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent: the terminal belongs to the drive."""

    def do_GET(self) -> None:
        """Serve the page and what it asks."""
        if not self._is_local():
            return
        path, _, query = self.path.partition("?")
        wanted = parse_qs(query)
        match path.strip("/").split("/"):
            case ["setup"]:
                board = self.dashboard
                self._send_json(page.setup(board.drive, None if board.read_only else board.token))
            case ["events"]:
                self._stream(_dies(wanted), _number(wanted, "ms", 20.0) / 1e3)
            case ["history"]:
                self._send_json(self.dashboard.history.coarse())
            case ["measure"]:
                dies = _dies(wanted) or [0]
                samples = self.dashboard.history.fine()
                self._send_json(pin.measured(self.dashboard.drive, dies[0], samples))
            case ["trials"]:
                self._send_json(self.dashboard.trials.to_list())
            case ["trials", number, "report.html"] if number.isdecimal():
                self._send_report(int(number))
            case [name] if (file := page.file(name)) is not None:
                self._send(*file)
            case _:
                self._refuse(HTTPStatus.NOT_FOUND, "no such page")

    def do_POST(self) -> None:
        """Cut the power, or begin a comparison."""
        if not self._is_local() or not self._may_change():
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > _BODY_MAX:
            self._refuse(HTTPStatus.BAD_REQUEST, "a body of known, small length is needed")
            return
        body = self.rfile.read(int(length))
        try:
            if self.path == "/power-cut":
                self._send_json(self.dashboard.drive.cut_power())
            elif self.path == "/trials":
                self._send_json(self._begin_trial(json.loads(body)))
            else:
                self._refuse(HTTPStatus.NOT_FOUND, "no such page")
        except InputError as error:
            self._send_json({"error": error.message}, HTTPStatus.BAD_REQUEST)
        except (ValueError, KeyError, TypeError, AttributeError):
            self._refuse(HTTPStatus.BAD_REQUEST, "the request cannot be understood")

    def _begin_trial(self, wanted: dict[str, Any]) -> dict[str, Any]:
        minutes = wanted.get("minutes")
        board = self.dashboard
        trial = board.trials.start(
            str(wanted["key"]),
            str(wanted["value"]),
            None if minutes is None else float(minutes),
            board.history.coarse(),
        )
        return trial.to_dict()

    def _is_local(self) -> bool:
        host, _ = _place(f"//{self.headers.get('Host', '')}")
        if host in _NAMES:
            return True
        self._refuse(HTTPStatus.FORBIDDEN, "this page answers on this machine only")
        return False

    def _may_change(self) -> bool:
        host, port = _place(self.headers.get("Origin", ""))
        own = host in _NAMES and port == self.dashboard.port
        token = self.headers.get(HEADER, "")
        knows = secrets.compare_digest(token.encode(), self.dashboard.token.encode())
        if own and knows and not self.dashboard.read_only:
            return True
        self._refuse(HTTPStatus.FORBIDDEN, "only the page itself may change anything")
        return False

    def _stream(self, dies: list[int], width_s: float) -> None:
        if not self.dashboard.streams.acquire(blocking=False):
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "too many pages are open")
            return
        try:
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Cache-Control", "no-store")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            with contextlib.suppress(OSError):
                self._send_events(dies, min(max(width_s, 0.001), 10.0))
        finally:
            self.dashboard.streams.release()

    def _send_events(self, dies: list[int], width_s: float) -> None:
        number = 0
        while not self.dashboard.history.has_ended:
            number, shown = self.dashboard.history.next_after(number, _WAIT_S)
            data = "{}" if shown is None else json.dumps(self.dashboard.event(shown, dies, width_s))
            self.wfile.write(f"data: {data}\n\n".encode())
            self.wfile.flush()
        self.wfile.write(b"event: end\ndata: {}\n\n")

    def _send_report(self, number: int) -> None:
        path = self.dashboard.trials.page(number)
        if path is None:
            self._refuse(HTTPStatus.NOT_FOUND, "no such comparison")
        else:
            self._send(path.read_text(encoding="utf-8"), "text/html; charset=utf-8", policy=None)

    def _send_json(self, value: object, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._send(json.dumps(value), "application/json", status)

    def _refuse(self, status: HTTPStatus, message: str) -> None:
        # What the client still sends is not read: the connection ends.
        self.close_connection = True
        self._send_json({"error": message}, status)

    def _send(self, text: str, kind: str, status: HTTPStatus = HTTPStatus.OK, policy: str | None = page.POLICY) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("X-Frame-Options", "DENY")
        if policy is not None:
            self.send_header("Content-Security-Policy", policy)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(data)


def _place(address: str) -> tuple[str | None, int | None]:
    """Return host and port of an address; None for what it lacks, or where it is none."""
    try:
        split = urlsplit(address)
        return split.hostname, split.port
    except ValueError:
        return None, None


def _dies(wanted: dict[str, list[str]]) -> list[int]:
    """Return the dies of a query, a few at most."""
    texts = ",".join(wanted.get("dies", [])).split(",")
    return [int(text) for text in texts if text.isdecimal() and len(text) < 8][:_PINS_MAX]


def _number(wanted: dict[str, list[str]], name: str, default: float) -> float:
    try:
        number = float(wanted[name][0])
    except (KeyError, ValueError):
        return default
    return number if math.isfinite(number) else default
