"""Notes about a rule: what somebody who meets it should know of the rule itself. They inform, and turn no verdict.

``[[deviation]]`` says where the official artefact and the norm differ. Where the artefact is ``stricter``, the finding
tells it; where it is ``laxer`` there is no finding that could, so that only the catalog does. ``[[notes]]`` explain a
finding from the invoice's own numbers: a ``conflict`` with another rule, or ``rounding``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from einvoice.errors import RuleError
from einvoice.rulebook.rule import SYNTAXES

_SAID: Final = {"syntax": str, "source": str, "de": str, "en": str}
_OF_RULE: Final = {**_SAID, "variants": list, "since": str, "until": str, "when": str}
DEVIATION: Final = {**_OF_RULE, "direction": str}
NOTES: Final = {**_OF_RULE, "kind": str}
#: Where there is no rule to read, a note has no condition, but texts of the document that it is about.
DEVIATION_OF_TEXTS: Final = {**_SAID, "codes": list, "direction": str, "values": list}

LAXER: Final = "laxer"
_KINDS: Final = {"direction": ("stricter", LAXER), "kind": ("conflict", "rounding")}


class Note(NamedTuple):
    """One note as a rule file has it.

    ``kind`` is "stricter", "laxer", "conflict" or "rounding". ``syntax`` ("" for both), ``since`` and ``until`` say
    where it holds, ``when`` in which situation, ``values`` for which texts of the document.
    """

    kind: str
    de: str
    en: str
    source: str = ""
    syntax: str = ""
    since: str = ""
    until: str = ""
    when: str = ""
    values: tuple[str, ...] = ()

    @property
    def told(self) -> bool:
        """Whether a finding can tell it."""
        return self.kind != LAXER

    def plain(self) -> dict[str, Any]:
        """The note as the catalog keeps it."""
        return self._asdict()


def notes(data: Mapping[str, Any]) -> list[tuple[Note, list[str] | None]]:
    """The notes of a file, each with the codes of a family that it is about; None for all."""
    found = []
    for key, inside in (("deviation", "direction"), ("notes", "kind")):
        for entry in data.get(key, ()):
            said = {name: content for name, content in entry.items() if name not in (inside, "variants", "codes")}
            said["syntax"] = said.get("syntax", "").upper()
            said["values"] = tuple(said.get("values", ()))
            found.append((Note(entry[inside], **said), entry.get("variants", entry.get("codes"))))
    return found


def check_notes(data: Mapping[str, Any], file: str) -> None:
    """Both languages, a known kind and syntax, a source for what is said of an artefact; ``RuleError`` otherwise."""
    for key, inside in (("deviation", "direction"), ("notes", "kind")):
        for entry in data.get(key, ()):
            needed = ("de", "en", "source") if key == "deviation" else ("de", "en")
            for name in needed:
                if not entry.get(name, "").strip():
                    raise RuleError("is missing", file=file, key=f"[[{key}]].{name}")
            _one_of(entry.get(inside), _KINDS[inside], file, f"[[{key}]].{inside}")
            _one_of(entry.get("syntax", "ubl"), map(str.lower, SYNTAXES), file, f"[[{key}]].syntax")
            if entry.get(inside) == LAXER and "when" in entry:
                raise RuleError("has no effect: no finding shows this note", file=file, key=f"[[{key}]].when")


def check_found(data: Mapping[str, Any], file: str) -> None:
    """Where there is no rule, the text that is found has to tell a finding's note, in either syntax; ``RuleError``."""
    for entry in data.get("deviation", ()):
        if entry["direction"] != LAXER and ("syntax" in entry or not entry.get("values")):
            hint = "list the document texts the note is about, and leave out 'syntax'"
            raise RuleError("must list values", file=file, key="[[deviation]].values", hint=hint)


def _one_of(content: Any, known: Iterable[str], file: str, key: str) -> None:
    if content not in (allowed := tuple(known)):
        raise RuleError("must be " + " or ".join(allowed), file=file, key=key)
