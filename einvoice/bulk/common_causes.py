"""Causes that many invoices share: which changes of an export would mend most of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, overload

from einvoice.bulk.cause_record import Edit, Edits, FileCause, FileCauses
from einvoice.bulk.labels import whole
from einvoice.bulk.stored_findings import entry_of
from einvoice.causes.change import Step
from einvoice.code_catalog import CatalogEntry, entry
from einvoice.localization import Language, Messages
from einvoice.localization.options import language
from einvoice.render.tables import require_pandas
from einvoice.render.text import capitalize

if TYPE_CHECKING:
    import pandas as pd

TEXTS: Final = Messages("einvoice.bulk", "causes")
_WITH_VALUE: Final = ("set", "rename", "namespace")
TOP: Final = 10
"""Number of causes that displays show."""
_COUNTS: Final = ("invoices", "findings", "explains_errors", "valid")


@dataclass(frozen=True, slots=True)
class CommonCause:
    """A cause of findings in several invoices: the same change, whatever the values.

    Attributes:
        name: names of the edits, such as "set BT-116"; "|" separates alternatives. Without a known change, the code of
            the gravest finding.
        alternatives: the edits of each possible change, with the texts that are the same in all invoices.
        codes: codes of the findings, the most frequent first.
        files: names of the files with this cause.
        findings: number of findings that it explains.
        explains_errors: number of files all of whose errors it explains.
        valid: number of files that are valid with the change alone: the changed documents were validated.
        is_question: whether, in one of the files at least, only the issuer can know which change is right, or whether
            the only one is.
        entry: catalog entry of the gravest finding.
        lang: default language of the texts.
    """

    name: str
    alternatives: tuple[Edits, ...]
    codes: tuple[str, ...]
    files: tuple[str, ...]
    findings: int
    explains_errors: int
    valid: int
    is_question: bool
    entry: CatalogEntry
    lang: Language = "de"

    @property
    def terms(self) -> tuple[str, ...]:
        """Business terms that the changes concern; without a known change, those of the gravest finding."""
        changed = dict.fromkeys(edit.term for edits in self.alternatives for edit in edits if edit.term)
        return tuple(changed) if self.alternatives else tuple(self.entry.terms)

    def text(self, lang: Language | None = None) -> str:
        """Return what to change; without a known change, what is wrong."""
        used = language(lang or self.lang)
        words = TEXTS[used]
        if not self.alternatives:
            return words["unknown"].format(title=self.entry.title(used))
        return capitalize(words["or"].join(words["and"].join(_clauses(edits, used)) for edits in self.alternatives))

    def __str__(self) -> str:
        return self.text()


def _clauses(edits: Edits, lang: Language) -> Iterator[str]:
    """Yield the edits as clauses, those of one kind without values as one, with the texts that all invoices have."""
    corrected = [edit for edit in edits if edit.kind in _WITH_VALUE and edit.after is None]
    if corrected:
        places = [_step(edit).place(lang) for edit in corrected]
        yield TEXTS[lang]["set"].format(place=", ".join(places))
    yield from (_clause(edit, lang) for edit in edits if edit not in corrected)


def _step(edit: Edit) -> Step:
    return Step(edit.kind, edit.term, edit.element, (), edit.before or "", edit.after or "")


def _clause(edit: Edit, lang: Language) -> str:
    words = TEXTS[lang]
    step = _step(edit)
    if edit.kind == "set" and edit.before is None:
        return words["set_to"].format(place=step.place(lang), after=step.after)
    if edit.kind in ("add", "fill") and edit.after is None:
        return words[edit.kind].format(place=step.place(lang))
    return step.text(lang)


class CommonCauses(Sequence[CommonCause]):
    """The causes of the findings of many files: first those that explain all errors of the most files.

    Attributes:
        files: number of files that were examined.
        invalid: number of invalid files.
        solvable: number of examined files all of whose errors the first ten causes explain.
        incomplete: number of examined files in which the search ended at a limit of time or of validations, so that
            other changes may resolve more findings.
        lang: default language of the texts.
    """

    def __init__(
        self,
        causes: Sequence[CommonCause],
        *,
        files: int,
        invalid: int,
        solvable: int,
        incomplete: int = 0,
        lang: Language = "de",
    ) -> None:
        self._causes = tuple(causes)
        self.files = files
        self.invalid = invalid
        self.solvable = solvable
        self.incomplete = incomplete
        self.lang: Language = lang

    @classmethod
    def of(
        cls,
        found: Iterable[tuple[str, FileCauses]],
        records: Iterable[Mapping[str, Any]],
        *,
        lang: Language = "de",
    ) -> CommonCauses:
        """Return the causes of files.

        Args:
            found: name and causes of each examined file.
            records: the records of all files, for the descriptions of findings.
            lang: default language of the texts.
        """
        listed = list(records)
        order = {record["file"]: number for number, record in reversed(list(enumerate(listed)))}
        by_file = dict(sorted(found, key=lambda it: order[it[0]]))
        groups: dict[str, list[tuple[str, FileCause]]] = {}
        for file, of_file in by_file.items():
            for cause in of_file.causes:
                groups.setdefault(cause.name, []).append((file, cause))
        entries, invalid = _entries(listed)
        common = [_common(members, entries, lang) for members in groups.values()]
        with_errors = {name: sum(it.errors > 0 for _, it in members) for name, members in groups.items()}
        common.sort(key=lambda it: (-it.explains_errors, -with_errors[it.name], -len(it.files), it.name))
        top = {it.name for it in common[:TOP]}
        solvable = sum(_is_solvable(it.causes, top) for it in by_file.values())
        incomplete = sum(it.is_limited for it in by_file.values())
        return cls(common, files=len(by_file), invalid=invalid, solvable=solvable, incomplete=incomplete, lang=lang)

    @overload
    def __getitem__(self, key: int | str) -> CommonCause: ...
    @overload
    def __getitem__(self, key: slice) -> CommonCauses: ...
    def __getitem__(self, key: int | str | slice) -> CommonCause | CommonCauses:
        if isinstance(key, slice):
            return CommonCauses(
                self._causes[key],
                files=self.files,
                invalid=self.invalid,
                solvable=self.solvable,
                incomplete=self.incomplete,
                lang=self.lang,
            )
        if isinstance(key, str):
            found = next((it for it in self._causes if it.name == key), None)
            if found is None:
                raise KeyError(key)
            return found
        return self._causes[key]

    def __len__(self) -> int:
        return len(self._causes)

    def __repr__(self) -> str:
        return f"<CommonCauses: {len(self)} causes in {self.files} of {self.invalid} invalid files>"

    def __str__(self) -> str:
        return _table(self, self.lang)

    def _repr_html_(self) -> str:
        from einvoice.bulk.common_causes_html import common_causes_html

        return common_causes_html(self, self.lang)

    def to_frame(self, *, lang: Language | None = None) -> pd.DataFrame:
        """Return a pandas table, one row per cause.

        Columns: `cause` (the name, as `CommonCauses` and the filter of the widget accept it), `change`, `terms`,
        `codes` (text), `is_question` (bool), `invoices`, `findings`, `explains_errors`, `valid` (Int64; see
        `CommonCause`), `example` (name of a file).

        Raises:
            ImportError: pandas is not installed (extra "notebook").
        """
        require_pandas()
        import pandas as pd

        used = language(lang or self.lang)
        columns: dict[str, list[Any]] = {
            "cause": [it.name for it in self],
            "change": [it.text(used) for it in self],
            "terms": [" ".join(it.terms) for it in self],
            "codes": [" ".join(it.codes) for it in self],
            "is_question": [it.is_question for it in self],
            "invoices": [len(it.files) for it in self],
            "findings": [it.findings for it in self],
            "explains_errors": [it.explains_errors for it in self],
            "valid": [it.valid for it in self],
            "example": [it.files[0] for it in self],
        }
        types = {name: "Int64" if name in _COUNTS else "string" for name in columns} | {"is_question": "bool"}
        return pd.DataFrame(columns).astype(types)


def _common(
    members: Sequence[tuple[str, FileCause]], entries: Mapping[str, CatalogEntry], lang: Language
) -> CommonCause:
    """Return what the causes of this name have in common, by file."""
    causes = [cause for _, cause in members]
    codes = Counter(code for cause in causes for code in cause.codes)
    alternatives = causes[0].alternatives
    for cause in causes[1:]:
        pairs = zip(alternatives, cause.alternatives, strict=True)
        alternatives = tuple(tuple(map(Edit.merged, mine, other)) for mine, other in pairs)
    gravest = causes[0].codes[0]
    return CommonCause(
        name=causes[0].name,
        alternatives=alternatives,
        codes=tuple(code for code, _ in codes.most_common()),
        files=tuple(file for file, _ in members),
        findings=sum(it.findings for it in causes),
        explains_errors=sum(it.explains_errors for it in causes),
        valid=sum(it.is_proven for it in causes),
        is_question=any(it.is_question for it in causes),
        entry=entries.get(gravest) or entry(gravest),
        lang=lang,
    )


def _entries(records: Iterable[Mapping[str, Any]]) -> tuple[dict[str, CatalogEntry], int]:
    """Return the catalog entries of all findings, by code, and the number of invalid files."""
    entries: dict[str, CatalogEntry] = {}
    invalid = 0
    for record in records:
        invalid += record["verdict"] == "invalid"
        for stored in record.get("findings", ()):
            if stored["code"] not in entries:
                entries[stored["code"]] = entry_of(stored)
    return entries, invalid


def _is_solvable(causes: Sequence[FileCause], names: Collection[str]) -> bool:
    """Return whether a file has errors, and causes of these names explain all of them."""
    with_errors = [it for it in causes if it.errors]
    return bool(with_errors) and all(it.name in names for it in with_errors)


def lines(causes: CommonCauses, lang: Language) -> list[str]:
    """Return what holds for all causes: how many files were examined, what the first causes explain, and in how many
    files the search ended at a limit."""
    words = TEXTS[lang]
    numbers = {"files": whole(causes.files, lang), "invalid": whole(causes.invalid, lang)}
    examined = "examined_one" if causes.files == 1 else "examined"
    found = [words[examined if causes.files == causes.invalid else "sample"].format(**numbers)]
    if causes:
        count, solvable = min(TOP, len(causes)), whole(causes.solvable, lang)
        found.append(words[_solved(causes, count)].format(count=count, solvable=solvable, **numbers))
    if causes.incomplete:
        key = "incomplete_one" if causes.incomplete == 1 else "incomplete"
        found.append(words[key].format(count=whole(causes.incomplete, lang)))
    return found


def _solved(causes: CommonCauses, count: int) -> str:
    """Return the key of the sentence about the invoices whose errors the first causes explain."""
    if causes.files == 1:
        return "explained" if causes.solvable else "not_explained"
    return "solvable_one" if count == 1 else "solvable"


def _table(causes: CommonCauses, lang: Language) -> str:
    """Return a table of the first causes for a terminal."""
    words = TEXTS[lang]
    heads = [words[key] for key in COLUMNS]
    rows = [cells(it, lang) for it in causes[:TOP]]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)][:-1]
    table = [
        "  ".join([*(cell.rjust(width) for cell, width in zip(row, widths, strict=False)), row[-1]])
        for row in ([heads, *rows] if rows else [])
    ]
    omitted = [words["more"].format(count=whole(len(causes) - TOP, lang))] if len(causes) > TOP else []
    return "\n".join([*lines(causes, lang), *table, *omitted])


COLUMNS: Final = ("invoices", "findings", "valid", "cause")
"""Labels of the columns that displays show."""


def cells(cause: CommonCause, lang: Language) -> list[str]:
    """Return the cells of a cause by `COLUMNS`; without a known change, nothing is known about valid files."""
    valid = whole(cause.valid, lang) if cause.alternatives else "–"
    return [whole(len(cause.files), lang), whole(cause.findings, lang), valid, cause.text(lang)]
