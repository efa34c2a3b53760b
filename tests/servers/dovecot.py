"""A Dovecot on loopback: a mail server as people have one, with nothing of the machine's own setup in it.

It runs as an ordinary user from one folder of its own, whether the tests run as root or not. The mail lies in
Maildir folders, which a test fills and looks at directly. What somebody else does to the mail (moves, expunges,
flags) goes through a session of Dovecot's own, past the ports, so that the log tells of the connector alone.
"""

import base64
import grp
import hashlib
import hmac
import itertools
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import trustme
from imapclient import IMAPClient, imap_utf7

from workspace import Account

USER = "me@example.org"
PASSWORD = "kelp-and-salt-9"
FOLDERS = ("INBOX", "Sent", "Archive", "Junk", "Trash", "Drafts")
RECEIVED = datetime(2026, 3, 16, 7, 0, tzinfo=UTC)

# What to let the server say of itself.
WITHOUT_QRESYNC = "IMAP4rev1 SASL-IR LITERAL+ ID ENABLE IDLE NAMESPACE UIDPLUS CHILDREN SPECIAL-USE MOVE CONDSTORE"
WITHOUT_CONDSTORE = WITHOUT_QRESYNC.removesuffix(" CONDSTORE")
PLAINEST = "IMAP4rev1"

_SECONDS = 20  # to start, and to write its log
_numbers = itertools.count(1)


class Session(IMAPClient):
    """A client that may speak through pipes too."""

    def _set_read_timeout(self) -> None:
        if not self.stream:  # pipes have no timeout, yet IMAPClient 3.1 sets one
            super()._set_read_timeout()


