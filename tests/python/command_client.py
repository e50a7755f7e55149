"""``floatgate`` in the path of a shell: has the server of ``commands.py`` fork the command, and ends as it does.

``command_client.py ADDRESS ARGUMENTS``; it imports little, for that is what it saves.
"""

import json
import os
import socket
import sys


def main() -> None:
    address, *arguments = sys.argv[1:]
    # Without pathlib, which takes longer to import than all else.
    folder = os.getcwd()  # noqa: PTH109
    request = {"arguments": ["floatgate", *arguments], "folder": folder, "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.connect(f"\0{address}")
        socket.send_fds(server, [json.dumps(request).encode()], [0, 1, 2])
        status = int(server.recv(64))
    if status < 0:
        os.kill(os.getpid(), -status)
    sys.exit(status)


if __name__ == "__main__":
    main()
