"""Describes the edits of a change: which business term, element or attribute each of them changes, in which lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from einvoice.causes.change import MAX_QUOTED, Content, Row, Step
from einvoice.editing.content import content_of, is_copy, is_within
from einvoice.editing.edits import (
    Edit,
    Insert,
    Move,
    Remove,
    RemoveAttribute,
    Rename,
    RenameAttribute,
    SetAttribute,
    SetNamespace,
    SetText,
)  # fmt: skip
from einvoice.editing.finder import Finder
from einvoice.model.calculation import round2
from einvoice.model.iteration import repeats
from einvoice.model.location import AMBIGUOUS, labelled
from einvoice.model.terms import term, terms
from einvoice.model.values import Amount, absent
from einvoice.quotation import quote
from einvoice.reconciliation.amounts import category_of
from einvoice.repair.case import Case, plain_path
from einvoice.repair.proposal import AddGroup, Combine, MoveElement, Proposal, Swap, Withdraw
from einvoice.syntax.paths import path_of, term_of_attribute
from einvoice.validation.element_terms import terms_of_elements

_INDICATOR: Final = "ChargeIndicator"


class Steps:
    """Describes the edits of changes of one document.

    Args:
        case: the document.
    """

    def __init__(self, case: Case) -> None:
        self._case = case
        self._finder = Finder(case.root)

    def of(self, proposal: Proposal) -> tuple[Step, ...]:
        """Return the steps of a change; the same edit in several lines is one step."""
        groups: dict[Step, tuple[list[str], list[Row]]] = {}
        for step in self._of(proposal):
            lines, rows = groups.setdefault(replace(step, lines=(), rows=()), ([], []))
            lines += step.lines
            rows += step.rows
        return tuple(
            replace(step, lines=self._in_order(lines), rows=tuple(sorted({*rows}, key=rows.index)))
            for step, (lines, rows) in groups.items()
        )

    def _in_order(self, lines: Iterable[str]) -> tuple[str, ...]:
        """Return the identifiers of lines, each once, in the order of the document."""
        return tuple(sorted({*lines}, key=lambda it: self._positions.get(it, 0)))

    @cached_property
    def _positions(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for position, line in enumerate(self._case.invoice.lines):
            found.setdefault(next(iter(lines_of(self._case, line.node)), ""), position)
        return found

    def place(self, proposal: Proposal) -> Any:
        """Return the element that a change edits first, or that it moves."""
        match proposal.action:
            case MoveElement(xpath):
                return self._element(Remove(xpath))
            case _:
                return self._element(proposal.edits[0])

    def _of(self, proposal: Proposal) -> Iterator[Step]:
        edits, terms = proposal.edits, proposal.terms
        match proposal.action:
            case MoveElement(xpath):
                element = self._element(Remove(xpath))
                yield Step("move", next(iter(terms), ""), _label(element), lines_of(self._case, element))
            case Swap():  # the same two values in each of several lines
                for at in range(0, len(edits), 2):
                    yield self._swap(edits[at : at + 2], terms)
            case AddGroup(group):
                further = "further" if self._has(group) else ""
                yield Step("whole", group, "", reason=further, contents=self._contents(proposal))
            case Combine(count):
                yield Step("combine", terms[0], "", before=str(count), contents=self._combined(proposal))
            case _:
                yield from self._of_edits(proposal)

    def _of_edits(self, proposal: Proposal) -> Iterator[Step]:
        edits, terms = proposal.edits, proposal.terms
        repeats = bool(terms) and len(edits) % len(terms) == 0
        for number, edit in enumerate(edits):
            term = terms[number % len(terms)] if repeats else ""
            if term or not any(terms) or not isinstance(edit, Insert):  # such as the scheme beside a VAT category
                rows = self._rows(self._element(edit))
                yield from (replace(step, rows=rows) for step in self._step(edit, term, proposal))

    def _swap(self, edits: Sequence[Edit], terms: Sequence[str]) -> Step:
        first, second = (self._element(edit) for edit in edits)
        texts = (first.text or "").strip(), (second.text or "").strip()
        lines, rows = lines_of(self._case, first), self._rows(first)
        return Step("swap", terms[0], _label(first), lines, *texts, other=terms[1], rows=rows)

    def _rows(self, element: Any) -> tuple[Row, ...]:
        """Return the VAT breakdown around an element, if there are several."""
        if len(self._breakdowns) < 2:
            return ()
        return next(
            ((self._breakdowns[it],) for it in (element, *element.iterancestors()) if it in self._breakdowns), ()
        )

    def _rows_with(self, element: Any) -> tuple[Row, ...]:
        """Return the VAT breakdowns that have an element with the same content, if it is in one of them."""
        if not self._rows(element):
            return ()
        content = content_of(element)
        like = [it for it in self._case.root.iter(element.tag) if content_of(it) == content]
        return tuple(dict.fromkeys(row for it in like for row in self._rows(it)))

    @cached_property
    def _breakdowns(self) -> dict[Any, Row]:
        """The VAT breakdowns by element."""
        found: dict[Any, Row] = {}
        for position, vat in enumerate(self._case.invoice.vat_breakdown, 1):
            category, rate = category_of(vat)
            found[vat.node] = Row(position, quoted(category), None if rate is absent else rate)
        return found

    def _step(self, edit: Edit, term: str, proposal: Proposal) -> Iterator[Step]:
        element = self._element(edit)
        lines = lines_of(self._case, element)
        match edit:
            case Insert() if edit.path[0].endswith(_INDICATOR) and element in self._items:
                yield _marking(self._items[element], edit.path[0], lines, "", edit.text)
            case Insert():
                yield Step("add", term, _added_label(edit.path), lines, "", edit.text)
                yield from _attributes(edit, term, lines)
            case Remove():
                term, text = self._removed(element, term), (element.text or "").strip()
                same: tuple[Row, ...] = ()
                reason = self._surplus(element, term)
                if isinstance(proposal.action, Withdraw) and proposal.action.is_stated_twice:
                    term, text, reason = proposal.terms[0], " ".join(" ".join(element.itertext()).split()), "same"
                    same = self._rows_with(element)
                yield Step("remove", term, _label(element), lines, text, reason=reason, same=same)
            case RemoveAttribute():
                text = element.get(edit.name, "")
                yield Step("remove", self._of_attribute(element, edit.name), _label(element, edit.name), lines, text)
            case Rename():
                yield Step("rename", "", _label(element), lines, _written(element), edit.name)
            case RenameAttribute():
                yield Step("rename", "", _label(element, edit.name), lines, edit.name, edit.new)
            case SetNamespace():
                before = element.nsmap.get(edit.prefix or None, "")
                yield Step("namespace", "", quoted(edit.prefix), (), before, edit.uri)
            case Move():
                yield Step("move", term, _label(element), lines)
            case SetAttribute():
                before, label = element.get(edit.name, ""), _label(element, edit.name)
                own = term if proposal.turned else self._of_attribute(element, edit.name) or term
                yield Step("set" if before else "add", own, label, lines, before, edit.value)
            case _:
                before = element.text or ""
                if (item := self._marked.get(element)) is not None:
                    yield _marking(item, _label(element), lines, before, edit.text)
                    return
                reason = "gross" if self._includes_vat(element, edit.text) else ""
                kind = "set" if before.strip() else "fill"
                yield Step(kind, term, _label(element), lines, before, edit.text, reason=reason)

    def _includes_vat(self, element: Any, net: str) -> bool:
        """Return whether the net amount of a line is, to the cent, a changed one plus the VAT of the line."""
        line, amount = self._case.line_of(element), Amount(net).number
        if line is None or line.net_amount.node is not element or amount is absent:
            return False
        rates = [tax.rate.number for tax in line.taxes if tax.rate.number is not absent and tax.rate.number > 0]
        gross = [round2(amount * (100 + rate) / 100) for rate in rates]
        return gross == [line.net_amount.number]

    def _has(self, group: str) -> bool:
        """Return whether the invoice has a group of this kind, of which it can have several."""
        return term(group).cardinality.endswith("n") and any(
            term(it.number).parent == group for it in self._case.values if it.number
        )

    def _contents(self, proposal: Proposal) -> tuple[Content, ...]:
        """Return the terms of each added group with their texts; those outside of a numbered group come last."""
        found: dict[str, list[tuple[str, str]]] = {}
        for edit in proposal.edits:
            if not isinstance(edit, Insert):
                continue
            path = "/".join((edit.parent, *edit.path))
            if number := self._by_path.get(plain_path(path)):
                group = next((it for it in edit.path if it.endswith("]")), "")
                found.setdefault(group, []).append((number, edit.text))
        return tuple(tuple(found[group]) for group in sorted(found, key=lambda it: not it))

    def _combined(self, proposal: Proposal) -> tuple[Content, ...]:
        """Return the terms of the group that others are combined with, with their texts after the edits."""
        texts = {self._element(it): it.text for it in proposal.edits if isinstance(it, SetText)}
        group = next(iter(texts)).getparent()
        values = [it for it in self._case.values if it.number and is_within(it.value.node, group)]
        stated = [(it.number, texts.get(it.value.node, it.value.text)) for it in values]
        return ((*stated, *(it for added in self._contents(proposal) for it in added)),)

    @cached_property
    def _by_path(self) -> dict[str, str]:
        """The terms by the paths of their elements."""
        numbers = [number for number in terms() if number.startswith("BT-")]
        return {plain_path(path_of(number, self._case.syntax)): number for number in reversed(numbers)}

    def _element(self, edit: Edit) -> Any:
        path = edit.parent if isinstance(edit, Insert) else edit.xpath
        return self._finder.find(path)[0]

    def _removed(self, element: Any, term: str) -> str:
        """Return the term or group that an element is; "" if it is only a part of one, or none."""
        numbers = self._numbers(element)
        return term if term in numbers or self._repeats(element, term) else next(iter(numbers), "")

    def _numbers(self, element: Any) -> list[str]:
        """Return the terms and groups that an element is, or that the only element in it is, such as a date in CII."""
        leaf = element
        while len(leaf) == 1 and isinstance(leaf[0].tag, str):
            leaf = leaf[0]
        numbers = [it.number for it in self._case.by_element.get(leaf, ()) if not it.value.attribute]
        return [*numbers, *self._terms.get(element, ())]

    def _repeats(self, element: Any, number: str) -> bool:
        """Return whether an element is a further occurrence of a term or group that may be given once."""
        if number not in terms() or not terms()[number].cardinality.endswith("1"):
            return False
        like = element.itersiblings(element.tag, preceding=True)
        if not repeats(terms()[number]):  # the tax point date of CII stands in several groups
            like = (it for it in self._case.root.iter(element.tag) if it is not element)
        return any(number in self._numbers(it) for it in like)

    def _surplus(self, element: Any, number: str) -> str:
        """Return why an element is removed, if it says so itself: "empty" or "repeated"."""
        if not "".join(element.itertext("*")).strip():
            return "empty"
        known = self._case.by_element.get(element, ())
        is_further = any(it.value is not getattr(it.group, it.field) for it in known)
        is_further = is_further or is_copy(element) or self._is_further_row(element)
        return "repeated" if is_further or self._repeats(element, number) else ""

    def _is_further_row(self, element: Any) -> bool:
        """Return whether an element is a VAT breakdown of a category and rate, or a line of a number, as one before."""
        rows = [(vat.node, category_of(vat)) for vat in self._case.invoice.vat_breakdown]
        lines = [(line.node, line.identifier.text) for line in self._case.invoice.lines]
        known: set[Any] = set()
        for node, key in (*rows, *lines):
            if node is element:
                return key in known
            known.add(key)
        return False

    @cached_property
    def _items(self) -> dict[Any, Any]:
        """The allowances and charges of the invoice and its lines that have an amount, by their element."""
        invoice = self._case.invoice
        groups = (invoice.allowances_and_charges, *(line.allowances_and_charges for line in invoice.lines))
        return {it.node: it for group in groups for it in group if it.amount.text}

    @cached_property
    def _marked(self) -> dict[Any, Any]:
        """The same by their charge indicator."""
        return {it.indicator.node: it for it in self._items.values() if it.indicator is not absent}

    def _of_attribute(self, element: Any, attribute: str) -> str:
        """Return the term that an attribute is, otherwise that of its element; "" if there is neither."""
        known = self._case.by_element.get(element, ())
        owners = [it.number for it in known if not it.value.attribute]
        own = [it.number for it in known if it.value.attribute == attribute]
        own += [term_of_attribute(number, attribute) for number in owners]
        return next(filter(None, (*own, *owners)), "")

    @cached_property
    def _terms(self) -> dict[Any, tuple[str, ...]]:
        return terms_of_elements(self._case.invoice)


def _attributes(edit: Insert, term: str, lines: tuple[str, ...]) -> Iterator[Step]:
    """Yield a step for each attribute of a new element that is a term, such as the unit of a quantity."""
    for attribute, text in edit.attributes.items():
        if number := term_of_attribute(term, attribute):
            yield Step("add", number, f"{edit.path[-1]}/@{attribute}", lines, "", text)


def _marking(item: Any, label: str, lines: tuple[str, ...], before: str, after: str) -> Step:
    """Return the step that makes an allowance a charge, a charge an allowance, or says which of both something is."""
    stated = (("amount", item.amount), ("reason", item.reason))
    content = tuple((name, quoted(value.text)) for name, value in stated if value.text)
    becomes = "charge" if after in ("true", "1") else "allowance"
    becomes = becomes if item.is_charge or item.is_allowance else f"unmarked_{becomes}"
    return Step("set", "", label, lines, before, after, becomes, (content,))


def lines_of(case: Case, element: Any) -> tuple[str, ...]:
    """Return the identifier of the invoice line around an element; empty outside of lines."""
    line = case.line_of(element)
    if line is None:
        return ()
    return (quoted(str(line.identifier)) or str(_position(line.node)),)


def all_lines(case: Case, elements: Sequence[Any]) -> tuple[str, ...]:
    """Return the identifiers of the invoice lines around elements, each once."""
    return tuple(dict.fromkeys(line for it in elements if it is not None for line in lines_of(case, it)))


def _position(element: Any) -> int:
    return 1 + sum(1 for _ in element.itersiblings(element.tag, preceding=True))


def quoted(text: str) -> str:
    """Return an identifier or a name, shortened."""
    return quote(text, limit=MAX_QUOTED)


def _label(element: Any, attribute: str = "") -> str:
    """Return the name of an element, or of one of its attributes, as texts quote it."""
    label = "/".join(map(quoted, labelled(element)))
    return f"{label}/@{quoted(attribute)}" if attribute else label


def _added_label(path: Sequence[str]) -> str:
    """Return the name of an element that is added, with that of its parent if its own one says nothing."""
    return "/".join(path[-2:] if path[-1].partition(":")[2] in AMBIGUOUS else path[-1:])


def _written(element: Any) -> str:
    """Return the name as in the document, with its prefix."""
    local = element.tag.rpartition("}")[2]
    return f"{element.prefix}:{local}" if element.prefix else local
