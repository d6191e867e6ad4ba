"""The entry of the catalog for one code, with its texts by language."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple, TypeAlias

from einvoice.code_catalog.formatting import VALUES, missing, missing_subject, show
from einvoice.code_catalog.general import general
from einvoice.code_catalog.operand_texts import operand_text
from einvoice.localization import Language, choose, fallbacks
from einvoice.model.terms import name as name_of_term
from einvoice.model.terms import terms
from einvoice.quotation import excerpt

_QUOTED: Final = r"([„“]|« |)\{([\w.]+)\}([“”]| »|)"
_REPEATED: Final = r"(\([^()]+\)) \1"
"""Two missing values in a row, such as an amount and its currency, are shown once."""
_INCALCULABLE_FIX: Final = "incalculable_fix"
"""Shown instead of a fix that quotes the expected amount, if this amount cannot be calculated."""
_NO_VALUES: Final[Mapping[str, Any]] = {}
_COMPARED: Final = ("actual", "expected", "difference")
_OF_AMOUNTS: Final = (1, 2)
"""Numbers of decimals that show that numbers which are compared are amounts."""
_AMOUNT: Final[Mapping[str, Any]] = {"actual": Decimal("0.00")}
_TERM: Final = re.compile(r"B[TG]-[\w-]+")
Values: TypeAlias = "Mapping[str, Any] | None"
"""The values of a finding; None if there is no invoice."""


class CatalogEntry(NamedTuple):
    """The catalog's description of a code, independent of any invoice.

    Attributes:
        code: of the rule or finding.
        severity: that in UBL if the syntaxes differ.
        layer: of the rule: the name of its rule set, or "schema", "file" or "pdf".
        section: of the invoice.
        terms: business terms; those in UBL if the syntaxes differ.
        texts: by language and name.
        file: the rule file.
        source: paragraph of the standard, or another source.
        since: first release with the rule.
        until: first release without the rule.
        aliases: other codes.
        replaces: codes of a lower layer that the rule replaces.
        severities: by syntax.
        not_applicable: by syntax, the reason why the rule cannot be violated.
        stand_ins: values that the texts quote if there is no invoice.
        examples: by language, situations that violate the rule.
        xpaths: by syntax, the location in XPath 1.0, for a few rules with `matches` of XPath 2.0 (prefixes:
            `einvoice.NAMESPACES`); complete in `einvoice.catalog` only.
        points_at: by syntax, the leading term.
        notes: the fields of `files.notes.Note`; those with an `until` concern older releases.
        lang: language of the string representation.
        current: whether the catalog's release has the rule.
        kind: of the rule set, such as "cius"; for other layers the name of the layer.
        situations: `files.situations.Situation.plain` of each; findings select one of them.
        layers: all layers that have the code, since rule sets share rules; `layer` first.
    """

    code: str
    severity: str
    layer: str
    section: str
    terms: tuple[str, ...]
    texts: dict[str, dict[str, str]]
    file: str
    source: str = ""
    since: str = ""
    until: str = ""
    aliases: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    severities: dict[str, str] = {}  # noqa: RUF012 (the default of a tuple's field; entries are never changed)
    not_applicable: dict[str, str] = {}  # noqa: RUF012
    stand_ins: dict[str, str] = {}  # noqa: RUF012
    examples: dict[str, tuple[str, ...]] = {}  # noqa: RUF012
    xpaths: dict[str, str] = {}  # noqa: RUF012
    points_at: dict[str, str] = {}  # noqa: RUF012
    notes: tuple[dict[str, Any], ...] = ()
    lang: Language = "de"
    current: bool = True
    kind: str = ""
    situations: tuple[dict[str, Any], ...] = ()
    layers: tuple[str, ...] = ()

    def title(self, language: str, values: Values = None, situation: str = "") -> str:
        """Return what is wrong, in one line. `values` and the key of the situation are those of the finding."""
        return self._fill(self.text("title", language, situation, values), language, values)

    def explanation(self, language: str, values: Values = None, situation: str = "") -> str:
        """Return why it is wrong."""
        return self._fill(self.text("explanation", language, situation, values), language, values)

    def fix(self, language: str, values: Values = None, situation: str = "") -> str:
        """Return how to correct it."""
        text = self.text("fix", language, situation, values)
        if values is not None and "{expected}" in text and "expected" not in values:
            return VALUES[language][_INCALCULABLE_FIX].format(terms=", ".join(self.terms))
        return self._fill(text, language, values)

    def note(self, number: int, language: str, values: Values = None) -> str:
        """Return the text of a note."""
        return self._fill(choose(self.notes[number]["texts"], language), language, values)

    def text(self, name: str, language: str, situation: str = "", values: Values = None) -> str:
        """Return the title, explanation or fix with its placeholders; a missing text is that of another language.

        With the key of a `situation`, its text replaces that of the rule. A situation that the catalog does not have
        is ignored: a stored result may come from another version. `values` decide what the diagnosis of an operand
        says.
        """
        own: Mapping[str, Any] = {}
        if situation and "." not in situation:
            own = next((it["texts"] for it in self.situations if it["key"] == situation), own)
        for lang in (*fallbacks(language), *self.texts):
            text: str = own.get(lang, _NO_VALUES).get(name) or self.texts.get(lang, _NO_VALUES).get(name, "")
            if text:
                return operand_text(name, situation, lang, text, values or _NO_VALUES) if "." in situation else text
        return ""

    def examples_in(self, language: str) -> tuple[str, ...]:
        """Return the situations that violate the rule; empty if there are none."""
        return choose(self.examples, language) if self.examples else ()

    def __str__(self) -> str:
        return "\n".join((f"{self.code}: {self.title(self.lang)}", *self._details()))

    def __repr__(self) -> str:
        return f"<CatalogEntry {self.code}: {self.severity}, {self.layer}>"

    def _repr_html_(self) -> str:
        from einvoice.render.catalog import entry_html

        return entry_html(self, self.lang)

    def _details(self) -> tuple[str, str]:
        return self.explanation(self.lang), f"→ {self.fix(self.lang)}"

    def _fill(self, text: str, language: str, values: Values) -> str:
        if values is None:
            return general(text, self.stand_ins, language)

        start, placeholders = _parts(text)
        filled = [start]
        for it in placeholders:
            shown = show(values[it.name], _context(it.name, values), language) if it.name in values else ""
            shown = shown or _of_terms(it.name, values, language)
            if shown.strip():
                filled += it.before, excerpt(shown) if it.is_quoted else shown, it.after, it.following
                continue
            words = missing(it.name, values, language, it.preceding)
            if it.before and it.after:
                words = (it.name in values and missing_subject(it.preceding, language)) or words
                filled += words, it.following
            else:
                filled += it.before, words, it.after, it.following
        result = "".join(filled)
        return re.sub(_REPEATED, r"\1", result) if ") (" in result else result


class _Placeholder(NamedTuple):
    """A placeholder of a text.

    Attributes:
        before, after: the quotation marks around it, each "" if there is none.
        name: of the value.
        preceding: the text before it.
        following: the text after it, up to the next placeholder.
    """

    before: str
    name: str
    after: str
    preceding: str
    following: str

    @property
    def is_quoted(self) -> bool:
        """Whether the value is between quotation marks: document text, not a list such as that of line numbers."""
        return bool(self.before and self.after) or self.preceding.rstrip().endswith("«")


@functools.lru_cache(maxsize=4096)
def _parts(text: str) -> tuple[str, tuple[_Placeholder, ...]]:
    """Return the text up to the first placeholder, and the placeholders."""
    found = list(re.finditer(_QUOTED, text))
    starts = [it.start() for it in found] + [len(text)]
    placeholders = (
        _Placeholder(it[1], it[2], it[3], text[: it.start()], text[it.end() : start])
        for it, start in zip(found, starts[1:], strict=True)
    )
    return text[: starts[0]], tuple(placeholders)


def _of_terms(name: str, values: Mapping[str, Any], language: str) -> str:
    """Return `term.name`, the name of the term in the value `term`, or `term.named`, which keeps the number too.

    `path.label` is the name of the element at the path in the value `path`.

    The value of the latter can have several terms, such as a formula. The text is "" if there is no such term.
    """
    path, _, kind = name.rpartition(".")
    stated = values.get(path)
    if kind == "name" and stated in terms():
        return name_of_term(str(stated), language)
    if kind == "label" and isinstance(stated, str):
        from einvoice.code_catalog.element_names import element_name  # few findings name elements in words

        shown = element_name(stated, language) or stated.rpartition("/")[2]
        return shown[:1].upper() + shown[1:]
    if kind != "named" or not isinstance(stated, str):
        return ""
    return _TERM.sub(lambda it: f"{name_of_term(it[0], language)} ({it[0]})" if it[0] in terms() else it[0], stated)


def _context(name: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values that decide the decimals of a value: none if it keeps its own.

    Values that are compared have the same decimals, and so has the sum of no amounts, which is 0. Values of the
    document, counts and percentages keep theirs. Amounts that are compared have two decimals where one has them.
    """
    value, expected = values[name], values.get("expected")
    if name not in _COMPARED and ("." in name or value != 0):
        return _NO_VALUES
    if isinstance(values.get("actual"), Decimal):
        both = (values["actual"], expected)
        is_amount = isinstance(expected, Decimal) and max(map(_decimals, both)) in _OF_AMOUNTS
        return _AMOUNT if is_amount else values
    if name == "expected" and isinstance(value, Decimal) and _decimals(value) in _OF_AMOUNTS:
        return _AMOUNT
    return {"actual": expected}


def _decimals(number: Decimal) -> int:
    """Return the number of decimals without trailing zeros."""
    return max(0, -int(number.normalize().as_tuple().exponent)) if number.is_finite() else 0
