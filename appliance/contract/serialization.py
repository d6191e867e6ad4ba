"""JSON bodies as bytes."""

import json
from typing import Final

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def to_json(content: object) -> bytes:
    """Return `content` as compact JSON in UTF-8; lone surrogates are escaped."""
    return _ENCODER.encode(content).encode("utf-8", "backslashreplace")


def append_member(body: bytes, name: str, value: bytes) -> bytes:
    """Return a non-empty JSON object with one more member at its end, without parsing it.

    >>> append_member(b'{"a":1}', "b", b"2")
    b'{"a":1,"b":2}'
    """
    return b"".join((body[:-1], b',"', name.encode(), b'":', value, b"}"))
