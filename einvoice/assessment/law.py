"""The VAT law of a country as data: `rules/vat-*/law.toml` and `cases.toml`, which describe their keys."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from einvoice import cache
from einvoice.localization import Language, choose
from einvoice.model.terms import leading
from einvoice.resources import RuleData, rules_folder, shipped

if TYPE_CHECKING:
    from einvoice.code_catalog import CatalogEntry
    from einvoice.result import Finding

FORMAT: Final = "format"
CONTENT: Final = "content"
BUSINESS_RULE: Final = "business_rule"
BY_TERM: Final = "by_term"
NOT_AN_ERROR: Final = "severity"
UNCLEAR: Final = "item_unclear"
_WRONG: Final = "item_wrong"
STATES: Final = ("item_missing", "item_incomplete", _WRONG, UNCLEAR)
"""What can be wrong with an item of the law, in the order of texts."""
_FILE: Final = "law.toml"
_CASES: Final = "cases.toml"


class Classification(NamedTuple):
    """The class of an error, or why it has none.

    Attributes:
        error_class: "format", "content", "business_rule", or "" for none.
        item: the item of the law that the error affects, by language; empty for none.
        source: where the law requires the item; "" for none.
        contested: why another class is possible, by language; empty if the class is not contested.
        other_classes: the classes that are possible, too; empty if the class is not contested.
        reason: why there is no class, by language; empty if there is one.
    """

    error_class: str
    item: Mapping[Language, str] = {}
    source: str = ""
    contested: Mapping[Language, str] = {}
    other_classes: tuple[str, ...] = ()
    reason: Mapping[Language, str] = {}


class Law:
    """The VAT law of a country.

    Attributes:
        folder: folder of the data.
        country: ISO 3166 code, such as "DE".
        not_invoice: names of the Factur-X profiles that are no e-invoices.
        retention: years for which an invoice is kept, from the end of the year of issue.
        follows: what follows for a document that is no e-invoice; the first table that applies.
        steps: topics of what the recipient has to do, in their order.
        questions: facts about what is no error, about which the letter asks.
        fact_codes: patterns of the codes of findings that make a fact, by its name.
    """

    def __init__(self, folder: Path) -> None:
        self._data = cache.toml(folder / _FILE)
        self.folder = folder
        self.country: str = self._data["country"]
        self.not_invoice: Sequence[str] = self._data["not_invoice"]
        self.retention: int = self._data["retention"]
        self.follows: Sequence[Mapping[str, Any]] = self._data["follows"]
        cases = cache.toml(folder / _CASES)
        self.steps: Sequence[str] = cases["steps"]
        self.fact_codes: Mapping[str, Sequence[str]] = cases["facts"]
        self._states: Mapping[str, Sequence[str]] = cases["states"]
        self._report: Mapping[Language, Mapping[str, str]] = cases["report"]
        self.questions: Sequence[str] = cases["questions"]
        self._cases: Sequence[Mapping[str, Any]] = cases["cases"]

    @property
    def rulesets(self) -> Mapping[str, Path]:
        """The rule sets with the items that the law requires and EN 16931 does not, by name."""
        return {name: self.folder / name for name in self._data["rulesets"]}

    def text(self, key: str, lang: Language) -> str:
        """Return a text of the table `texts`."""
        texts: dict[Language, str] = {tag: table[key] for tag, table in self._data["texts"].items() if key in table}
        return choose(texts, lang)

    def question(self, code: str, lang: Language) -> str:
        """Return what the letter asks about findings with a code that are no errors; "" for nothing."""
        fact = next((it for it in self.questions if matches(self.fact_codes.get(it, ()), code)), None)
        return self.case(f"question_{fact}", frozenset(), lang) if fact else ""

    def state(self, finding: Finding) -> str:
        """Return what a finding says of the item of the law that it is about: one of `STATES`."""
        name = f"{finding.code} {finding.situation}"
        stated = str(finding.values.get("actual", finding.values.get("found", ""))).strip()
        known = next((state for state, codes in self._states.items() if matches(codes, name)), _WRONG)
        return UNCLEAR if known == _WRONG and not stated else known

    def item_name(self, finding: Finding, lang: Language) -> str:
        """Return the name of the item of the law that a missing item is about, with its source; else its title."""
        items, term = self._data["items"], leading(finding.terms)
        item = next((it for it in items if term in it["terms"] or finding.code in it.get("codes", ())), None)
        return f"{choose(item['name'], lang)} ({item['source']})" if item else finding.title(lang)

    def report_words(self, lang: Language) -> Mapping[str, str]:
        """Return the labels of a validation report for a recipient, by their key."""
        return choose(self._report, lang)

    def case(self, topic: str, facts: AbstractSet[str], lang: Language) -> str:
        """Return the text of the first case of a topic that the facts meet; "" for none."""
        found = next((it for it in self._cases if it["topic"] == topic and _meets(it, facts)), None)
        return choose(found["text"], lang) if found else ""

    def class_name(self, error_class: str, lang: Language) -> str:
        """Return the name of a class."""
        names: dict[Language, str] = self._data["classes"][error_class]["name"]
        return choose(names, lang)

    def meaning(self, error_class: str, lang: Language) -> str:
        """Return the definition of a class and what follows."""
        meanings: dict[Language, str] = self._data["classes"][error_class]["meaning"]
        return choose(meanings, lang)

    def basis(self, error_class: str) -> str:
        """Return where a class is defined."""
        basis: str = self._data["classes"][error_class]["basis"]
        return basis

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, the gravest first."""
        return tuple(self._data["classes"])

    def classify(
        self, code: str, layer: str, severity: str, terms: Iterable[str], exceptions: AbstractSet[str] = frozenset()
    ) -> Classification:
        """Return the class of a finding or of a catalog entry, which depends on its code, layer and leading term.

        Args:
            code: of the finding or entry.
            layer: its layer.
            severity: its severity.
            terms: its business terms, the leading one first.
            exceptions: keys of `follows` for which the law may require less; by default none.
        """
        term = next(iter(terms), "")
        row = next(it for it in self._data["codes"] if _is_about(it, layer, code, term))
        if "none" in row:
            return Classification("", reason=self._data["none"][row["none"]])
        if severity != "fatal":
            return Classification("", reason=self._data["none"][NOT_AN_ERROR])
        item = self._item(row, term)
        is_exempt = item is not None and item.get("unless") in exceptions
        item = None if is_exempt else item
        name = (CONTENT if item else BUSINESS_RULE) if row["class"] == BY_TERM or is_exempt else row["class"]
        known = Classification(name, item["name"], item["source"]) if item else Classification(name)
        if "contested" not in row:
            return known
        contested = self._data["contested"][row["contested"]]
        return known._replace(contested=contested["text"], other_classes=tuple(contested["other_classes"]))

    def _item(self, row: Mapping[str, Any], term: str) -> Mapping[str, Any] | None:
        """Return the item of the law that errors of a table of `codes` with this leading term affect."""
        items: Sequence[Mapping[str, Any]] = self._data["items"]
        if row["class"] == BY_TERM:
            return next((it for it in items if term in it["terms"]), None)
        return next((it for it in items if it["key"] == row.get("item")), None)

    def classify_entry(self, entry: CatalogEntry) -> Classification:
        """Return the class of errors with the code of a catalog entry."""
        return self.classify(entry.code, entry.layer, entry.severity, entry.terms)

    def describe(self, known: Classification, lang: Language) -> str:
        """Return a class with its basis, the item that it affects and whether it is contested, or why there is none."""
        if known.reason:
            return choose(known.reason, lang)
        remarks = [choose(known.item, lang)] if known.item else []
        remarks += [self.text("contested", lang), self.possible(known, lang)] if known.contested else []
        return "; ".join((f"{self.class_name(known.error_class, lang)} ({self.basis(known.error_class)})", *remarks))

    def possible(self, known: Classification, lang: Language) -> str:
        """Return which other classes are possible, in words."""
        names = ", ".join(self.class_name(name, lang) for name in known.other_classes)
        return self.text("possible", lang).format(classes=names)

    def __repr__(self) -> str:
        return f"<Law {self.country}>"


