"""`tide models`: which models there are, which fit this machine and why, and fetching their weights."""

from __future__ import annotations

from typing import Annotated

import typer

from desktop.commands.options import Json, Progress
from desktop.progress import Mode

EXAMPLE = "Examples: tide models · tide models fetch cpu"

HELP = """List the models, what fits this machine, and fetch weights.

A server that you run or rent needs no weights here: --model http://HOST:PORT/v1#NAME. Its key comes from the
keyring (service tide, under its address) or from TIDE_MODEL_KEY.
"""

group = typer.Typer(help=HELP, epilog=EXAMPLE)


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="models")


@group.callback(invoke_without_command=True)
def models(context: typer.Context, json: Json = False) -> None:
    """What is done where no command of the group is named."""
    if context.invoked_subcommand is None:
        show_models(json)


@group.command(epilog="Example: tide models fetch cpu")
def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name of `tide models`.", show_default=False)],
    progress: Progress = Mode.AUTO,
) -> None:
    """Fetch the weights of a model. What is here already is not fetched again."""
    from desktop.output import say
    from desktop.progress import reporter
    from inference.models import profiles
    from inference.models.hardware import find_hardware

    profile = profiles.find_profile(name, profiles.load_profiles())
    if profile.id == profiles.EMBEDDED:
        say("The embedded model came with Tide; there is nothing to fetch.")
        return
    fit, why = profiles.fits(profile, find_hardware())
    with reporter(progress) as told:
        told.say(f"{profile.model}, {profile.download_gb:g} GB" + ("." if fit else f". Mind that it {why}."))
        megabyte = 10**6
        folder = profiles.fetch(
            profile, lambda done, total: told.progress("fetch, MB", done // megabyte, total // megabyte)
        )
    say(f"The weights are in {folder}. Next: tide run --model {name}")


def show_models(json: bool) -> None:
    """Print what there is, what fits, and what would be taken."""
    from desktop import choice
    from desktop.output import console, print_json, print_rows
    from inference.models import profiles
    from inference.models.hardware import find_hardware
    from workspace import Folders, Settings, UserError

    hardware = find_hardware()
    folders = Folders.find()
    try:
        taken = choice.choose(Settings.load(folders.settings), folders)
        taken_name, taken_why = taken.name, taken.why
    except UserError as error:
        taken_name, taken_why = "", str(error)
    rows = []
    for profile in profiles.load_profiles():
        fit, why = profiles.fits(profile, hardware)
        here = profile.id == profiles.EMBEDDED or profiles.weights(profile) is not None
        rows.append((profile, fit, why, here))
    if json:
        listed = [
            {**profile.model_dump(mode="json"), "fits": fit, "why": why, "here": here}
            for profile, fit, why, here in rows
        ]
        print_json({"models": listed, "taken": taken_name, "why": taken_why})
        return
    gpus = ", ".join(f"{gpu.name} ({gpu.total_gb:.0f} GB)" for gpu in hardware.gpus) or "no NVIDIA GPU"
    out = console()
    out.print(f"This machine: {gpus}, {hardware.cores} cores, {hardware.ram_gb:.0f} GB of memory.")
    out.print(taken_why)
    out.print()
    table = [
        (
            f"{'→ ' if profile.id == taken_name else '  '}{profile.id}",
            "yes" if fit else "no",
            "here" if here else f"{profile.download_gb:g} GB",
            f"{profile.model}: {why}. {profile.note}",
        )
        for profile, fit, why, here in rows
    ]
    print_rows(("  name", "fits", "weights", "what it is, and why"), table)
