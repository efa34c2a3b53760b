"""`python -m desktop` is `tide`."""

from desktop.cli import main

main()
