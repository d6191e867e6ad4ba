"""einvoice."""
