"""Detects signatures of a PDF (ISO 32000-1, 12.7.2 and 12.8.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pikepdf


def is_signed(pdf: pikepdf.Pdf) -> bool:
    """Return whether a form field holds a signature, or a certification grants permissions."""
    from pikepdf import Dictionary

    form = pdf.Root.get("/AcroForm")
    flags = form.get("/SigFlags", 0) if isinstance(form, Dictionary) else 0
    permissions = pdf.Root.get("/Perms")
    return bool(isinstance(flags, int) and flags & 1) or (isinstance(permissions, Dictionary) and len(permissions) > 0)
