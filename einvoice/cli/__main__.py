"""Entry point of `python -m einvoice.cli`."""

import sys

from einvoice.cli import main

sys.exit(main())
