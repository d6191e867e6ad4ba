"""What a conversion did to the terms of an invoice, from the comparison of source and target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, TypeAlias

from einvoice.comparison.compared import ComparedTerm, plain
from einvoice.comparison.content import Content, Entry
from einvoice.comparison.diff import InvoiceDiff
from einvoice.model.terms import terms

Kind: TypeAlias = Literal["lost", "changed", "joined", "moved", "omitted", "added"]

#: In the order in which they are told.
KINDS: Final[tuple[Kind, ...]] = ("lost", "changed", "joined", "moved", "omitted", "added")

_PRECEDING: Final = "BT-25"


@dataclass(frozen=True, slots=True)
class TermChange:
    """A term that is not the same after the conversion.

    Attributes:
        kind: "lost" (nowhere in the target), "changed" (another value), "joined" (several values are one), "moved"
            (the value has another term), "omitted" (another term says the same: BT-6 equal to BT-5) or "added" (the
            target requires it; calculated from other terms).
        term: its business term in the source, for an added one in the target; "" for content without a business term.
        new_term: the term that a moved value has in the target; "" otherwise.
        invoice_line: number of the invoice line (BT-126); "" outside lines.
        entries: the values in the source with their places.
        new_entry: the value in the target; None if it is lost or omitted.
    """

    kind: Kind
    term: str
    entries: tuple[Entry, ...]
    new_entry: Entry | None = None
    new_term: str = ""
    invoice_line: str = ""

    @property
    def is_loss(self) -> bool:
        """Whether the target lacks the value or its meaning.

        It is lost, replaced by another one (but for the specification), or a preceding invoice (BG-3) that the target
        has as a supporting document (BG-24).
        """
        if self.kind == "moved":
            return self.term == _PRECEDING
        return self.kind == "lost" or (self.kind == "changed" and self.term != "BT-24")

    @property
    def text(self) -> str:
        """The value in the source, several ones separated by line breaks; of an added term that in the target."""
        return "\n".join(plain(it.content) for it in self._shown)

    @property
    def new_text(self) -> str:
        """The value in the target; "" if there is none."""
        return "" if self.new_entry is None else plain(self.new_entry.content)

    @property
    def line(self) -> int | None:
        """Line of the (first) value in the source, of an added one in the target."""
        return self._shown[0].line

    @property
    def xpath(self) -> str:
        """XPath of the (first) value in the source, of an added one in the target."""
        return self._shown[0].xpath

    @property
    def name(self) -> str:
        """What tells content without a business term from other content, such as the name of its element."""
        return self._shown[0].name

    @property
    def _shown(self) -> Sequence[Entry]:
        return self.entries or [it for it in (self.new_entry,) if it]


def changes_of(diff: InvoiceDiff) -> list[TermChange]:
    """Return what happened to each term that is not the same in both documents, by kind."""
    told: set[int] = set()
    rows = diff.differences
    found = [*_taken(diff), *_joined(rows, told), *_moved(rows, told)]
    found += _rest([it for it in rows if not {id(it.entry_a), id(it.entry_b)} & told], _currency(diff))
    return sorted(found, key=lambda it: KINDS.index(it.kind))


def _currency(diff: InvoiceDiff) -> Content | None:
    return next((it.a for it in diff.terms if it.term == "BT-5"), None)


def _taken(diff: InvoiceDiff) -> Iterator[TermChange]:
    """Yield the amounts that an extension has in a group of its own, and the target in one of EN 16931."""
    for it in diff.equal:
        if it.entry_a and it.entry_b and it.entry_a.of_extension != it.entry_b.of_extension and it.term == "BT-99":
            yield TermChange("moved", it.entry_a.of_extension, (it.entry_a,), it.entry_b, "BG-21")


def _joined(rows: Iterable[ComparedTerm], told: set[int]) -> Iterator[TermChange]:
    """Yield the values that one value of the target contains, and add the `id` of each to `told`."""
    places: dict[tuple[str, str, str], list[ComparedTerm]] = {}
    for it in rows:
        if it.term:
            places.setdefault((it.group, it.invoice_line, it.term), []).append(it)
    for (_, invoice_line, term), here in places.items():
        new = [it.entry_b for it in here if it.entry_b]
        if len(new) == 1 and len(here) > 1:
            joined = _contained([it.entry_a for it in here if it.entry_a], new[0].content)
            if len(joined) > 1:
                told |= {id(it) for it in (*joined, *new)}
                yield TermChange("joined", term, tuple(joined), new[0], invoice_line=invoice_line)


def _contained(entries: Sequence[Entry], content: Content) -> list[Entry]:
    if isinstance(content, Decimal):
        numbers = [it.content for it in entries if isinstance(it.content, Decimal)]
        return list(entries) if len(numbers) == len(entries) and sum(numbers) == content else []
    return [it for it in entries if isinstance(content, str) and isinstance(it.content, str) and it.content in content]


def _moved(rows: Iterable[ComparedTerm], told: set[int]) -> Iterator[TermChange]:
    """Yield the texts that the target has under another term, and add the `id` of each to `told`."""
    targets: dict[Content, list[ComparedTerm]] = {}
    for it in rows:
        if it.status == "only_in_b" and it.term and isinstance(it.b, str):
            targets.setdefault(it.b, []).append(it)
    for old in rows:
        entry, candidates = old.entry_a, targets.get(old.a or "")
        if old.status == "only_in_a" and old.term and entry and candidates:
            new = candidates.pop()
            told |= {id(entry), id(new.entry_b)}
            if old.term != new.term:  # else the group around it was moved
                yield TermChange("moved", old.term, (entry,), new.entry_b, new.term, old.invoice_line)


def _rest(rows: Iterable[ComparedTerm], currency: Content | None) -> Iterator[TermChange]:
    for it in rows:
        kind = _kind(it, currency)
        entries = (it.entry_a,) if it.entry_a else ()
        yield TermChange(kind, it.term, entries, it.entry_b, invoice_line=it.invoice_line)


def _kind(row: ComparedTerm, currency: Content | None) -> Kind:
    if row.entry_a is None:
        return "added"
    if row.entry_b is None:
        return "omitted" if row.term == "BT-6" and row.a == currency else "lost"
    has_lost_scheme = row.a == row.b and row.entry_a.scheme and not row.entry_b.scheme
    return "lost" if has_lost_scheme and f"{row.term}-1" in terms() else "changed"
