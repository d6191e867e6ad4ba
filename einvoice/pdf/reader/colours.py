"""Finds the device-dependent colours that the pages of a PDF use (ISO 32000-1, 8.6.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from einvoice.pdf.reader.resources import Resources
from einvoice.pdf.reader.streams import StreamUnreadable, entry, read_stream, text

_MAX_CONTENT: Final = 4 << 20
_STRING: Final = re.compile(rb"\((?:\\.|[^()\\])*\)", re.DOTALL)
_OPERATOR: Final = re.compile(
    rb"(?:[0-9.]\s+(rg|RG|g|G|k|K)|/(DeviceRGB|DeviceGray|DeviceCMYK)\s+(?:cs|CS))(?=\s|\Z)",
)
_SPACES: Final = {
    **dict.fromkeys(("rg", "RG"), "DeviceRGB"),
    **dict.fromkeys(("g", "G"), "DeviceGray"),
    **dict.fromkeys(("k", "K"), "DeviceCMYK"),
}


def device_colours(resources: Resources) -> list[str]:
    """Return the device colour spaces that are used without a default colour space that replaces them.

    A default colour space, such as DefaultRGB, counts wherever it is defined. Streams that cannot be read count as
    without colours.
    """
    used = {space for stream in resources.streams for space in _used(stream)}
    return sorted(it for it in used if it.replace("Device", "/Default") not in resources.colour_spaces)


def _used(stream: object) -> Iterator[str]:
    if text(entry(stream, "/Subtype")) == "/Image":
        is_mask = entry(stream, "/ImageMask") is True
        space = text(entry(stream, "/ColorSpace")).lstrip("/")
        if space.startswith("Device") and not is_mask:
            yield space
        return
    try:
        content = _STRING.sub(b"", read_stream(stream, _MAX_CONTENT))  # type: ignore[arg-type]
    except StreamUnreadable:
        return
    for match in _OPERATOR.finditer(content):
        operator = (match[1] or match[2]).decode()
        yield _SPACES.get(operator, operator)
