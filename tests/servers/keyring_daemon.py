"""A GNOME Keyring on a D-Bus of its own, with nothing of the machine's or the person's in it."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

# No service is started by being asked: neither a second keyring nor a window that asks for the password.
_BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={path}</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


@dataclass
class KeyringDaemon:
    """`environment` is what a program needs to find it."""

    environment: dict[str, str]
    bus: "subprocess.Popen[bytes]"
    daemon: "subprocess.Popen[bytes]"

    def lock(self) -> None:
        """Lock it, as when the person's session is locked away. It must be in this process's environment."""
        import secretstorage

        with closing(secretstorage.dbus_init()) as connection:
            secretstorage.get_default_collection(connection).lock()

    @contextmanager
    def silent(self) -> Iterator[None]:
        """As while it waits for the person: it takes what it is asked, and does not answer."""
        self.daemon.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.daemon.send_signal(signal.SIGCONT)

    def end_daemon(self) -> None:
        _end(self.daemon)

    def end_bus(self) -> None:
        _end(self.bus)


@contextmanager
def keyring_daemon(folder: Path) -> Iterator[KeyringDaemon]:
    """The keyring, running and unlocked; its files lie in `folder`."""
    for program in ("dbus-daemon", "gnome-keyring-daemon"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    for name in ("home", "run"):
        (folder / name).mkdir(mode=0o700)
    (folder / "bus.conf").write_text(_BUS.format(path=folder / "bus"))
    own = {
        "HOME": str(folder / "home"),
        "XDG_DATA_HOME": str(folder / "home"),
        "XDG_CONFIG_HOME": str(folder / "home"),
        "XDG_CACHE_HOME": str(folder / "home"),
        "XDG_RUNTIME_DIR": str(folder / "run"),
        "DBUS_SESSION_BUS_ADDRESS": f"unix:path={folder / 'bus'}",
    }
    environment = {name: value for name, value in os.environ.items() if "DISPLAY" not in name} | own
    bus = subprocess.Popen(
        ["dbus-daemon", f"--config-file={folder / 'bus.conf'}", "--nofork", "--print-address"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert bus.stdout is not None
    try:
        assert bus.stdout.readline(), "D-Bus did not start"
        daemon = subprocess.Popen(
            ["gnome-keyring-daemon", "--unlock", "--components=secrets", "--foreground"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert daemon.stdin is not None
        try:
            daemon.stdin.write(b"a password for the test")
            daemon.stdin.close()
            _wait_for(folder, environment, daemon)
            yield KeyringDaemon(own, bus, daemon)
        finally:
            _end(daemon)
    finally:
        _end(bus)
        bus.stdout.close()


def _wait_for(folder: Path, environment: dict[str, str], daemon: "subprocess.Popen[bytes]") -> None:
    import secretstorage
    from jeepney.io.blocking import open_dbus_connection

    address = environment["DBUS_SESSION_BUS_ADDRESS"]
    for _ in range(400):
        assert daemon.poll() is None, "the keyring ended at once"
        with closing(open_dbus_connection(address)) as connection:
            if secretstorage.check_service_availability(connection):
                return
        time.sleep(0.025)
    raise AssertionError("the keyring does not come to its bus")


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
