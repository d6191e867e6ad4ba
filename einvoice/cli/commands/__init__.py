"""The subcommands of `einvoice`, one module each."""
