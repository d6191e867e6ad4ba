"""JSON arrays, written item by item: results can be larger than the memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any


def array(items: Iterable[Any]) -> Iterator[str]:
    """Yield the text of a JSON array, one line per item."""
    before = "[\n"
    for item in items:
        yield before + json.dumps(item, ensure_ascii=False)
        before = ",\n"
    yield "[]" if before == "[\n" else "\n]"
