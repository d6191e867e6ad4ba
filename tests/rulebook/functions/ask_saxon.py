"""Store the results of Saxon for the XPath of each function: ``python -m tests.rulebook.functions.ask_saxon``.

The JSON files in this folder contain test cases: a ``rule`` in the rule language, the equivalent ``xpath``, the class
of the values (``kind``) and ``answers``, pairs of input and result. The input contains the texts of the elements ``x``
and ``y``: none, one text, several texts, or an object with ``text`` and attributes. To add a test case, write it with
the result ``null`` and run this script. Results always come from Saxon, never from einvoice.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

HERE = Path(__file__).parent
_ESCAPES = {"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}  # the parser normalizes unescaped white space


def occurrences(texts: Any) -> list[dict[str, str]]:
    """Return the occurrences of an element, each with its ``text`` and its attributes."""
    if texts is None:
        return []
    return [
        {"text": item} if isinstance(item, str) else item for item in (texts if isinstance(texts, list) else [texts])
    ]


def document(inputs: dict[str, Any]) -> str:
    """Return the XML document with the input of a test case."""
    elements = [
        f"<{name}{''.join(f' {key}={quoteattr(value, _ESCAPES)}' for key, value in item.items() if key != 'text')}>"
        f"{escape(item['text'], _ESCAPES)}</{name}>"
        for name, content in inputs.items()
        for item in occurrences(content)
    ]
    return f"<g>{''.join(elements)}</g>"


class Saxon:
    """XPath 3.1 processor, as used for the official Schematron."""

    def __init__(self) -> None:
        import saxonche

        self._saxon = saxonche
        self._processor = saxonche.PySaxonProcessor(license=False)
        self._xpath = self._processor.new_xpath_processor()
        self._xpath.set_language_version("3.1")

    def answer(self, xpath: str, inputs: dict[str, Any]) -> str:
        """Return type and value (``xs:boolean true``), ``()`` for the empty sequence, ``error`` if Saxon stops."""
        root = self._processor.parse_xml(xml_text=document(inputs)).children[0]
        self._xpath.set_context(xdm_item=root)
        try:
            result = self._xpath.evaluate(xpath)
        except self._saxon.PySaxonApiError:
            return "error"
        if result is None or not result.size:
            return "()"
        item = result.item_at(0)
        kind = item.primitive_type_name.rpartition("}")[2]
        return f"xs:{'decimal' if kind == 'integer' else kind} {item.string_value}"


def cases() -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield all test cases with their files."""
    for path in sorted(HERE.glob("*.json")):
        for case in json.loads(path.read_text("utf-8")):
            yield path, case


def write(path: Path, cases: list[dict[str, Any]]) -> None:
    """Write a file of test cases, one result per line."""
    parts = []
    for case in cases:
        head = {key: value for key, value in case.items() if key != "answers"}
        rows = ",\n".join(f"   {json.dumps(row, ensure_ascii=True)}" for row in case["answers"])
        parts.append(f'{json.dumps(head, ensure_ascii=True)[:-1]},\n  "answers": [\n{rows}\n  ]}}')
    path.write_text("[\n " + ",\n ".join(parts) + "\n]\n", "utf-8")


def main() -> int:
    """Evaluate all test cases and write the results; return 1 if a result changed."""
    saxon = Saxon()
    changed = 0
    for path in sorted(HERE.glob("*.json")):
        file_cases = json.loads(path.read_text("utf-8"))
        for case in file_cases:
            for row in case["answers"]:
                answer = saxon.answer(case["xpath"], row[0])
                changed += answer != row[1]
                row[1] = answer
        write(path, file_cases)
    print(f"{changed} results are new or changed")
    return int(changed > 0)


if __name__ == "__main__":
    sys.exit(main())
