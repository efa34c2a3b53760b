"""Progress: JSON lines for a window, lines for a log, bars for a terminal; all of it on stderr."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from desktop import progress
from desktop.progress import Mode, reporter


def test_json_lines_tell_every_end_and_not_every_item(capsys: pytest.CaptureFixture[str]) -> None:
    with reporter(Mode.JSON) as told:
        told.say("Model: none\x1b[2J")
        for done in range(1001):
            told.progress("sync mail", done, 1000)
    out, err = capsys.readouterr()
    events = [json.loads(line) for line in err.splitlines()]
    assert out == ""
    assert events[0] == {"event": "message", "text": "Model: none"}
    assert events[1] == {"event": "progress", "step": "sync mail", "done": 0, "total": 1000}
    assert events[-1] == {"event": "progress", "step": "sync mail", "done": 1000, "total": 1000}
    assert len(events) < 500


def test_a_log_gets_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 0.0, 4.0, 11.0, 12.0, 22.0, 23.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with reporter(Mode.AUTO) as told:
        for done in range(5):
            told.progress("read", done, 9)
        told.progress("index", 0, 0)
    assert capsys.readouterr().err == "read: 2 of 9\nread: 4 of 9\n"


def test_silence_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with reporter(Mode.NONE) as told:
        told.say("hello")
        told.progress("sync", 1, 2)
        told.pause()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("colour", [True, False])
def test_a_terminal_gets_bars_that_leave_nothing_behind_but_the_lines(colour: bool, tmp_path: Path) -> None:
    program = (
        "from desktop.progress import Mode, reporter\n"
        "with reporter(Mode.AUTO) as told:\n"
        "    told.progress('sync [bold]mail', 0, 0)\n"
        "    told.progress('sync [bold]mail', 3, 4)\n"
        "    told.say('Model: [red]none')\n"
        "    told.pause()\n"
    )
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", **({} if colour else {"NO_COLOR": "1"})}
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=slave, env=environment
    )
    os.close(slave)
    shown = bytearray()
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(master)
    assert process.wait(timeout=60) == 0
    assert process.communicate()[0] == b""
    text = shown.decode()
    assert "sync [bold]mail" in text
    assert "3/4" in text
    assert "Model: [red]none" in text
    assert ("\x1b[38;5" in text or "\x1b[3" in text.replace("\x1b[?", "")) is colour
