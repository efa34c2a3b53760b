"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from desktop.progress import Mode


class Strategy(StrEnum):
    OBSERVED = "observed"
    TIDE = "tide"


class Security(StrEnum):
    TLS = "tls"
    STARTTLS = "starttls"
    NONE = "none"


class Provider(StrEnum):
    GOOGLE = "google"
    MICROSOFT = "microsoft"


Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Name = Annotated[
    str,
    typer.Option("--name", metavar="NAME", help="What to call it; made up if not given.", show_default=False),
]
Person = Annotated[str, typer.Option("--person", metavar="NAME", help="Your name.", show_default=False)]
Progress = Annotated[
    Mode,
    typer.Option(
        "--progress", metavar="HOW", help="auto (bars or lines), json (lines of JSON) or none; on stderr."
    ),
]
AllowEmpty = Annotated[
    bool, typer.Option("--allow-empty", help="Take it as true that a source has nothing any more.")
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="A profile of `tide models`, `embedded`, a folder of weights, or http://HOST:PORT/v1#NAME.",
        show_default=False,
    ),
]
Rounds = Annotated[
    int | None,
    typer.Option("--rounds", metavar="N", min=1, max=50, help="At most so many rounds (10).", show_default=False),
]
NewPerRound = Annotated[
    int | None,
    typer.Option(
        "--k", metavar="N", min=1, max=10, help="At most so many new problems a call (1).", show_default=False
    ),
]
FullText = Annotated[bool, typer.Option("--full-text", help="Connect the texts themselves instead of notes.")]
StrategyOption = Annotated[
    Strategy | None,
    typer.Option(
        "--strategy",
        metavar="NAME",
        help="observed (what can be computed) or tide (a language model, in rounds; if one is there).",
        show_default=False,
    ),
]
Trace = Annotated[
    Path | None,
    typer.Option(
        "--trace",
        metavar="DIR",
        help="Keep every prompt and reply in this folder.",
        show_default=False,
        file_okay=False,
    ),
]
User = Annotated[
    str,
    typer.Option(
        "--user", metavar="NAME", help="The name to sign in with, if not the address.", show_default=False
    ),
]
SecretCommand = Annotated[
    str,
    typer.Option(
        "--secret-command",
        metavar="CMD",
        help="A command that prints the password (or the token, where the server takes no password).",
        show_default=False,
    ),
]
TokenCommand = Annotated[
    str,
    typer.Option(
        "--token-command", metavar="CMD", help="A command that prints an OAuth access token.", show_default=False
    ),
]
ClientId = Annotated[
    str,
    typer.Option(
        "--client-id",
        metavar="ID",
        help="Sign in with OAuth in the browser, as this client of yours at Google or Microsoft.",
        show_default=False,
    ),
]
ProviderOption = Annotated[
    Provider | None,
    typer.Option(
        "--provider", metavar="NAME", help="google or microsoft, where --client-id is theirs.", show_default=False
    ),
]
Certificate = Annotated[
    str,
    typer.Option(
        "--certificate",
        metavar="FILE",
        help="A certificate (PEM) to trust, as of a server of your own.",
        show_default=False,
    ),
]
