"""Folders that tests use."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "tests" / "samples"
SHARED = ROOT.parent / "shared"
"""Cases with official results, if they lie beside the checkout."""
