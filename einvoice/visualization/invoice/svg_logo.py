"""Prepares an SVG logo: only shapes, gradients and their style remain, so that drawing it is safe and bounded.

An SVG file can contain scripts, load other files, and repeat elements without end. A new document is made of the
elements and attributes of a list; one with a content that would be missed is refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, Final

from lxml import etree

from einvoice.errors import LetterheadError, UnreadableDocument
from einvoice.syntax import xml

_SVG: Final = "http://www.w3.org/2000/svg"
_NAMESPACES: Final[Any] = {None: _SVG}
_HREF: Final = ("href", "{http://www.w3.org/1999/xlink}href")
_LIMITS: Final = xml.Limits(bytes=500_000, elements=10_000)
_MAX_DEPTH: Final = 30
_MAX_STYLE: Final = 20_000
"""Length of all styles (characters): each rule is compared with each element."""
_MAX_REPEATED: Final = 5_000
"""Number of elements that are drawn anew, since other elements refer to the ones around them."""
#: Greatest ratio of the sides, in either direction.
_MAX_RATIO: Final = 50
_GRADIENTS: Final = ("linearGradient", "radialGradient")
_SHAPES: Final = ("g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon")
_DRAWN: Final = frozenset(("svg", "defs", "style", "stop", "clipPath", *_GRADIENTS, *_SHAPES))
#: Elements that change nothing that is drawn.
_UNSEEN: Final = frozenset(("title", "desc", "metadata"))
_ATTRIBUTE: Final = re.compile(
    "[dr]|[rf]?[xy]|c[xy]|[xy][12]|class|clip-(path|rule)|fill(-opacity|-rule)?|gradient(Transform|Units)|height|id"
    "|offset|opacity|points|preserveAspectRatio|spreadMethod|stop-(color|opacity)"
    "|stroke(-(dasharray|dashoffset|linecap|linejoin|miterlimit|opacity|width))?|style|transform|type|viewBox|width"
)
_NUMBER: Final = r"[+-]?(?:[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})"
_LENGTH: Final = re.compile(rf"({_NUMBER})(?:px|pt|mm|cm|in)?")
_BOX: Final = re.compile(rf"\s*{_NUMBER}[\s,]+{_NUMBER}[\s,]+({_NUMBER})[\s,]+({_NUMBER})\s*")
_REFERENCE: Final = re.compile(r"url\(\s*[\"']?#[^\s\"'()]+[\"']?\s*\)")
#: In a style: what loads a file, hides itself, has an effect, may clip itself, or is no colour of PDF/A.
_NOT_DRAWN: Final = re.compile(
    r"url\s*\(|[@\\]|image\s*\(|expression\s*\(|\b(?:mask|filter)\b[\w-]*\s*:|clip-path\s*:|cmyk", re.I
)


def is_svg(picture: bytes) -> bool:
    """Whether a file is XML with an SVG element."""
    return picture.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") and b"<svg" in picture


def safe_svg(picture: bytes) -> bytes:
    """Return an SVG document that draws the same and has nothing else.

    Raises:
        LetterheadError: the document is not SVG, is too large, or contains what is not drawn: text, images, scripts,
            effects, repeated elements, references to other files.
    """
    try:
        root = xml.parse(picture, _LIMITS).getroot()
    except UnreadableDocument as error:
        raise LetterheadError(f"the SVG logo cannot be read: {error}") from error
    if root.tag != f"{{{_SVG}}}svg":
        raise LetterheadError("the logo is XML, but not an SVG image")
    _check_sides(root)
    _check_cost(root)
    bases = {f"#{it.get('id')}" for it in _all(root, *_GRADIENTS) if not any(key in it.attrib for key in _HREF)}
    made: bytes = etree.tostring(_copy(root, bases, 0))
    return made


def _check_sides(root: Any) -> None:
    box = _BOX.fullmatch(root.get("viewBox", ""))
    sides = box.groups() if box else [_LENGTH.sub(r"\1", root.get(name, "")) for name in ("width", "height")]
    numbers = [float(it) if re.fullmatch(_NUMBER, it) else 0.0 for it in sides]
    if min(numbers) <= 0 or max(numbers) > _MAX_RATIO * min(numbers):
        raise LetterheadError("the SVG logo needs a viewBox, or a width and a height, with sides that can be drawn")


def _check_cost(root: Any) -> None:
    """Limit what takes more time than the size of the file: styles, and what is drawn anew for each reference."""
    styles = "".join(it.text or "" for it in _all(root, "style"))
    if len(styles) > _MAX_STYLE:
        raise LetterheadError(f"the styles of the SVG logo have more than {_MAX_STYLE} characters")
    largest = max((sum(1 for _ in it.iter()) for it in _all(root, "clipPath", *_GRADIENTS)), default=0)
    referring = [it for it in root.iter() if "url" in styles or any("url" in value for value in it.attrib.values())]
    if len(referring) * largest > _MAX_REPEATED:
        raise LetterheadError("the SVG logo uses gradients or clip paths too often: use PNG")


def _all(root: Any, *names: str) -> list[Any]:
    return list(root.iter(*(f"{{{_SVG}}}{name}" for name in names)))


def _copy(element: Any, bases: Collection[str], depth: int) -> Any:
    name = etree.QName(element).localname
    if depth > _MAX_DEPTH:
        raise LetterheadError(f"the SVG logo has more than {_MAX_DEPTH} levels of elements")
    attributes = dict(_attributes(element, name, bases))
    copy = etree.Element(f"{{{_SVG}}}{name}", attributes, nsmap=_NAMESPACES)
    if name == "style":
        copy.text = _checked_style(element.text or "")
    for child in element:
        known = etree.QName(child)
        if known.namespace != _SVG or known.localname in _UNSEEN:
            continue
        if known.localname not in _DRAWN:
            raise _not_drawn(f"<{known.localname}>")
        copy.append(_copy(child, bases, depth + 1))
    return copy


def _attributes(element: Any, name: str, bases: Collection[str]) -> Iterator[tuple[str, str]]:
    for key, value in element.attrib.items():
        if key in _HREF and name in _GRADIENTS:
            if value not in bases:  # a gradient that does not refer to another one, so that there is no circle
                raise _not_drawn(f"href={value[:40]!r}")
            yield "href", value
        elif key in ("mask", "filter"):
            raise _not_drawn(f"{key}={value[:40]!r}")
        elif key == "clip-path" and any(etree.QName(it).localname == "clipPath" for it in element.iterancestors()):
            raise _not_drawn("clip-path in <clipPath>")
        elif _ATTRIBUTE.fullmatch(key):
            yield key, value if key in ("id", "class") else _checked_style(value)


def _checked_style(text: str) -> str:
    """Return a style or the value of an attribute, which may refer to elements of the document only."""
    if found := _NOT_DRAWN.search(_REFERENCE.sub("", text)):
        raise _not_drawn(repr(found[0]))
    return text


def _not_drawn(found: str) -> LetterheadError:
    return LetterheadError(
        f"the SVG logo contains {found}, which is not drawn: convert texts and effects to paths, or use PNG"
    )
