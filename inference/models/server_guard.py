"""Runs a model server so that it can't outlive who wanted it. Run as a script; uses the standard library alone.

`server_guard.py watch COMMAND...` starts the command, writes its process id to standard output, and ends it, with
all its children, when standard input closes: when the parent says so or dies, however it dies.
`server_guard.py leave COMMAND...` starts it, writes the id and is gone; the server stays.
The command's output goes to standard error.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading

PATIENCE_SECONDS = 15


def main(mode: str, command: list[str]) -> None:
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno())
    print(server.pid, flush=True)
    if mode == "leave":
        os._exit(0)
    threading.Thread(target=_end_with_input, args=(server,), daemon=True).start()
    server.wait()
    # Engine and worker processes of a server that crashed may still be there, and so is this process: the group.
    os.killpg(0, signal.SIGKILL)


def _end_with_input(server: "subprocess.Popen[bytes]") -> None:
    while sys.stdin.buffer.read(4096):
        pass
    server.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(PATIENCE_SECONDS)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
