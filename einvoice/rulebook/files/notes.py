"""Notes about a rule: what somebody who meets it should know of the rule itself. They inform, and turn no verdict.

``[[differs]]`` says where the official artefact and the norm differ. Where the artefact is ``stricter``, the finding
tells it; where it is ``milder`` there is no finding that could, so that only the catalog does. ``[[notes]]`` explain a
finding from the invoice's own numbers: a ``conflict`` with another rule, or ``rounding``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from einvoice.errors import RuleError
from einvoice.rulebook.rule import SYNTAXES

_SAID: Final = {"syntax": str, "source": str, "codes": list, "de": str, "en": str}
_OF_RULE: Final = {**_SAID, "since": str, "until": str, "when": str}
DIFFERS: Final = {**_OF_RULE, "artefact": str}
NOTES: Final = {**_OF_RULE, "kind": str}
#: Where there is no rule to read, a note has no condition, but texts of the document that it is about.
DIFFERS_OF_TEXTS: Final = {**_SAID, "artefact": str, "found": list}

MILDER: Final = "milder"
_KINDS: Final = {"artefact": ("stricter", MILDER), "kind": ("conflict", "rounding")}


class Note(NamedTuple):
    """One note as a rule file has it.

    ``kind`` is "stricter", "milder", "conflict" or "rounding". ``syntax`` ("" for both), ``since`` and ``until`` say
    where it holds, ``when`` in which situation, ``found`` for which texts of the document.
    """

    kind: str
    de: str
    en: str
    source: str = ""
    syntax: str = ""
    since: str = ""
    until: str = ""
    when: str = ""
    found: tuple[str, ...] = ()

    @property
    def told(self) -> bool:
        """Whether a finding can tell it."""
        return self.kind != MILDER

    def plain(self) -> dict[str, Any]:
        """The note as the catalog keeps it."""
        return self._asdict()


def notes(data: Mapping[str, Any]) -> list[tuple[Note, list[str] | None]]:
    """The notes of a file, each with the codes of a family that it is about; None for all."""
    found = []
    for key, inside in (("differs", "artefact"), ("notes", "kind")):
        for entry in data.get(key, ()):
            said = {name: content for name, content in entry.items() if name not in (inside, "codes")}
            said["syntax"] = said.get("syntax", "").upper()
            said["found"] = tuple(said.get("found", ()))
            found.append((Note(entry[inside], **said), entry.get("codes")))
    return found


def check_notes(data: Mapping[str, Any], file: str) -> None:
    """Both languages, a known kind and syntax, a source for what is said of an artefact; ``RuleError`` otherwise."""
    for key, inside in (("differs", "artefact"), ("notes", "kind")):
        for entry in data.get(key, ()):
            needed = ("de", "en", "source") if key == "differs" else ("de", "en")
            for name in needed:
                if not entry.get(name, "").strip():
                    raise RuleError("is missing", file=file, key=f"[[{key}]].{name}")
            _one_of(entry.get(inside), _KINDS[inside], file, f"[[{key}]].{inside}")
            _one_of(entry.get("syntax", "ubl"), map(str.lower, SYNTAXES), file, f"[[{key}]].syntax")
            if entry.get(inside) == MILDER and "when" in entry:
                raise RuleError("has no effect: no finding shows this note", file=file, key=f"[[{key}]].when")


def check_found(data: Mapping[str, Any], file: str) -> None:
    """Where there is no rule, the text that is found has to tell a finding's note, in either syntax; ``RuleError``."""
    for entry in data.get("differs", ()):
        if entry["artefact"] != MILDER and ("syntax" in entry or not entry.get("found")):
            hint = "list the document texts the note is about, and leave out 'syntax'"
            raise RuleError("must list values", file=file, key="[[differs]].found", hint=hint)


def _one_of(content: Any, known: Iterable[str], file: str, key: str) -> None:
    if content not in (allowed := tuple(known)):
        raise RuleError("must be " + " or ".join(allowed), file=file, key=key)
