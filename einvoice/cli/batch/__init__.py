"""`einvoice validate` for many files, and for the options that one file does not need."""

from einvoice.cli.batch.command import run

__all__ = ["run"]
