"""Situations: texts for one cause of a violation, which replace those of the rule in the findings that it applies to.

`[[situations]]` are tried in their order; the first one that applies is used. The catalog keeps the texts of the
rule.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from einvoice.errors import RuleError
from einvoice.localization import Language, languages
from einvoice.rulebook.rule import SYNTAXES

SITUATION: Final = {
    "name": str, "syntax": str, "variants": list[str], "since": str, "until": str, "when": str,
    "let": dict[str, str], "terms": list[str], "before_operands": bool,
}  # fmt: skip
#: A syntax rule has no conditions; its situations apply if findings have a value, or are about an element or a
#: code of a list.
SITUATION_OF_TEXTS: Final = {
    "name": str,
    "syntax": str,
    "value": str,
    "element": str,
    "code_of": str,
    "terms": list[str],
}
KEY: Final = "situations"
_DIGITS: Final = 12


class Situation(NamedTuple):
    """A situation in a rule file.

    Attributes:
        texts: by language and name; what is missing is taken from the rule.
        when: condition; "" if it always applies.
        let: values for the condition and the texts, by name.
        terms: business terms at fault, if they are not those that the rule names first.
        syntax: "UBL" or "CII"; "" for both.
        since: first release to which it applies; "" if it always did.
        until: first release to which it no longer applies; "" if it still does.
        value: name of the value that a finding of a syntax rule must have; "" for none.
        element: name of the element that a finding of a syntax rule must be about; "" for any.
        before_operands: whether it also explains a violation with a faulty operand; see `program.diagnosis`.
        code_of: code list that must have the content that a finding of a syntax rule quotes; "" for none.
        name: by which translations refer to it; "" if there are none.
    """

    texts: Mapping[Language, Mapping[str, str]]
    when: str = ""
    let: Mapping[str, str] = {}
    terms: tuple[str, ...] = ()
    syntax: str = ""
    since: str = ""
    until: str = ""
    value: str = ""
    code_of: str = ""
    name: str = ""
    element: str = ""
    before_operands: bool = False

    def shows(self, name: str, texts: Mapping[Language, Mapping[str, str]]) -> bool:
        """Return whether findings quote a value, in its texts or in those of the rule that it keeps."""
        return any(
            f"{{{name}}}" in text for lang in texts for text in {**texts[lang], **self.texts.get(lang, {})}.values()
        )

    def plain(self) -> dict[str, Any]:
        """Return what findings need, as plain data for the catalog."""
        return {"texts": {lang: dict(texts) for lang, texts in self.texts.items()}, "syntax": self.syntax,
                "value": self.value, "element": self.element, "code_of": self.code_of, "terms": list(self.terms),
                "name": self.name, "key": self.key}  # fmt: skip

    @property
    def key(self) -> str:
        """By which stored findings refer to it: its name, otherwise a digest of the condition under which it applies.

        It remains the same if another situation is added, or if a text is reworded.
        """
        condition = [self.when, sorted(self.let.items()), self.syntax, self.since, self.until, self.value]
        condition += [self.element] if self.element else []
        condition += [self.code_of] if self.code_of else []
        return self.name or hashlib.sha256(json.dumps(condition).encode()).hexdigest()[:_DIGITS]


def situation_of(entry: Mapping[str, Any]) -> Situation:
    """Return the situation of an entry of `[[situations]]`."""
    return Situation(
        {lang: entry[lang] for lang in languages() if lang in entry},
        " ".join(entry.get("when", "").split()),
        entry.get("let", {}),
        tuple(entry.get("terms", ())),
        entry.get("syntax", "").upper(),
        entry.get("since", ""),
        entry.get("until", ""),
        entry.get("value", ""),
        entry.get("code_of", ""),
        entry.get("name", ""),
        entry.get("element", ""),
        entry.get("before_operands", False),
    )


def check_situations(data: Mapping[str, Any], file: str, names: tuple[str, ...]) -> None:
    """Check texts and syntax of all situations; raise `RuleError` for an invalid one.

    Each language of the rule must have the same texts, some of `names`.
    """
    known = [lang for lang in languages() if lang in data]
    for entry in data.get(KEY, ()):
        replaced = {name for lang in languages() for name in entry.get(lang, {})}
        if not replaced:
            raise RuleError("has no texts", file=file, key=KEY, hint=f"replace one of {', '.join(names)}")
        for lang in known or [lang for lang in languages() if lang in entry]:
            for name in sorted(replaced):
                _check_text(entry.get(lang, {}).get(name, ""), name, names, file, lang)
        if entry.get("syntax", "ubl") not in map(str.lower, SYNTAXES):
            raise RuleError("must be ubl or cii", file=file, key=f"{KEY}.syntax")
    named = [entry["name"] for entry in data.get(KEY, ()) if "name" in entry]
    for name in named:
        if not name or named.count(name) > 1:
            raise RuleError(f"must be a name of its own, not '{name}'", file=file, key=f"{KEY}.name")


def _check_text(text: Any, name: str, names: tuple[str, ...], file: str, lang: Language) -> None:
    key = f"{KEY}.{lang}.{name}"
    if name not in names:
        raise RuleError("is not a known key", file=file, key=key, hint=f"valid keys are {', '.join(names)}")
    if not isinstance(text, str) or not text.strip():
        raise RuleError("is missing", file=file, key=key)
