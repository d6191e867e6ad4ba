"""`python -m einvoice.cli` is the command `einvoice`."""

import sys

from einvoice.cli import main

sys.exit(main())
