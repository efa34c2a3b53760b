"""`tide sign-in`: a new password, or the browser again, for a source whose server refuses the old."""

from __future__ import annotations

from typing import Annotated

import typer

from desktop.commands.options import Json


def register(app: typer.Typer) -> None:
    app.command(name="sign-in", epilog="Example: tide sign-in example")(sign_in)


def sign_in(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="Its name in `tide sources`.", show_default=False)
    ],
    json: Json = False,
) -> None:
    """Sign in to a source again.

    With a new password, or in the browser: what is given is tried out, then kept. Where a command prints the
    secret, that is run again.
    """
    from connectors import REMOTE
    from desktop import adding
    from desktop.errors import Stopped
    from desktop.output import print_json, say
    from desktop.pipeline import looking
    from desktop.signing_in import signed_in
    from workspace import Accounts, UserError

    with looking() as work:
        found = next((one for one in work.store.artifacts.sources() if one.name == source), None)
        if found is None:
            raise UserError(f"There is no source called {source!r}. `tide sources` lists them.")
        if found.kind not in REMOTE:
            raise UserError(f"{source!r} is on this machine; there is nothing to sign in to.")
        account = Accounts.load(work.folders.accounts).get(source)
        if account is None:
            raise UserError(
                f"accounts.toml has no table [{source}], which tells how to reach it. Write it, or add it anew"
                f" after `tide forget {source}`."
            )
        try:
            holds = adding.sign_in(work, found, account, signed_in(source, account))
        except KeyboardInterrupt as error:
            raise Stopped("Stopped. Nothing was changed.") from error
    if json:
        print_json({"name": source, "holds": holds})
    else:
        say(f"Signed in to {source}: {holds}. Next: tide sync {source}")
