"""`tide --help` from nothing: under 0.3 s."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

TURNS = 10
LIMIT = 0.3


def test_startup(figure):
    taken = []
    for _ in range(TURNS):
        begin = time.perf_counter()
        subprocess.run([Path(sys.executable).with_name("tide"), "--help"], check=True, stdout=subprocess.DEVNULL)
        taken.append(time.perf_counter() - begin)
    median = statistics.median(taken)
    figure("tide --help", f"{median:.2f} s (worst {max(taken):.2f})", f"limit {LIMIT} s", median / LIMIT)
