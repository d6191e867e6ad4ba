"""Prepares the logo of the letterhead: it is decoded and encoded again, so that only its pixels or shapes remain."""

from __future__ import annotations

import base64
import io
from typing import Final

from einvoice.errors import LetterheadError, MissingDependency
from einvoice.visualization.invoice.svg_logo import is_svg, safe_svg

_MAX_SIDE: Final = 1200
_MAX_PIXELS: Final = 50_000_000
_MAX_BYTES: Final = 10_000_000
#: Formats that Pillow decodes itself, without another program.
_FORMATS: Final = ("PNG", "JPEG", "GIF", "TIFF", "WEBP")


def data_uri(picture: bytes) -> str:
    """Return an image as a `data:` URI: SVG of shapes, or PNG in RGB, as PDF/A requires, scaled to the letterhead.

    Raises:
        LetterheadError: the logo is not an image in one of the formats, is too large, or is SVG with other content.
        MissingDependency: Pillow, which weasyprint depends on, is not installed.
    """
    if is_svg(picture):
        return _uri("image/svg+xml", safe_svg(picture))
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise MissingDependency("weasyprint", extra="pdf") from error
    if len(picture) > _MAX_BYTES:
        raise LetterheadError(f"the logo has more than {_MAX_BYTES} bytes")
    try:
        with Image.open(io.BytesIO(picture), formats=_FORMATS) as image:
            if image.width * image.height > _MAX_PIXELS:
                raise LetterheadError(f"the logo has more than {_MAX_PIXELS} pixels")
            converted = image.convert("RGBA" if image.has_transparency_data else "RGB")
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise LetterheadError(f"the logo is not an image in one of the formats SVG, {', '.join(_FORMATS)}") from error
    converted.thumbnail((_MAX_SIDE, _MAX_SIDE))
    out = io.BytesIO()
    converted.save(out, "PNG", optimize=False)
    return _uri("image/png", out.getvalue())


def _uri(mime: str, content: bytes) -> str:
    return f"data:{mime};base64,{base64.b64encode(content).decode()}"
