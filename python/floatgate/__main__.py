"""``python -m floatgate`` is the command line."""

from floatgate.cli import main

main()
