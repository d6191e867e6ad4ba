"""Hypothesis strategies for mutants: an invoice with one to three edits.

Half of the mutants target a rule: an example document of the rule with edits of the elements it reads. The others are
edited anywhere. Edits imitate faulty programs: they remove, empty, pad, duplicate, move or miscalculate.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from lxml import etree

from einvoice.model.location import NAMESPACES
from einvoice.rulebook.syntax_rules.rule import Path, SyntaxRule, step
from einvoice.rulebook.syntax_rules.table import rule_table
from einvoice.syntax.writer import write
from tests.helpers.rule_sets import newest_stack
from tests.helpers.strategies import plausible_invoices

from .targets import SYNTAX, Target, targets

_PARSER = etree.XMLParser(remove_comments=True, remove_pis=True, resolve_entities=False)
_CAC, _CBC, _EXT = (f"{{{NAMESPACES[prefix]}}}" for prefix in ("cac", "cbc", "ext"))

_BLANK = ("", " ", "\n  ", "\t", "\u00a0")
_WORDS = (
    "S", "Z", "E", "AE", "K", "G", "O", "L", "M", "B", "VAT", "vat", "FC", "EUR", "USD", "XXX", "DE", "IT", "XX",
    "0", "0.00", "1", "19", "true", "false", "30", "58", "59", "380", "381", "384", "130", "50", "432", "SEPA", "EM",
    "2026-01-31", "a@b.example", "1e3",
)  # fmt: skip
_NUMBERS = ("0", "0.00", "-0.00", "1", "1.", "19", "19.00", "100.005", "1e3", "X")
_SCHEMES = ("", "XX", "0088", "0204", "EM", "SEPA", "VAT", "EUR", "USD", "STI", "C62", "application/pdf")
_STEPS = ("0.01", "-0.01", "0.99", "-0.99", "1.00", "-1.00", "1.01", "-1.01", "0.005", "-0.005", "0.1", "0.001")
_SWAPS = {
    f"{prefix}{one}": f"{prefix}{other}"
    for prefix, *names in (
        (_CAC, "InvoiceLine", "CreditNoteLine"),
        (_CAC, "SubInvoiceLine", "SubCreditNoteLine"),
        (_CBC, "InvoiceTypeCode", "CreditNoteTypeCode"),
        (_CBC, "InvoicedQuantity", "CreditedQuantity"),
    )
    for one, other in (names, names[::-1])
}


class Mutant(NamedTuple):
    """A document and the edits applied to it."""

    document: bytes
    edits: tuple[str, ...]


class _Edit(NamedTuple):
    """Context of an edit: draw function, document, candidate elements and target rule."""

    draw: DrawFn
    root: Any
    chosen: Sequence[Any]
    target: Target | None

    def one_of(self, options: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(options))

    def leaf(self) -> Any:
        return self.one_of([it for it in self.chosen if not len(it)] or self.leaves())

    def group(self) -> Any:
        """Draw a candidate group, or the group around a candidate."""
        groups = [it if len(it) else it.getparent() for it in self.chosen]
        return self.one_of([it for it in groups if it is not self.root] or self.groups()[1:] or [self.root[0]])

    def leaves(self) -> list[Any]:
        return [it for it in self.root.iter("*") if not len(it)]

    def groups(self) -> list[Any]:
        return [it for it in self.root.iter("*") if len(it)]

    def word(self) -> str:
        return str(self.one_of((*(self.target.literals if self.target else ()), *_WORDS)))


@st.composite
def mutants(draw: DrawFn, documents: tuple[bytes, ...]) -> Mutant:
    """Draw a mutant of one of ``documents``, of a rule example, or of a generated invoice."""
    target = draw(st.one_of(st.sampled_from(targets()), st.none()))
    root = etree.fromstring(draw(_bases(documents, target)), _PARSER)
    edits = tuple(_edited(draw, root, target) for _ in range(draw(st.integers(1, 3))))
    return Mutant(etree.tostring(root), edits)


def _bases(documents: tuple[bytes, ...], target: Target | None) -> st.SearchStrategy[bytes]:
    generated = plausible_invoices().map(lambda invoice: write(invoice, "Invoice"))
    examples = [st.sampled_from(target.documents)] * 2 if target else []
    return st.one_of(*examples, st.sampled_from(documents), generated)


def _edited(draw: DrawFn, root: Any, target: Target | None) -> str:
    elements = list(root.iterdescendants("*"))
    chosen = [it for it in elements if it.tag in target.tags] if target else []
    chosen = chosen or elements or [root]
    kind = draw(st.sampled_from(_EDITS))
    return f"{kind.__name__[1:]} {kind(_Edit(draw, root, chosen, target))}"


# ---------------------------------------------------------------- values


def _remove(edit: _Edit) -> str:
    return _detach(edit.leaf())


def _blank(edit: _Edit) -> str:
    leaf = edit.leaf()
    leaf.text = edit.one_of(_BLANK)
    return _name(leaf)


def _pad(edit: _Edit) -> str:
    leaf = edit.leaf()
    before, after = edit.one_of((("", " "), (" ", ""), ("\n ", "\n"), ("", "\u00a0")))
    leaf.text = f"{before}{leaf.text or ''}{after}"
    return f"{_name(leaf)}: {leaf.text!r}"


def _comment(edit: _Edit) -> str:
    leaf = edit.leaf()
    text = leaf.text or ""
    half = edit.draw(st.integers(0, len(text)))
    leaf.text, comment = text[:half], etree.Comment(" checked ")
    comment.tail = text[half:]
    leaf.append(comment)
    return f"{_name(leaf)} after {half}"


def _case(edit: _Edit) -> str:
    leaf = edit.leaf()
    leaf.text = (leaf.text or "").swapcase()
    return f"{_name(leaf)}: {leaf.text!r}"


def _word(edit: _Edit) -> str:
    leaf = edit.leaf()
    # Most texts in place of a number would abort the stylesheet.
    leaf.text = edit.word() if _decimal(leaf) is None else edit.one_of(_NUMBERS)
    return f"{_name(leaf)}: {leaf.text!r}"


def _other(edit: _Edit) -> str:
    leaf = edit.leaf()
    is_number = _decimal(leaf) is not None
    leaf.text = edit.one_of([it for it in edit.leaves() if (_decimal(it) is not None) == is_number]).text
    return f"{_name(leaf)}: {leaf.text!r}"


def _number(edit: _Edit) -> str:
    numbers = [it for it in edit.chosen if _decimal(it) is not None] or [
        it for it in edit.leaves() if _decimal(it) is not None
    ]
    if not numbers:
        return "nothing"
    leaf = edit.one_of(numbers)
    number = _decimal(leaf)
    assert number is not None
    calculate: Callable[[Decimal], object] = edit.one_of(_CALCULATIONS)
    leaf.text = str(calculate(number))
    return f"{_name(leaf)}: {number} -> {leaf.text}"


_CALCULATIONS: list[Callable[[Decimal], object]] = [
    *((lambda number, step=step: f"{number + Decimal(step):f}") for step in _STEPS),
    lambda number: f"{-number:f}",
    lambda number: f"{number:.4f}",
    lambda number: f"{number:.0f}",
    lambda number: f"+{number:f}",
]


def _decimal(element: Any) -> Decimal | None:
    try:
        number = Decimal((element.text or "").strip())
    except InvalidOperation:
        return None
    return number if not len(element) and number.is_finite() and abs(number) < 10**12 else None


def _scheme(edit: _Edit) -> str:
    leaf = edit.leaf()
    usual = ("schemeID", "listID", "currencyID", "unitCode", "mimeCode")
    name = edit.one_of((*leaf.attrib, *(edit.target.attributes if edit.target else ()), *usual))
    value = edit.one_of((None, *_SCHEMES))
    leaf.attrib.pop(name, None)
    if value is not None:
        leaf.set(name, value)
    return f"{_name(leaf)}/@{name}: {value!r}"


# ---------------------------------------------------------------- structure


def _remove_group(edit: _Edit) -> str:
    return _detach(edit.group())


def _empty_group(edit: _Edit) -> str:
    group = edit.group()
    group[:] = []
    return _name(group)


def _double(edit: _Edit) -> str:
    element = edit.one_of([edit.leaf(), edit.group()])
    element.addnext(copy.deepcopy(element))
    return _name(element)


def _copy(edit: _Edit) -> str:
    element, host = edit.one_of([edit.leaf(), edit.group()]), edit.one_of(edit.groups())
    host.insert(edit.draw(st.integers(0, len(host))), copy.deepcopy(element))
    return f"{_name(element)} into {_name(host)}"


def _move(edit: _Edit) -> str:
    element = edit.one_of([edit.leaf(), edit.group()])
    host = edit.one_of([it for it in edit.groups() if it not in {element, *element.iterdescendants()}] or [edit.root])
    host.append(element)
    return f"{_name(element)} into {_name(host)}"


def _swap(edit: _Edit) -> str:
    """Swap an element of an invoice with that of a credit note, or vice versa."""
    elements = [it for it in edit.root.iter("*") if it.tag in _SWAPS]
    if not elements:
        return "nothing"
    element = edit.one_of(elements)
    element.tag = _SWAPS[element.tag]
    return _name(element)


def _create(edit: _Edit) -> str:
    """Add an element that the rule reads."""
    tags = edit.target.tags if edit.target and edit.target.tags else [it.tag for it in edit.chosen]
    host = edit.one_of([it.getparent() for it in edit.chosen])
    element = etree.SubElement(host, edit.one_of(tags))
    element.text = edit.word() if element.tag.startswith(_CBC) else None
    return f"{_name(element)} in {_name(host)}"


def _add_checked_element(edit: _Edit) -> str:
    """Add an element that a syntax rule checks, with its parents."""
    rule: SyntaxRule = edit.one_of(_syntax_rules())
    path: Path = edit.one_of(list(rule.paths()))
    context: Path = edit.one_of(list(rule.contexts()))
    steps = [step(it).names[-1].text for it in (*context.steps, *path.steps)]
    element = edit.root
    if steps[:1] == [edit.root.tag]:
        steps = steps[1:]
    elif context.anywhere and context.steps and not path.anywhere:
        contexts = list(edit.root.iter(steps[len(context.steps) - 1]))
        element, steps = (edit.one_of(contexts), steps[len(context.steps) :]) if contexts else (element, steps)
    for number, tag in enumerate(steps, 1):
        child = element.find(tag) if number < len(steps) or path.attribute else None
        element = etree.SubElement(element, tag) if child is None else child
    if path.attribute:
        element.set(path.attribute, edit.one_of(_SCHEMES))
    return f"{rule.code}: {_name(element)}"


@functools.cache
def _syntax_rules() -> list[SyntaxRule]:
    """Return the syntax rules whose paths consist of complete names."""
    paths = {rule: [*rule.contexts(), *rule.paths()] for rule in rule_table(SYNTAX, newest_stack("en16931")).rules}
    return [
        rule
        for rule, of in paths.items()
        if not any(name.is_ending for path in of for it in path.steps for name in step(it).names)
    ]


def _extend(edit: _Edit) -> str:
    """Add content without a business term, in an extension or anywhere."""
    content = edit.one_of(edit.groups())
    wrapper = etree.Element(_EXT + "ExtensionContent")
    wrapper.append(edit.one_of([copy.deepcopy(content), etree.Element("{urn:example}Other"), etree.Element("Other")]))
    if edit.draw(st.booleans()):
        extension = etree.SubElement(etree.Element(_EXT + "UBLExtensions"), _EXT + "UBLExtension")
        extension.append(wrapper)
        edit.root.insert(0, extension.getparent())
        return "in front"
    content.append(wrapper)
    return _name(content)


_EDITS = (
    _number, _number, _number, _word, _word, _other, _remove, _blank, _pad, _case, _comment, _scheme,
    _remove_group, _empty_group, _double, _copy, _move, _swap, _create, _add_checked_element, _extend,
)  # fmt: skip


def _detach(element: Any) -> str:
    if element.getparent() is not None:
        element.getparent().remove(element)
    return _name(element)


def _name(element: Any) -> str:
    return etree.QName(element).localname
