"""Entry point of `python -m einvoice`."""

import sys

from einvoice.cli import command

if __name__ == "__main__":
    sys.exit(command())