class Dovecot:
    """The server, running between `with` and its end.

    `users` are names and passwords, USER alone if not given. `capability` is what the server says that it can,
    "" for all it really can. With `oauth` it takes a `token()` by XOAUTH2 too. Its certificate is for `names`;
    the authority that signed it is in the file `ca`, and nowhere else.

    `tls_port` speaks TLS at once, `port` plain text and STARTTLS.
    """

    host = "localhost"

    def __init__(
        self,
        *,
        users: Mapping[str, str] | None = None,
        capability: str = "",
        oauth: bool = False,
        names: Sequence[str] = ("localhost", "127.0.0.1"),
    ) -> None:
        self.users = dict(users or {USER: PASSWORD})
        self._capability = capability
        self._oauth = oauth
        self._names = names
        self._sessions: dict[str, IMAPClient] = {}

    def __enter__(self) -> "Dovecot":
        self._folder = Path(tempfile.mkdtemp(prefix="dovecot-", dir="/tmp"))  # sockets have short names
        self.ca = self._folder / "ca.pem"
        authority = trustme.CA()
        authority.cert_pem.write_to_path(self.ca)
        authority.issue_cert(*self._names).private_key_and_cert_chain_pem.write_to_path(
            self._folder / "server.pem"
        )
        if self._oauth:
            self._write_key()
        users = [
            f"{name}:{{PLAIN}}{word}:{_uid()}:{_gid()}::{self._home(name)}\n" for name, word in self.users.items()
        ]
        (self._folder / "users").write_text("".join(users))
        for user in self.users:
            self.clear(user)
        _give(self._folder, *self._folder.rglob("*"))
        try:
            for _ in range(5):  # another process may take a port that was free
                self.port, self.tls_port = _free_ports()
                if self.start():
                    return self
            raise RuntimeError(f"Dovecot does not start: {self.log()[-2000:]}")
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        self.stop()
        for session in self._sessions.values():
            with suppress(OSError):  # it may have ended in a test that failed
                session.shutdown()
        self._sessions.clear()
        shutil.rmtree(self._folder)

    def start(self) -> bool:
        """Start the server at its ports; whether it did."""
        config = self._folder / "dovecot.conf"
        config.write_text(self._config())
        self._process = subprocess.Popen(
            ["dovecot", "-F", "-c", str(config)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
            cwd=self._folder,
            **({"user": _uid(), "group": _gid(), "extra_groups": []} if not os.getuid() else {}),
        )
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
                if connection.recv(100).startswith(b"* OK"):
                    return True
            time.sleep(0.01)
        self.stop()
        return False

    def stop(self) -> None:
        """Stop the server and all that it started; its mail stays."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def clear(self, user: str = USER) -> None:
        """Give a user a mailbox as new."""
        if user in self._sessions:
            self._sessions.pop(user).shutdown()
        shutil.rmtree(self._home(user), ignore_errors=True)
        for folder in FOLDERS:
            self._make(self.maildir(folder, user))
        _give(self._home(user), *self._home(user).rglob("*"))

    def account(self, security: str = "tls", user: str = USER, **other: Any) -> Account:
        """The account of a user at this server, with whatever else is to be other than usual."""
        values = {
            "address": user,
            "host": self.host,
            "port": self.tls_port if security == "tls" else self.port,
            "security": security,
            "secret_command": f"printf {self.users[user]}",
            "certificate": str(self.ca),
        }
        return Account(**values | other)

    def token(self, user: str = USER, seconds: int = 3600) -> str:
        """A token for XOAUTH2 that is good for so many seconds, bad where less than none."""
        claims = {"sub": user, "email": user, "iat": int(time.time()) - 9000, "exp": int(time.time()) + seconds}
        head, body = (_base64(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
        signature = hmac.new(self._key, f"{head}.{body}".encode(), hashlib.sha256).digest()
        return f"{head}.{body}.{_base64(signature)}"

    def log(self) -> str:
        """All that the server wrote to its log."""
        path = self._folder / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def signed_in(self) -> int:
        """How often somebody came in by a port so far."""
        return self.log().count("imap-login: Info: Login: ")

    def refused(self, awaited: int = 0) -> int:
        """How many names and secrets the server has refused; its log lags behind, so some may be awaited."""
        deadline = time.monotonic() + _SECONDS
        while True:
            said = re.findall(r"\(auth failed, (\d+) attempts", self.log())
            if sum(map(int, said)) >= awaited or time.monotonic() > deadline:
                return sum(map(int, said))
            time.sleep(0.01)

    def fill(
        self,
        folder: str,
        mails: Iterable[bytes],
        *,
        flags: str = "",
        received: datetime = RECEIVED,
        user: str = USER,
    ) -> list[str]:
        """Deliver mails to a folder, which is made where it is not there; the names of their files.

        `flags` are Maildir's (S seen, F flagged, R replied, T trashed, D draft); mail without any is recent.
        """
        maildir = self.maildir(folder, user)
        if not maildir.exists():
            self._make(maildir)
            _give(maildir, *maildir.iterdir())
        names = []
        for mail in mails:
            number = next(_numbers)
            size = len(mail) + mail.count(b"\n") - mail.count(b"\r\n")
            names.append(f"{1_700_000_000 + number}.M{number}.test,S={len(mail)},W={size}")
            path = maildir / (f"cur/{names[-1]}:2,{flags}" if flags else f"new/{names[-1]}")
            path.write_bytes(mail)
            os.utime(path, (received.timestamp(), received.timestamp()))
            _give(path)
        return names

    @contextmanager
    def opened(self, folder: str, user: str = USER) -> Iterator[IMAPClient]:
        """The session of somebody else with this folder selected, to change what is in it."""
        session = self.session(user)
        session.select_folder(folder)
        try:
            yield session
        finally:
            session.unselect_folder()

    def session(self, user: str = USER) -> IMAPClient:
        """The session of somebody else, no folder selected."""
        if user not in self._sessions:
            self._sessions[user] = Session(self.preauth_command(user), stream=True, ssl=False)
        return self._sessions[user]

    def preauth_command(self, user: str = USER) -> str:
        """The command of a session that is signed in from the start, for a `Session` with `stream=True`."""
        drop = f"setpriv --reuid {_uid()} --regid {_gid()} --clear-groups " if not os.getuid() else ""
        environment = f"USER='{user}' HOME='{self._home(user)}'"
        imap = f"/usr/lib/dovecot/imap -c {self._folder}/dovecot.conf -o imap_capability= 2>>{self._folder}/log"
        return f"exec {drop}env {environment} {imap}"

    def message_ids(self, folder: str, user: str = USER) -> dict[int, str]:
        """UID -> Message-ID, without its brackets, of all that is in a folder."""
        session = self.session(user)
        session.select_folder(folder, readonly=True)
        envelopes = session.fetch("1:*", ["ENVELOPE"]) if session.search() else {}
        session.unselect_folder()
        return {uid: (got[b"ENVELOPE"].message_id or b"").decode().strip("<>") for uid, got in envelopes.items()}

    def expunge(self, folder: str, uids: Sequence[int], user: str = USER) -> None:
        with self.opened(folder, user) as session:
            session.delete_messages(uids)
            session.uid_expunge(uids)

    def move(self, folder: str, uids: Sequence[int], to: str, user: str = USER) -> None:
        with self.opened(folder, user) as session:
            session.move(uids, to)

    def copy(self, folder: str, uids: Sequence[int], to: str, user: str = USER) -> None:
        with self.opened(folder, user) as session:
            session.copy(uids, to)

    def flag(self, folder: str, uids: Sequence[int], *flags: str, user: str = USER) -> None:
        """Add flags such as `\\Seen`."""
        with self.opened(folder, user) as session:
            session.add_flags(uids, flags)

    def change_uidvalidity(self, folder: str, user: str = USER) -> None:
        """Let the server forget the UIDs of a folder, as after it was restored from a backup."""
        if user in self._sessions:
            self._sessions.pop(user).shutdown()  # it remembers them
        for path in self.maildir(folder, user).glob("dovecot*"):
            if path.name == "dovecot-uidlist" or path.name.startswith("dovecot.index"):
                path.unlink()

    def empty(self, folder: str, user: str = USER) -> None:
        """Take everything out of a folder."""
        for path in self._mails(folder, user):
            path.unlink()

    def snapshot(self, user: str = USER) -> dict[str, Any]:
        """All that the server keeps for a user: the files of the mail with the flags in their names, and what it
        says of every message and folder, whether it was ever seen or selected (recent) included."""
        root = self._home(user) / "Maildir"
        session = self.session(user)
        kept: dict[str, Any] = {"subscriptions": (root / "subscriptions").read_bytes()}
        kept["folders"] = sorted(session.list_folders())
        for marks, _, folder in session.list_folders():
            if b"\\Noselect" in marks:
                continue
            status = session.select_folder(folder, readonly=True)
            found = session.fetch("1:*", ["FLAGS", "INTERNALDATE", "RFC822.SIZE"]) if session.search() else {}
            session.unselect_folder()
            kept[folder] = {
                "uidvalidity": status[b"UIDVALIDITY"],
                "uidnext": status[b"UIDNEXT"],
                "messages": {uid: _without_order(answer) for uid, answer in found.items()},
                "files": {str(path.relative_to(root)): path.read_bytes() for path in self._mails(folder, user)},
            }
        return kept

    def maildir(self, folder: str, user: str = USER) -> Path:
        """Where the mail of a folder lies."""
        root = self._home(user) / "Maildir"
        if folder == "INBOX":
            return root
        return root / ("." + imap_utf7.encode(folder).decode().replace("/", "."))

    def _mails(self, folder: str, user: str) -> list[Path]:
        return sorted(
            path for inside in ("cur", "new") for path in (self.maildir(folder, user) / inside).iterdir()
        )

    def _home(self, user: str) -> Path:
        return self._folder / "mail" / user

    def _make(self, maildir: Path) -> None:
        for inside in ("cur", "new", "tmp"):
            (maildir / inside).mkdir(parents=True)
        (maildir / ("maildirfolder" if maildir.name.startswith(".") else "subscriptions")).touch()

    def _write_key(self) -> None:
        self._key = os.urandom(32)
        folder = self._folder / "keys/default/HS256"
        folder.mkdir(parents=True)
        (folder / "default").write_text(base64.b64encode(self._key).decode())
        (self._folder / "oauth2").write_text(
            "introspection_mode = local\n"
            f"local_validation_key_dict = fs:posix:prefix={self._folder}/keys/\n"
            "username_attribute = email\n"
        )

    def _config(self) -> str:
        special = "".join(f"  mailbox {name} {{\n special_use = \\{name}\n }}\n" for name in FOLDERS[1:])
        oauth = f"passdb {{\n driver = oauth2\n mechanisms = xoauth2\n args = {self._folder}/oauth2\n }}\n"
        me = pwd.getpwuid(_uid()).pw_name
        return f"""
base_dir = {self._folder}/run
state_dir = {self._folder}/state
log_path = {self._folder}/log
default_internal_user = {me}
default_login_user = {me}
default_internal_group = {grp.getgrgid(_gid()).gr_name}
first_valid_uid = 1
first_valid_gid = 1
protocols = imap
listen = 127.0.0.1
ssl = yes
ssl_cert = <{self._folder}/server.pem
ssl_key = <{self._folder}/server.pem
disable_plaintext_auth = no
auth_mechanisms = plain login{" xoauth2" if self._oauth else ""}
auth_verbose = yes
auth_failure_delay = 0
mail_max_userip_connections = 100
mail_location = maildir:~/Maildir
mail_fsync = never
imap_capability = {self._capability}
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service stats {{
  chroot =
}}
service imap-login {{
  chroot =
  service_count = 0
  process_min_avail = 1
  inet_listener imap {{
    port = {self.port}
  }}
  inet_listener imaps {{
    port = {self.tls_port}
    ssl = yes
  }}
}}
service imap {{
  service_count = 100
}}
namespace inbox {{
  inbox = yes
  separator = /
{special}}}
passdb {{
  driver = passwd-file
  args = {self._folder}/users
}}
{oauth if self._oauth else ""}userdb {{
  driver = passwd-file
  args = {self._folder}/users
}}
"""


def _uid() -> int:
    return os.getuid() or pwd.getpwnam("nobody").pw_uid


def _gid() -> int:
    return os.getgid() if os.getuid() else pwd.getpwnam("nobody").pw_gid


def _give(*paths: Path) -> None:
    """Let the server own what was made."""
    if not os.getuid():
        for path in paths:
            os.chown(path, _uid(), _gid())


def _free_ports() -> tuple[int, int]:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        return one.getsockname()[1], other.getsockname()[1]


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _without_order(answer: Mapping[bytes, Any]) -> dict[bytes, Any]:
    return {name: sorted(value) if name == b"FLAGS" else value for name, value in answer.items()}
