"""Prepares the logo of the letterhead: it is decoded and encoded again, so that only its pixels remain."""

from __future__ import annotations

import base64
import io
from typing import Final

from einvoice.errors import MissingDependency

_MAX_SIDE: Final = 1200
_MAX_PIXELS: Final = 50_000_000


def data_uri(picture: bytes) -> str:
    """Return an image as a ``data:`` URI: PNG in RGB, as PDF/A requires, scaled down to the letterhead.

    Raises:
        ValueError: the logo is not an image, or has too many pixels.
        MissingDependency: Pillow, which weasyprint depends on, is not installed.
    """
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise MissingDependency("weasyprint", extra="pdf") from error
    try:
        with Image.open(io.BytesIO(picture)) as image:
            if image.width * image.height > _MAX_PIXELS:
                raise ValueError(f"the logo has more than {_MAX_PIXELS} pixels")
            converted = image.convert("RGBA" if image.has_transparency_data else "RGB")
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError("the logo is not an image in a supported format") from error
    converted.thumbnail((_MAX_SIDE, _MAX_SIDE))
    out = io.BytesIO()
    converted.save(out, "PNG", optimize=False)
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()
