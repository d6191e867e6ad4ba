"""Ask Saxon what the XPath behind each word answers, and keep the answers: ``python tests/words/ask_saxon.py``.

A file beside this one has questions: a ``rule`` in the rule language, the ``xpath`` that it stands for, the class of
the values (``kind``), and ``answers``: what is given, and what Saxon says. Given are the texts of the elements ``x``
and ``y``: nothing, one text, several, or an object with ``text`` and attributes. To add a question, write it with
``null`` for the answer and run this script. The answers never come from our own code.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

HERE = Path(__file__).parent
_KEPT = {"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}  # or the parser would turn them into something else


def occurrences(given: Any) -> list[dict[str, str]]:
    """The occurrences of an element, each with its ``text`` and its attributes."""
    if given is None:
        return []
    return [{"text": one} if isinstance(one, str) else one for one in (given if isinstance(given, list) else [given])]


def document(given: dict[str, Any]) -> str:
    """The XML document that an answer is about."""
    elements = [
        f"<{name}{''.join(f' {key}={quoteattr(value, _KEPT)}' for key, value in one.items() if key != 'text')}>"
        f"{escape(one['text'], _KEPT)}</{name}>"
        for name, content in given.items()
        for one in occurrences(content)
    ]
    return f"<g>{''.join(elements)}</g>"


class Saxon:
    """XPath 3.1, as the official rules are run."""

    def __init__(self) -> None:
        import saxonche

        self._saxon = saxonche
        self._processor = saxonche.PySaxonProcessor(license=False)
        self._xpath = self._processor.new_xpath_processor()
        self._xpath.set_language_version("3.1")

    def answer(self, xpath: str, given: dict[str, Any]) -> str:
        """``xs:boolean true``, ``xs:decimal 1.5`` …; ``()`` for nothing, ``error`` where Saxon stops."""
        root = self._processor.parse_xml(xml_text=document(given)).children[0]
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


def questions() -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every question with the file that it stands in."""
    for path in sorted(HERE.glob("*.json")):
        for question in json.loads(path.read_text("utf-8")):
            yield path, question


def write(path: Path, asked: list[dict[str, Any]]) -> None:
    """Write a file of questions, one answer a line."""
    parts = []
    for question in asked:
        head = {key: value for key, value in question.items() if key != "answers"}
        rows = ",\n".join(f"   {json.dumps(row, ensure_ascii=True)}" for row in question["answers"])
        parts.append(f'{json.dumps(head, ensure_ascii=True)[:-1]},\n  "answers": [\n{rows}\n  ]}}')
    path.write_text("[\n " + ",\n ".join(parts) + "\n]\n", "utf-8")


def main() -> int:
    """Ask everything anew and write the answers into the files; 1 if one of them changed."""
    saxon = Saxon()
    changed = 0
    for path in sorted(HERE.glob("*.json")):
        asked = json.loads(path.read_text("utf-8"))
        for question in asked:
            for row in question["answers"]:
                answer = saxon.answer(question["xpath"], row[0])
                changed += answer != row[1]
                row[1] = answer
        write(path, asked)
    print(f"{changed} answers are new or have changed")
    return int(changed > 0)


if __name__ == "__main__":
    sys.exit(main())
