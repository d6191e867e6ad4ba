"""The invoice page."""
