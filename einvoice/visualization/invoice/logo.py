"""A logo for the letterhead, made harmless: only its colours are kept."""

from __future__ import annotations

import base64
import io
from typing import Final

from einvoice.errors import MissingDependency

_WIDEST: Final = 1200
_MOST_PIXELS: Final = 50_000_000


def data_address(picture: bytes) -> str:
    """The picture as a ``data:`` address: PNG in RGB, as PDF/A wants it, no larger than a letterhead needs.

    Raises ``ValueError`` for what is no picture, or is a huge one.
    """
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise MissingDependency("weasyprint", extra="pdf") from error
    try:
        with Image.open(io.BytesIO(picture)) as image:
            if image.width * image.height > _MOST_PIXELS:
                raise ValueError("the logo has too many pixels")
            shown = image.convert("RGBA" if image.has_transparency_data else "RGB")
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError("the logo is no picture that can be read") from error
    shown.thumbnail((_WIDEST, _WIDEST))
    out = io.BytesIO()
    shown.save(out, "PNG", optimize=False)
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()
