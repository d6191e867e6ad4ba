"""The HTTP face of einvoice: it imports the package `einvoice` itself and nothing below."""
