"""Notes inform about a rule and never change the validation result.

`[[deviation]]` states where the official Schematron deviates from the standard. If it is `stricter`, findings show
the note; if it is `laxer`, there is no finding, so only the catalog shows it. A note on a copy of the rule that does
not apply is the other way round: a finding shows it if only the copy accepts the invoice. `[[notes]]` explain a
finding: a `conflict` with another rule, or `rounding`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from einvoice.errors import RuleError
from einvoice.localization import Language, languages
from einvoice.rulebook.rule import SYNTAXES

_COMMON_KEYS: Final = {"name": str, "syntax": str, "source": str}
_RULE_KEYS: Final = {**_COMMON_KEYS, "variants": list[str], "since": str, "until": str, "when": str}
DEVIATION: Final = {**_RULE_KEYS, "direction": str}
NOTES: Final = {**_RULE_KEYS, "kind": str}
#: A note about a syntax rule has no condition, but values of the document that it applies to.
DEVIATION_OF_TEXTS: Final = {**_COMMON_KEYS, "codes": list[str], "direction": str, "values": list[str]}

LAXER: Final = "laxer"
#: The kinds of entries, each with the key that classifies it.
KINDS: Final = {"deviation": "direction", "notes": "kind"}
CLASSES: Final = {"direction": ("stricter", LAXER), "kind": ("conflict", "rounding")}


class Note(NamedTuple):
    """A note in a rule file.

    Attributes:
        kind: "stricter", "laxer", "conflict" or "rounding".
        texts: by language.
        source: reference.
        syntax: "UBL" or "CII"; "" for both.
        since: first release to which it applies; "" if it always did.
        until: first release to which it no longer applies; "" if it still does.
        when: condition; "" if it always applies.
        values: document values that it applies to, for a syntax rule.
        ruleset: the rule set whose copy of the rule the note is about; "" for the rule itself.
        name: by which translations refer to it, the same for notes with the same text; "" if there are none.
    """

    kind: str
    texts: Mapping[Language, str]
    source: str = ""
    syntax: str = ""
    since: str = ""
    until: str = ""
    when: str = ""
    values: tuple[str, ...] = ()
    ruleset: str = ""
    name: str = ""

    @property
    def is_shown(self) -> bool:
        """Whether findings can show the note."""
        return self.kind != LAXER

    def plain(self) -> dict[str, Any]:
        """Return the note as plain data for the catalog."""
        return self._asdict()


def note_of(kind: str, entry: Mapping[str, Any]) -> Note:
    """Return the note of an entry of `[[kind]]`, which is one of `KINDS`."""
    known = languages()
    others = (KINDS[kind], "variants", "codes", *known)
    content = {name: value for name, value in entry.items() if name not in others}
    content["texts"] = {lang: entry[lang] for lang in known if lang in entry}
    content["syntax"] = content.get("syntax", "").upper()
    content["when"] = " ".join(content.get("when", "").split())
    content["values"] = tuple(content.get("values", ()))
    return Note(entry[KINDS[kind]], **content)


def notes(data: Mapping[str, Any]) -> list[tuple[Note, list[str] | None]]:
    """Return the notes of a file with texts only, each with the codes it applies to; None means all."""
    return [(note_of(kind, entry), entry.get("codes")) for kind in KINDS for entry in data.get(kind, ())]


def check_notes(data: Mapping[str, Any], file: str) -> None:
    """Check languages, kind, syntax, and the source of deviations; raise `RuleError` for an invalid note."""
    for key, inside in KINDS.items():
        for entry in data.get(key, ()):
            given = tuple(lang for lang in languages() if lang in entry) or languages()[:1]
            needed = (*given, "source") if key == "deviation" else given
            for name in needed:
                if not entry.get(name, "").strip():
                    raise RuleError("is missing", file=file, key=f"[[{key}]].{name}")
            _one_of(entry.get(inside), CLASSES[inside], file, f"[[{key}]].{inside}")
            _one_of(entry.get("syntax", "ubl"), map(str.lower, SYNTAXES), file, f"[[{key}]].syntax")
            if entry.get(inside) == LAXER and "when" in entry:
                raise RuleError("has no effect: no finding shows this note", file=file, key=f"[[{key}]].when")


def check_values(data: Mapping[str, Any], file: str) -> None:
    """Check that deviations of syntax rules list values and have no syntax; raise `RuleError` otherwise."""
    for entry in data.get("deviation", ()):
        if entry["direction"] != LAXER and ("syntax" in entry or not entry.get("values")):
            hint = "list the document texts the note is about, and leave out 'syntax'"
            raise RuleError("must list values", file=file, key="[[deviation]].values", hint=hint)


def _one_of(content: Any, known: Iterable[str], file: str, key: str) -> None:
    if content not in (allowed := tuple(known)):
        raise RuleError("must be " + " or ".join(allowed), file=file, key=key)