def matches(patterns: Iterable[str], text: str) -> bool:
    """Return whether a text matches one of several patterns with *."""
    return any(fnmatchcase(text, pattern) for pattern in patterns)


def _is_about(row: Mapping[str, Any], layer: str, code: str, term: str) -> bool:
    """Return whether a table of `codes` is about this layer, code and leading term."""
    has_term = "leading" not in row or term in row["leading"]
    return has_term and matches(row["layers"], layer) and matches(row["codes"], code)


def _meets(case: Mapping[str, Any], facts: AbstractSet[str]) -> bool:
    one_of, needed, without = (frozenset(case.get(key, ())) for key in ("any", "all", "without"))
    return needed <= facts and without.isdisjoint(facts) and (not one_of or not one_of.isdisjoint(facts))


@functools.cache
def laws() -> Mapping[str, Law]:
    """Return the laws by country."""
    known = (Law(path.parent) for path in sorted(rules_folder().glob(f"vat-*/{_FILE}")))
    return {law.country: law for law in known}


def law(country: str) -> Law:
    """Return the law of a country, such as "de"; raise `ValueError` listing the known ones for another."""
    known = laws()
    if country.upper() not in known:
        names = " or ".join(repr(name.lower()) for name in known)
        raise ValueError(f"argument 'law' must be {names}, not {country!r}")
    return known[country.upper()]


def with_items(law: Law, data: RuleData | None) -> RuleData:
    """Return rule data with the rule sets of a law."""
    return _with_items(law, data or shipped())


@functools.lru_cache(maxsize=8)
def _with_items(law: Law, data: RuleData) -> RuleData:
    return RuleData(data.root, {**data.added, **law.rulesets})
