"""The HTTP service for einvoice. It imports the public names of the package `einvoice` only."""
