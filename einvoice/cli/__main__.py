"""Entry point of `python -m einvoice.cli`."""

import sys

from einvoice.cli import command

sys.exit(command())
