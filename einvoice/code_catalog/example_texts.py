"""Describe examples in each language, from their changes to the base invoice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from einvoice.localization import Messages
from einvoice.model.group import Group, terms_of, types_of
from einvoice.model.invoice import Invoice
from einvoice.model.terms import name, path_of, terms
from einvoice.model.values import Binary, absent
from einvoice.quotation import quote
from einvoice.resources import RuleData
from einvoice.rulebook.files.definition import Definition
from einvoice.rulebook.files.example import Example, steps_of
from einvoice.rulebook.files.examples import base, invoice_of
from einvoice.rulebook.files.resolve import ResolvedRule

_MAX_EXAMPLES: Final = 3
"""Maximum number of example texts for a rule."""
_MAX_LENGTH: Final = 120
_CURRENCY: Final = "EUR"  # of the base invoice
_DECLARED: Final = "specification"
"""Described only if an example changes nothing else; it is set for rules of the extension."""
_STEP: Final = re.compile(r"(\w+)(?:\[(\d+)\])?")
_PRESENCE: Final = re.compile(r"\b(exists|non_blank)\b")
_TAG: Final = re.compile(r"<(/?)([\w:]+)[^<>]*?(/?)>")

_WORDS: Final = Messages("einvoice.code_catalog", "examples")

#: Names of fields that are not business terms.
_OTHERS: Final = Messages("einvoice.code_catalog", "fields")
#: Values that the texts omit: the name of the term implies them.
_IMPLIED: Final[Mapping[str, tuple[str, ...]]] = {
    "indicator": ("false", "true"),
    "scheme": ("VAT", "FC"),
    "type_code": ("130", "916"),
}


class _Inputs(NamedTuple):
    """What the example texts of a rule depend on."""

    invalid: list[Example]
    valid: list[Example]
    resolved: ResolvedRule
    base: Mapping[str, Any]


_known: Final[dict[tuple[str, str], tuple[_Inputs, dict[str, tuple[str, ...]]]]] = {}
"""By rule file and code."""


def example_texts(definition: Definition, resolved: ResolvedRule, rules: RuleData) -> dict[str, tuple[str, ...]]:
    """Return texts for the first invalid examples of a rule, by language; those with inserted elements come last.

    Unless the rule compares amounts, they also name terms of the rule that the example lacks and a valid one has.
    Examples that have not changed are described once, as each added rule set and each release has its own catalog.
    """
    home = definition.file.partition("/")[0]
    inputs = _Inputs(definition.examples("invalid"), definition.examples("valid"), resolved, base(rules, home))
    key = definition.file, definition.code
    if key not in _known or _known[key][0] != inputs:
        _known[key] = inputs, _texts(inputs, definition.file, rules)
    return dict(_known[key][1])


def _texts(inputs: _Inputs, file: str, rules: RuleData) -> dict[str, tuple[str, ...]]:
    wanted = _wanted(inputs, file, rules)
    languages = list(_WORDS.languages())
    texts: dict[str, list[str]] = {}
    for example in sorted(inputs.invalid, key=lambda example: bool(example.insert)):
        lacks: dict[str, bool | None] = {}
        if wanted:
            invoice = invoice_of(example, rules, file)
            lacks = {number: _lacks(invoice, number) for number in wanted}
        # Also a term whose group is missing, unless the example drops the group.
        lacking = [it for it in wanted if lacks[it] or (lacks[it] is None and it == wanted[0] and not example.drop)]
        translations = [_Writer(language, inputs.base).of(example, lacking) for language in languages]
        if all(translations) and len(texts) < _MAX_EXAMPLES:
            texts.setdefault(translations[0], translations)
    return {language: tuple(it[number] for it in texts.values()) for number, language in enumerate(languages)}


def _wanted(inputs: _Inputs, file: str, rules: RuleData) -> list[str]:
    """Return the leading term and, for a rule about presence, the other terms, if a valid example has them."""
    resolved = inputs.resolved
    if "expected" in resolved.let:
        return []
    asked = " ".join((*resolved.let.values(), resolved.when, resolved.assertion))
    others = [it for it in resolved.terms[1:] if it.startswith("BT-")] if _PRESENCE.search(asked) else []
    kept = [invoice_of(example, rules, file) for example in inputs.valid]
    return [it for it in (*resolved.terms[:1], *others) if any(_lacks(invoice, it) is False for invoice in kept)]


def _lacks(invoice: Invoice, number: str) -> bool | None:
    """Return whether a group that can have the term lacks it; None if there is no such group."""
    *parents, last = path_of(number).split(".")
    owners: list[Any] = [invoice]
    for step in parents:
        owners = [it for owner in owners for it in _each(getattr(owner, step, absent))]
    return any(not _each(getattr(owner, last, absent)) for owner in owners) if owners else None


def _each(content: Any) -> list[Any]:
    if isinstance(content, list | tuple):
        return list(content)
    return [] if content is absent else [content]


class _Writer:
    """Describes examples in one language."""

    def __init__(self, language: str, base: Mapping[str, Any]) -> None:
        self._language = language
        self._base = base
        self._words = _WORDS[language]
        self._others = _OTHERS[language]

    def of(self, example: Example, lacking: list[str]) -> str:
        parts = [*self._set(example), *self._inserted(example)]
        named = "; ".join(parts)
        missing = [*self._dropped(example), *(self._term(it) for it in lacking if f"({it})" not in named)]
        if missing:
            parts.append(self._words["missing"].format(labels=", ".join(dict.fromkeys(missing))))
        if not parts and _DECLARED in example.changes:
            parts = self._content(Invoice, _DECLARED, (), example.changes[_DECLARED])
        return "; ".join(parts)

    def _term(self, number: str) -> str:
        return f"{name(number, self._language)} ({number})"

    def _dropped(self, example: Example) -> Iterator[str]:
        """Yield the terms that the example removes from the base invoice."""
        for path in example.drop:
            if _has(self._base, path, example.file) and not any(other.startswith(path) for other in example.changes):
                cls, field, around, _, _ = self._follow(path, None)
                yield self._label(field, _numbers(cls, field, around, None), around)

    def _set(self, example: Example) -> Iterator[str]:
        for path, content in example.changes.items():
            if path == _DECLARED:
                continue
            cls, field, around, index, place = self._follow(path, content)
            yield from (f"{place}{text}" for text in self._content(cls, field, around, content, index))

    def _inserted(self, example: Example) -> Iterator[str]:
        """Yield the names of inserted elements, in the first syntax that has any."""
        for path, xml in next(iter(example.insert.values()), {}).items():
            place = path.strip("/").partition("[")[0].rpartition("/")[2]
            place = self._words["document"] if place in ("", "*", ".") else place
            yield self._words["inserted"].format(place=place, elements=", ".join(_outermost(xml)))

    def _follow(self, path: str, content: Any) -> tuple[type[Any], str, tuple[str, ...], int, str]:
        """Return the end of a path: class, field, parent groups, index, and the text for its location."""
        cls: type[Any] = Invoice
        around: tuple[str, ...] = ()
        place = ""
        *way, (last, last_index) = [(field, int(index or 0)) for field, index in _STEP.findall(path)]
        for field, index in way:
            numbers = _numbers(cls, field, around, content)
            place = "".join(f"{it}: " for it in self._counted(numbers, index)) or place
            around = (*around, *numbers)
            cls, _ = types_of(cls)[field]
        return cls, last, around, last_index, place

    def _content(self, cls: type[Any], field: str, around: tuple[str, ...], content: Any, index: int = 0) -> list[str]:
        if isinstance(content, list):
            return [text for place, it in enumerate(content) for text in self._content(cls, field, around, it, place)]
        numbers = _numbers(cls, field, around, content)
        kind, _ = types_of(cls)[field]
        if not issubclass(kind, Group):
            said = self._value(content, kind)
            if not numbers and content in _IMPLIED.get(field, ()):
                return []
            return [f"{self._label(field, numbers, around)}: {said}"]
        if not content:
            return [self._words["nothing"].format(label=self._label(field, numbers, around))]
        if kind is cls:  # a sub-line
            around, index = (*around, *numbers), index or -1
        below = [text for name, it in content.items() for text in self._content(kind, name, (*around, *numbers), it)]
        return [f"{place}: {', '.join(below)}" for place in self._counted(numbers, index)] or below

    def _counted(self, numbers: tuple[str, ...], index: int) -> list[str]:
        """Return the name of a group that is not the first; a sub-line (-1) is always named."""
        if not index or not numbers:
            return []
        if not numbers[0].startswith("BG-"):
            return [self._words["also"]]
        group = name(numbers[0], self._language)
        return [self._words["ordinal"].format(group=group, number=index + 1) if index > 0 else group]

    def _label(self, field: str, numbers: tuple[str, ...], around: tuple[str, ...]) -> str:
        if numbers:
            return self._term(numbers[0])
        label = self._others.get(field, field)
        return f"{label} ({name(around[-1], self._language)})" if around else label

    def _value(self, content: Any, kind: type[Any]) -> str:
        beside = {key: it for key, it in content.items() if key != "raw"} if isinstance(content, dict) else {}
        raw = content["raw"] if isinstance(content, dict) else content
        said = self._text(raw)
        if "currencyID" in beside:
            said += f" {beside.pop('currencyID')}"
        around = ", ".join(f"{key} {self._text(it)}" for key, it in beside.items())
        if issubclass(kind, Binary):
            return around or said
        return f"{said} ({around})" if around else said

    def _text(self, raw: str) -> str:
        if not raw.strip():
            return self._words["blank" if raw else "empty"]
        shown = quote(raw, limit=_MAX_LENGTH)
        return self._words["quoted"].format(text=shown) if raw != raw.strip() or " " in raw else shown


def _has(content: Any, path: str, file: str) -> bool:
    for step in steps_of(path, file):
        if step not in (content if isinstance(content, dict) else range(len(content))):
            return False
        content = content[step]
    return True


def _numbers(cls: type[Any], field: str, around: tuple[str, ...], content: Any) -> tuple[str, ...]:
    """Return the business term or group of a field; if there are several, the content decides."""
    of_each = terms_of(cls, field)
    mine = [number for group, number in zip(cls.groups, of_each, strict=False) if group in around]
    numbers = tuple(filter(None, mine[:1] if len(of_each) == len(cls.groups) > 1 and mine else of_each))
    if len(numbers) < 2:
        return numbers
    same = tuple(it for it in numbers if it in around)
    at_home = same or tuple(it for it in numbers if terms()[it].parent in (around or ("",)))
    if not at_home and around:
        return ()  # a term of another group that shares the class, such as the VAT of an allowance on a line
    return (at_home or numbers)[-1 if _is_the_other(content) else 0 :][:1]


def _is_the_other(content: Any) -> bool:
    """Return whether it is a charge, a tax number, or an amount in the accounting currency."""
    if not isinstance(content, dict):
        return False
    amount = content.get("amount", content)
    foreign = isinstance(amount, dict) and amount.get("currencyID", _CURRENCY) != _CURRENCY
    return content.get("indicator") in ("true", "1") or content.get("scheme") == "FC" or foreign


def _outermost(xml: str) -> Iterator[str]:
    """Yield the names of the outermost elements of a fragment."""
    depth = 0
    for closing, tag, empty in _TAG.findall(xml):
        if not closing and depth == 0:
            yield tag
        depth += -1 if closing else 0 if empty else 1
