"""Other processes that do the parsing: kept for many tasks, ended when one takes too long or dies of it."""

import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO

MAX_REPLY = 64 * 1024 * 1024
# One thread for a numeric library that a parser may load: each takes memory, and there is not much.
_ENVIRONMENT = {"LANG": "C.UTF-8", "PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
_ROOT = str(Path(__file__).resolve().parents[1])


class Companion:
    """A process that answers requests, started when it is first needed; its end is `close`.

    `module` is one of ours, whose `main()` reads frames from its input and writes one back for each request.
    For one thread at a time.
    """

    def __init__(self, module: str, seconds: float) -> None:
        self._start = f"import sys; sys.path.insert(0, sys.argv[1]); from {module} import main; main()"
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, *frames: bytes, max_reply: int = MAX_REPLY) -> bytes | str:
        """The answer to a request of some frames, or one line on why there is none."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._seconds, end)
        timer.daemon = True
        timer.start()
        try:
            for frame in frames:
                write_frame(process.stdin, frame)
            process.stdin.flush()
            reply = read_frame(process.stdout, max_reply)
        except OSError:
            reply = None
        finally:
            timer.cancel()
        if reply is not None:
            return reply
        self.close()
        if late.is_set():
            return f"not read within {self._seconds:g} seconds"
        if process.returncode == -signal.SIGXCPU:
            return "takes too long to read"
        return "its reader ended (too little memory, or broken by it)"

    def close(self) -> None:
        """End the process, if it runs."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except OSError:  # what was still to be written to a process that is no more
                continue
        process.wait()

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", self._start, _ROOT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=_ENVIRONMENT,
            )
        return self._process


def write_frame(pipe: BinaryIO | Any, frame: bytes) -> None:
    """Write bytes with their count before them (8 bytes, big-endian)."""
    pipe.write(len(frame).to_bytes(8, "big"))
    pipe.write(frame)


def read_frame(pipe: BinaryIO | Any, most: int = 1 << 40) -> bytes | None:
    """The next frame; None where the pipe ends, the frame is cut off or larger than allowed."""
    head = pipe.read(8)
    size = int.from_bytes(head, "big")
    if len(head) < 8 or size > most:
        return None
    frame: bytes = pipe.read(size)
    return frame if len(frame) == size else None
