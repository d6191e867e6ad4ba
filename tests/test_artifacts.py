"""Artifacts: links that only their holder can use, and that leave nothing behind when they end."""
