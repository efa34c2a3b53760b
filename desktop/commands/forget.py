"""`tide forget`: a source goes, with every trace that Tide has of it."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from desktop.commands.options import Json, Progress
from desktop.plain import one_line
from desktop.progress import Mode

if TYPE_CHECKING:
    from desktop.pipeline import Work
    from workspace import Account, SecretStore


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What goes, or went, of a source: `account` tells whether it has one, `place` where it is, "" if unknown."""

    name: str
    place: str
    artifacts: int
    findings: int
    account: bool


def register(app: typer.Typer) -> None:
    app.command(epilog="Example: tide forget old-mail")(forget)


def forget(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="Its name in `tide sources`.", show_default=False)
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Json = False,
    progress: Progress = Mode.AUTO,
) -> None:
    """Remove a source and every trace of it from this machine; the source itself stays as it is.

    What was brought in goes, and all that was made of it: notes, vectors, findings that quote it, its account and
    secret, and backups of the store. If it is stopped, the same command finishes it.
    """
    from desktop import pipeline
    from desktop.output import print_json, say
    from workspace import UserError

    with pipeline.looking() as work:
        going = _found(work, source)
        half_done = work.store.forgetting.unfinished == source
    if not yes and not half_done:
        if not _somebody_is_here():
            raise UserError(f"Nobody is here to be asked whether to forget it. Run: tide forget {source} --yes")
        say(_going(going))
        _ask(source)
    with pipeline.at_work(progress) as work:
        forget_source(work, source)
    if json:
        print_json(asdict(going))
    else:
        print(one_line(_gone(going)))
        if going.place:
            print(one_line(f"{going.place} is as it was: Tide only reads there."))
        print(
            "Not Tide's to remove: what --trace kept, what you exported, the solved cases that you made (`tide"
            " templates case`), and what you wrote into your profile."
        )


def forget_source(work: Work, name: str, secrets: SecretStore | None = None) -> None:
    """Remove every trace of a source; doing it again finishes what was stopped at any moment.

    Raises:
        KeyringLocked: if its secret cannot be removed; then all is as it was.
        UserError: if the disk is full, or another program reads the store.
    """
    from connectors import LOCAL
    from inference.index import drop_cache
    from workspace import Accounts, Keyring

    accounts = Accounts.load(work.folders.accounts)
    account = accounts.get(name)
    kind = next((one.kind for one in work.store.artifacts.sources() if one.name == name), "")
    if account is not None or kind not in LOCAL:  # its table may have been taken out of accounts.toml by hand
        _remove_secret(name, account, secrets or Keyring())
    forgetting = work.store.forgetting
    forgetting.begin(name)
    if account is not None:
        accounts.changed({name: None}).save(work.folders.accounts)
    forgetting.remove(name, work.told.progress)
    drop_cache(work.folders.index)
    forgetting.finish(work.told.progress)


def _found(work: Work, name: str) -> Forgotten:
    """What there is of a source.

    Raises:
        UserError: if there is nothing of that name.
    """
    from desktop.adding import place_of
    from workspace import Accounts, UserError

    source = next((one for one in work.store.artifacts.sources() if one.name == name), None)
    account = Accounts.load(work.folders.accounts).get(name)
    if source is None and account is None and work.store.forgetting.unfinished != name:
        raise UserError(f"There is no source called {name!r}. `tide sources` lists them.")
    traces = work.store.forgetting.traces(name)
    place = place_of(source, account) if source else ""
    return Forgotten(name, place, traces.artifacts, traces.findings, account is not None)


def _remove_secret(name: str, account: Account | None, secrets: SecretStore) -> None:
    from workspace import KeyringLocked

    try:
        secrets.remove(name)
    except KeyringLocked as error:
        if account is None:
            in_place = True
        else:
            in_place = account.sign_in != "none" or not (account.host or account.url)
            in_place = in_place and not account.secret_command
        if in_place:
            raise KeyringLocked(f"Nothing was removed, since the secret of {name} cannot be: {error}") from error


def _somebody_is_here() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask(name: str) -> None:
    from desktop.errors import Stopped

    try:
        wanted = typer.confirm(one_line(f"Forget {name}?"), default=False, err=True)
    except typer.Abort:
        wanted = False
    if not wanted:
        raise Stopped("Nothing was removed.")


def _going(going: Forgotten) -> str:
    place = f" ({going.place})" if going.place else ""
    return f"{going.name}{place}: {_counted(going)} will be gone from this machine for good."


def _gone(going: Forgotten) -> str:
    return f"Forgot {going.name}: {_counted(going)}."


def _counted(going: Forgotten) -> str:
    artifacts = "1 artifact" if going.artifacts == 1 else f"{going.artifacts:,} artifacts"
    findings = "1 finding" if going.findings == 1 else f"{going.findings:,} findings"
    return f"{artifacts}, {findings} from them" + (", its account and its secret" if going.account else "")
