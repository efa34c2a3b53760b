"""The command starts at once: what is heavy is imported by the commands that need it."""

import subprocess
import sys

import pytest

HEAVY = "torch vllm faiss transformers PySide6 icalendar pydantic numpy httpx workspace inference connectors"


# Typer itself needs pydantic to show a number's range.
@pytest.mark.parametrize(("words", "allowed"), [("--help", ""), ("--version", ""), ("run --help", "pydantic")])
def test_help_imports_nothing_heavy(words: str, allowed: str) -> None:
    program = (
        "import sys\n"
        "from desktop.cli import main\n"
        f"sys.argv = ['tide', *{words.split()!r}]\n"
        "try:\n    main()\n"
        "finally:\n"
        f"    print('imported:', *(name for name in {HEAVY!r}.split() if name in sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {*done.stderr.split()} - {allowed} == {"imported:"}
    assert done.stdout.startswith(("Usage: tide", "tide"))


def test_every_command_has_an_example() -> None:
    import typer.main

    from desktop.cli import app

    def leaves(command: object, path: str) -> list[tuple[str, str]]:
        children = getattr(command, "commands", {})
        found = [leaf for name, child in children.items() for leaf in leaves(child, f"{path} {name}")]
        return found if children else [(path, getattr(command, "epilog", "") or "")]

    commands = leaves(typer.main.get_command(app), "tide")
    assert len(commands) >= 17
    for path, epilog in commands:
        assert epilog.startswith("Example"), path
        assert path in epilog
