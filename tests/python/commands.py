"""Runs command lines of floatgate for the tests, each in a process of its own, without imports each time.

Run as a program this is a server with one thread: it imports what the command line imports once, and forks a process
for each message on the socket that is its standard input. The process meets what a command of its own would meet
(folder, environment, pipes, signals, exit status); only its modules are loaded already. A test whose subject is the
start itself runs ``python -m floatgate``. Shells reach the server by ``command_client.py``.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import secrets
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

_NAME = "floatgate"
_LONGEST_BYTES = 1 << 20


class Commands:
    """A server and its commands."""

    def __init__(self) -> None:
        self.address = f"floatgate-commands-{secrets.token_hex(8)}"
        self._socket, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
        with theirs:
            server = [sys.executable, str(Path(__file__).resolve()), self.address]
            self._server = subprocess.Popen(server, stdin=theirs.fileno())
        # It answers once it listens.
        self._number()

    def run(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], timeout_s: float
    ) -> subprocess.CompletedProcess[bytes]:
        """Run ``floatgate ARGUMENTS`` in ``folder``.

        Raises:
            subprocess.TimeoutExpired: after killing the command.
        """
        command = [_NAME, *arguments]
        request = {"arguments": command, "folder": str(folder), "environment": dict(environment)}
        pipes = [os.pipe(), os.pipe()]
        socket.send_fds(self._socket, [json.dumps(request).encode()], [writing for _, writing in pipes])
        for _, writing in pipes:
            os.close(writing)
        child = self._number()
        ended = time.monotonic() + timeout_s
        try:
            texts = _read_all([reading for reading, _ in pipes], ended)
        except TimeoutError:
            os.kill(child, signal.SIGKILL)
            self._number()
            raise subprocess.TimeoutExpired(command, timeout_s) from None
        return subprocess.CompletedProcess(command, self._number(), *texts)

    def close(self) -> None:
        """End the server."""
        self._socket.close()
        self._server.wait()

    def _number(self) -> int:
        return int(self._socket.recv(64))


def _read_all(pipes: Sequence[int], ended: float) -> list[bytes]:
    """Read pipes to their ends, which are closed then.

    Raises:
        TimeoutError: at the time ``ended``.
    """
    texts = dict.fromkeys(pipes, b"")
    with selectors.DefaultSelector() as open_ones:
        for pipe in pipes:
            open_ones.register(pipe, selectors.EVENT_READ)
        try:
            while open_ones.get_map():
                ready = open_ones.select(max(ended - time.monotonic(), 0.0))
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    more = os.read(key.fd, 1 << 16)
                    texts[key.fd] += more
                    if not more:
                        open_ones.unregister(key.fd)
        finally:
            for pipe in pipes:
                os.close(pipe)
    return [texts[pipe] for pipe in pipes]


def _serve(address: str) -> None:
    """Fork for each message and answer with the process's number, then its exit status; for each client a handler.

    Returns in the forked process alone, which is the command by then but for its call.
    """
    # In the abstract namespace: no file is left behind.
    with (
        socket.socket(fileno=0) as asking,
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening,
        selectors.DefaultSelector() as ready,
    ):
        listening.bind(f"\0{address}")
        listening.listen()
        ready.register(asking, selectors.EVENT_READ)
        ready.register(listening, selectors.EVENT_READ)
        asking.send(b"%d" % os.getpid())
        while True:
            if any(key.fileobj is listening for key, _ in ready.select()):
                client, _ = listening.accept()
                with client:
                    if os.fork() == 0:
                        _close(ready, listening, asking)
                        if _handle(client):
                            return
                _reap()
                continue
            message, pipes, _, _ = socket.recv_fds(asking, _LONGEST_BYTES, 2)
            if not message:
                os._exit(0)
            child = os.fork()
            if child == 0:
                files = [os.open(os.devnull, os.O_RDONLY), *pipes]
                _close(ready, listening, asking)
                _become(json.loads(message), files)
                return
            for pipe in pipes:
                os.close(pipe)
            asking.send(b"%d" % child)
            asking.send(b"%d" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _handle(client: socket.socket) -> bool:
    """Run the command of a client, which is killed with it; True in the forked process, which becomes the command."""
    message, files, _, _ = socket.recv_fds(client, _LONGEST_BYTES, 3)
    child = os.fork()
    if child == 0:
        _close(client)
        _become(json.loads(message), files)
        return True
    for file in files:
        os.close(file)
    ended = os.pidfd_open(child)
    with selectors.DefaultSelector() as ready:
        ready.register(client, selectors.EVENT_READ)
        ready.register(ended, selectors.EVENT_READ)
        if all(key.fileobj is client for key, _ in ready.select()):
            os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(OSError):
        client.send(b"%d" % status)
    os._exit(0)


def _close(*open_ones: selectors.BaseSelector | socket.socket) -> None:
    """Close what belongs to the server, before files take its numbers."""
    for one in open_ones:
        one.close()


def _reap() -> None:
    """Forget handlers that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _become(request: dict[str, Any], files: Sequence[int]) -> None:
    """Take over folder, environment, arguments, and the files of standard input, output and error."""
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = request["arguments"]
    for number, descriptor in enumerate(files):
        os.dup2(descriptor, number)
    os.closerange(3, 64)


def _import_all() -> None:
    """Import what commands import: by one that ends at once, then every module, for most are imported when used."""
    import floatgate
    from floatgate.cli import status
    from floatgate.cli.app import command

    command()
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        assert status(["policies", "greedy"]) == 0
    for module in pkgutil.walk_packages(floatgate.__path__, "floatgate."):
        # They run when imported.
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    # Functions import them; pyarrow does so with pandas, where that is installed.
    for name in ("numpy", "pandas", "pyarrow.compute", "pyarrow.dataset", "pyarrow.parquet"):
        importlib.import_module(name)
    # Behind what it imports, for it forks.
    import shared_pictures

    shared_pictures.install()


def _main() -> NoReturn:
    _import_all()
    del sys.path[0]
    # What is there stays as it is: neither looked through by the collector nor copied by it for each process.
    gc.collect()
    gc.freeze()
    _serve(sys.argv[1])
    from floatgate.cli import main

    try:
        main()
    except SystemExit as ended:
        _leave(ended.code)


def _leave(code: Any) -> NoReturn:
    """End as the interpreter does, but for the modules, which it would take apart one by one."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


if __name__ == "__main__":
    _main()
