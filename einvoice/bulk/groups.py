"""Results by seller, folder, month or another fact: share of invalid files and the amounts at stake."""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from einvoice.bulk.labels import GROUP_LABELS, VERDICT_LABELS, whole
from einvoice.bulk.patterns import check
from einvoice.bulk.plot import MAX_BARS, MAX_NAME, Chart
from einvoice.bulk.record import FileResult
from einvoice.localization import Language
from einvoice.localization.formatting import format_number
from einvoice.quotation import quote
from einvoice.render import tables
from einvoice.render.html import STYLE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

By: TypeAlias = str | Callable[[FileResult], str]

FACTS: Final = ("seller", "buyer", "software", "folder", "month", "currency", "type", "syntax", "profile", "ruleset")
"""Facts of a file by which results can be grouped."""
_COLUMNS: Final = ("files", "invalid", "unreadable", "invalid_share", "currency", "amount_at_stake")
_KINDS: Final = {
    **dict.fromkeys(("files", "invalid", "unreadable"), "integer"),
    **dict.fromkeys(("invalid_share", "amount_at_stake"), "amount"),
    "currency": "category",
}
_MAX_SHOWN: Final = 20
_MAX_NAME: Final = 60


class Group(NamedTuple):
    """The files with the same fact.

    Attributes:
        name: the fact; "" if the files do not state it.
        files, invalid, unreadable: number of all, invalid and unreadable files.
        at_stake: gross amount of the invalid files by currency, that of credit notes negative.
    """

    name: str
    files: int
    invalid: int
    unreadable: int
    at_stake: dict[str, Decimal]

    @property
    def invalid_share(self) -> Decimal:
        """Percentage of the files that are invalid or unreadable, with one decimal."""
        return (Decimal(100) * (self.invalid + self.unreadable) / self.files).quantize(Decimal("0.1"))


@dataclass(frozen=True, slots=True, repr=False)
class Groups:
    """Results by a fact, those with the most invalid files first; months in their order.

    Attributes:
        by: the fact.
        groups: the groups.
        lang: default language of the texts.
    """

    by: str
    groups: tuple[Group, ...]
    lang: Language

    def __iter__(self) -> Iterator[Group]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def to_frame(self, *, amounts: tables.Amounts = "decimal") -> pd.DataFrame:
        """Return a pandas table, one row per group and currency.

        Columns: the fact (string), `files`, `invalid`, `unreadable` (Int64), `invalid_share` (percent of the files that
        are invalid or unreadable), `currency` (category) and `amount_at_stake`, the gross amount of the invalid files.

        Raises:
            ImportError: pandas is not installed (extra "notebook").
        """
        rows = (
            (it.name, it.files, it.invalid, it.unreadable, it.invalid_share, currency, amount)
            for it in self.groups
            for currency, amount in it.at_stake.items() or [("", None)]
        )
        return tables.frame((self.by, *_COLUMNS), rows, amounts, {**_KINDS, self.by: "text"})

    def plot(self, *, axes: Axes | None = None) -> Axes:
        """Draw the valid, invalid and unreadable files of each group with matplotlib: at most 20 groups.

        They are those with the most invalid files, or the latest months.

        Args:
            axes: where to draw (default: a new figure).

        Raises:
            ImportError: matplotlib is not installed (extra "notebook").
        """
        labels, is_time = GROUP_LABELS[self.lang], self.by == "month"
        shown = self.groups[-MAX_BARS:] if is_time else self.groups[:MAX_BARS]
        parts = {
            "invalid": [it.invalid for it in shown],
            "unreadable": [it.unreadable for it in shown],
            "valid": [it.files - it.invalid - it.unreadable for it in shown],
        }
        names = [quote(it.name, limit=MAX_NAME) or self._unnamed(self.lang) for it in shown]
        name = labels.get(self.by, self.by)
        return Chart(names, parts, VERDICT_LABELS[self.lang], name, labels["files"], upright=is_time).draw(axes)

    def cells(self, lang: Language) -> tuple[list[str], list[list[str]]]:
        """Return the headings and the rows as texts, those that a display shows."""
        labels = GROUP_LABELS[lang]
        heads = [labels.get(self.by, self.by), labels["files"], VERDICT_LABELS[lang]["invalid"]]
        heads += [VERDICT_LABELS[lang]["unreadable"], labels["share"], labels["at_stake"]]
        rows = [
            [
                quote(it.name, limit=_MAX_NAME) or self._unnamed(lang),
                *(whole(number, lang) for number in (it.files, it.invalid, it.unreadable)),
                f"{format_number(it.invalid_share, lang, decimals=1)} %",
                ", ".join(f"{format_number(sum_, lang, decimals=2)} {name}" for name, sum_ in it.at_stake.items()),
            ]
            for it in self.groups[:_MAX_SHOWN]
        ]
        return heads, rows

    def _unnamed(self, lang: Language) -> str:
        """Return the label of the files that do not state the fact."""
        return GROUP_LABELS[lang]["unknown" if self.by == "software" else "missing"]

    def _omitted(self) -> str:
        omitted = len(self.groups) - _MAX_SHOWN
        return f"… + {whole(omitted, self.lang)}" if omitted > 0 else ""

    def __str__(self) -> str:
        heads, rows = self.cells(self.lang)
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        lines = []
        for first, *others in (heads, *rows):
            cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
            lines.append("  ".join((first.ljust(widths[0]), *cells)).rstrip())
        return "\n".join(filter(None, (*lines, self._omitted())))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        heads, rows = self.cells(self.lang)
        head = "".join(f'<th scope="col">{escape(it)}</th>' for it in heads)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        omitted = f"<p>{self._omitted()}</p>" if self._omitted() else ""
        return (
            f'<div class="einvoice" lang="{self.lang}"><style>{STYLE}</style>'
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{omitted}</div>"
        )


def grouped(files: Iterable[FileResult], by: By, lang: Language) -> Groups:
    """Return the results of files by a fact; see `ResultSet.summary`.

    Raises:
        ValueError: the fact is unknown.
    """
    name, key = _key(by)
    verdicts: dict[str, Counter[str]] = defaultdict(Counter)
    at_stake: dict[str, dict[str, Decimal]] = defaultdict(dict)
    for file in files:
        group = key(file)
        verdicts[group][file.verdict] += 1
        if file.verdict == "invalid" and (amount := file.signed_gross) is not None:
            sums = at_stake[group]
            sums[file.currency] = sums.get(file.currency, Decimal(0)) + amount
    groups = [
        Group(it, counts.total(), counts["invalid"], counts["unreadable"], at_stake[it])
        for it, counts in verdicts.items()
    ]
    groups.sort(key=lambda it: it.name)
    if name != "month":
        groups.sort(key=lambda it: (-it.invalid - it.unreadable, -it.files))
    return Groups(name, tuple(groups), lang)


def _key(by: By) -> tuple[str, Callable[[FileResult], str]]:
    if callable(by):
        return "group", lambda file: str(by(file))
    check("fact", by, FACTS)
    return by, operator.attrgetter(by)
