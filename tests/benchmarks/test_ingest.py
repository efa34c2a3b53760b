"""First sync of a Maildir of 20,000 mails into an empty store, beside `mu index` and `notmuch new`."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.benchmarks.ordinary import write_maildir

COUNT = 20_000


@pytest.fixture(scope="module")
def maildir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ingest") / "Maildir"
    write_maildir(folder, COUNT)
    return folder


def measure(command, **environment):
    """Seconds and peak memory in MB of a command and its children."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return time.perf_counter() - begin, usage.ru_maxrss / 1024


def test_ingest(maildir, tmp_path, figure):
    for name in ("mu", "notmuch"):
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed: apt-get install maildir-utils notmuch")
    measure(["find", str(maildir), "-type", "f", "-exec", "cat", "{}", "+"])

    home = tmp_path / "mu"
    subprocess.run(["mu", "init", "--muhome", home, "--maildir", maildir], check=True, stdout=subprocess.DEVNULL)
    mu, mu_memory = measure(["mu", "index", "--muhome", str(home), "--quiet"])

    # notmuch keeps its index inside the mail folder, so it gets links to the mails in a folder of its own.
    mirror = tmp_path / "mirror"
    shutil.copytree(maildir, mirror, copy_function=os.link)
    config = tmp_path / "notmuch-config"
    config.write_text(f"[database]\npath={mirror}\n[user]\nname=Anna\nprimary_email=anna@example.org\n")
    notmuch, notmuch_memory = measure(["notmuch", "new", "--quiet"], NOTMUCH_CONFIG=str(config))

    command = [str(Path(sys.executable).with_name("tide"))]
    home = {"TIDE_HOME": str(tmp_path / "tide")}
    measure([*command, "add", "maildir", str(maildir), "--email", "anna@example.org"], **home)
    tide, tide_memory = measure([*command, "sync"], **home)

    speed = COUNT / tide
    figure(
        f"ingest of {COUNT:,} mails",
        f"{speed:.0f}/s, peak {tide_memory:.0f} MB",
        f"mu index {COUNT / mu:.0f}/s, peak {mu_memory:.0f} MB",
        speed * mu / COUNT,
    )
    figure(
        f"ingest of {COUNT:,} mails",
        f"{speed:.0f}/s, peak {tide_memory:.0f} MB",
        f"notmuch new {COUNT / notmuch:.0f}/s, peak {notmuch_memory:.0f} MB",
        speed * notmuch / COUNT,
    )
