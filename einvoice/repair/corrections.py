"""What to correct where the numbers of an invoice contradict each other: the text of a finding about arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

from einvoice.causes.cause import missing_amount
from einvoice.causes.change import Step, capitalized, clauses
from einvoice.editing.content import is_within
from einvoice.localization import Language, Messages
from einvoice.model.calculation import IN_CODES, rule_in_table
from einvoice.model.invoice import Invoice
from einvoice.model.values import absent
from einvoice.reconciliation.amounts import key_of
from einvoice.reconciliation.categories import Misplaced, entry_key, lacking_in_entries, misplaced
from einvoice.reconciliation.equations import place_of
from einvoice.reconciliation.hypotheses import Hypothesis
from einvoice.repair.case import Case, decimal_text
from einvoice.repair.proposal import Proposal
from einvoice.repair.proposals import vat
from einvoice.repair.proposals.amounts import proposal_of
from einvoice.repair.proposals.split_breakdown import combined, split_entries
from einvoice.repair.steps import Steps, all_lines
from einvoice.resources import shipped

_TEXTS: Final = Messages("einvoice.causes", "causes")
_MIN_FACTS: Final = 2
"""How many contradictions a correction has to resolve; one alone says only that one of several numbers is wrong."""
_MAX_CHOICES: Final = 3
_TAX_AMOUNT: Final = "BR-CO-17"
_OF_TAXABLE_AMOUNT: Final = "-08"
"""End of the codes of the rules that add the items of a category, such as BR-S-08."""
_WITHOUT_RATE: Final = "O"
_ENDS: Final = ".?"


class Corrections:
    """The corrections of one invoice.

    Args:
        invoice: the invoice.
    """

    def __init__(self, invoice: Invoice) -> None:
        root = invoice.node.getroottree().getroot()
        self._case = Case(b"", root, invoice, (), {}, shipped())
        self._steps = Steps(self._case)
        self._clauses: dict[tuple[Hypothesis, Language], str] = {}

    def text(self, code: str, node: Any, lang: Language) -> str:
        """Return what to correct because of the finding of a rule at an element; "" if that is not proven."""
        if steps := self._category(code, node) or self._entries(code, node):
            return _TEXTS[lang]["sentence"].format(text=capitalized(clauses(steps, lang)))
        explanation = next((it for it in self._proven() if self._is_about(it[0], code, node)), ())
        if not explanation:
            return self._likely(code, node, lang)
        stated = [it for it in explanation if not it.missing] or explanation
        texts = list(dict.fromkeys(self._text(it, node, lang) for it in stated))
        if not texts or "" in texts:
            return ""
        words = _TEXTS[lang]
        if len(texts) == 1 and texts[0][-1] in _ENDS:
            if not stated[0].missing:
                return texts[0]
            return words["add_to_line" if all_lines(self._case, [node]) else "add"].format(text=texts[0])
        return words["sentence"].format(text=capitalized(words["or"].join(it.rstrip(_ENDS) for it in texts)))

    def _category(self, code: str, node: Any) -> tuple[Step, ...]:
        """Return the steps that correct a VAT category and rate, if the rule is about it or the one that is right."""
        if self._misplaced is None:
            return ()
        taxes, *keys = self._misplaced
        if any(is_within(node, it.node) and entry_key(it) not in keys for it in self._case.invoice.vat_breakdown):
            return ()
        if not any(f"-{IN_CODES.get(category, '?')}-" in code for category, _ in keys) and code != _TAX_AMOUNT:
            return ()
        category, rate = keys[1]
        pair = category, "" if category == _WITHOUT_RATE else decimal_text(rate)
        found = [proposal for tax in taxes for proposal in vat.proposal_of(self._case, tax, pair)]
        edits = tuple(edit for it in found for edit in it.edits)
        terms = tuple(term for it in found for term in it.terms)
        return self._steps.of(Proposal(edits, terms=terms)) if len(found) == len(taxes) else ()

    def _entries(self, code: str, node: Any) -> tuple[Step, ...]:
        """Return the step that makes one entry of the breakdown of several, if the rule is about the amount of one."""
        if not code.endswith(_OF_TAXABLE_AMOUNT):
            return ()
        invoice = self._case.invoice
        for rows in split_entries(invoice):
            if any(is_within(node, it.node) for it in rows) and lacking_in_entries(invoice).get(key_of(rows[0])) == 0:
                return next((self._steps.of(it) for it in combined(self._case, rows)), ())
        return ()

    @cached_property
    def _misplaced(self) -> Misplaced | None:
        return misplaced(self._case.invoice)

    def _likely(self, code: str, node: Any, lang: Language) -> str:
        """Return which number is probably wrong: one alone, by a slip, whose result agrees with the other numbers."""
        for first, *others in self._case.hypotheses.explanations:
            is_slip = first.weight == 1 and not first.prior and len(first.values) == 1
            if not is_slip or not all(it.missing for it in others):
                continue
            ((operand, _),) = first.values
            if operand.number is not None and operand.value.node is not node and self._is_about(first, code, node):
                proposal = proposal_of(self._case, first)
                text = clauses(self._steps.of(proposal), lang, "cause") if proposal else ""
                return _TEXTS[lang]["likely"].format(text=text) if text else ""
        return ""

    def _proven(self) -> Iterator[tuple[Hypothesis, ...]]:
        """Yield the explanations by values that are stated; a missing one has a finding of its own.

        None that resolves a contradiction only together with another one that is not proven.
        """
        doubtful: set[Any] = set()
        for it in self._case.hypotheses.explanations:
            first, solved = it[0], (self._case.hypotheses.calculations[index] for index in it[0].solved)
            is_stated = all(operand.value is not absent and operand.value.filled for operand, _ in first.values)
            around = {place_of(operand) for each in solved for operand in (each.result, *each.operands)}
            is_proven = first.weight >= _MIN_FACTS and doubtful.isdisjoint(around)
            if is_proven and is_stated and len(it) <= _MAX_CHOICES:
                yield it
            elif not is_proven:
                doubtful |= {place_of(operand) for operand, _ in first.values}

    def _is_about(self, hypothesis: Hypothesis, code: str, node: Any) -> bool:
        invoice, code = self._case.invoice, rule_in_table(code)
        if any(operand.value.node is node for operand, _ in hypothesis.values):
            return True
        places = (place for known, place in self._case.hypotheses.rules(hypothesis) if known == code)
        return any(it is invoice or (it.node is not None and is_within(node, it.node)) for it in places)

    def _text(self, hypothesis: Hypothesis, node: Any, lang: Language) -> str:
        if hypothesis.includes_vat:
            return _TEXTS[lang]["exclude_vat"]
        if hypothesis.missing:
            lines = all_lines(self._case, [node])
            return missing_amount(hypothesis.missing, hypothesis.summands[0].amount, lines, lang)
        key = hypothesis, lang
        if key not in self._clauses:
            proposal = proposal_of(self._case, hypothesis)
            self._clauses[key] = clauses(self._steps.of(proposal), lang) if proposal else ""
        return self._clauses[key]
