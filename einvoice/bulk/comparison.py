"""Comparison of two result sets."""

from __future__ import annotations

import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, overload

from einvoice.bulk.files.names import leading_folders
from einvoice.bulk.labels import LABELS, VERDICT_LABELS, validated_with, whole
from einvoice.bulk.record import Verdict
from einvoice.bulk.stored_findings import FindingTexts, restored
from einvoice.localization.formatting import with_colon
from einvoice.model.terms import bt_field
from einvoice.quotation import quote
from einvoice.render import tables
from einvoice.render.text import finding_line
from einvoice.result.finding import Finding
from einvoice.result.languages import Language

if TYPE_CHECKING:
    import pandas as pd

_MAX_LISTED: Final = 20
_MAX_NAME: Final = 120
_FINDING_KINDS: Final = ("fixed", "new", "unchanged")
_FRAME_KINDS: Final = {
    **{name: tables.KINDS[name] for name in ("code", "severity", "layer", "bt_field", "line")},
    "change": _FINDING_KINDS,
    "file": "category",
}
MARKS: Final = {"new": "✗", "fixed": "✓"}


class Change(NamedTuple):
    """A finding in a file."""

    file: str
    finding: Finding


class Changes(Sequence[Change]):
    """Changes of one kind, which are made from the stored results when they are read.

    Memory: 16 bytes per change.
    """

    def __init__(self, lines: Sequence[bytes], lang: Language) -> None:
        self._lines = lines
        self._lang: Language = lang
        self._records = array("q")
        self._findings = array("q")
        self._files: dict[int, str] = {}  # names of files that are called differently now, by position

    def add(self, record: int, findings: Iterable[int], file: str) -> None:
        """Append findings of a record, by their positions; `file` is the name of the file."""
        before = len(self._findings)
        self._findings.extend(findings)
        self._records.extend([record] * (len(self._findings) - before))
        self._files[record] = file

    def stored(self) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
        """Yield the name of the file, the stored finding, and the record of the file of each change."""
        return map(self._stored, range(len(self)))

    def _stored(self, position: int) -> tuple[str, Mapping[str, Any], Mapping[str, Any]]:
        number = self._records[position]
        known, record = self._last
        if known != number:
            record = json.loads(self._lines[number])
            self._last = number, record
        return self._files[number], record["findings"][self._findings[position]], record

    _last: tuple[int, Mapping[str, Any]] = (-1, {})

    def files(self) -> Iterable[str]:
        """Return the names of the files, each once, in the order of the changes."""
        return [self._files[record] for record in dict.fromkeys(self._records)]

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, key: int) -> Change: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[Change]: ...
    def __getitem__(self, key: int | slice) -> Change | Sequence[Change]:
        positions = range(len(self))[key]
        if isinstance(positions, range):
            return tuple(self[position] for position in positions)
        file, finding, record = self._stored(positions)
        return Change(file, restored(finding, record, self._lang))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Changes: {len(self)}>"


class RuleCount(NamedTuple):
    """The changes of one rule: code, severity, number of findings and of their files, and the first of the changes."""

    code: str
    severity: str
    findings: int
    files: int
    example: Change


class ChangedVerdict(NamedTuple):
    """A file whose verdict changed."""

    file: str
    before: Verdict
    after: Verdict


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """The changes between two result sets; true if there are any.

    Attributes:
        fixed: findings that disappeared from files in both sets.
        new: new findings, including those in added files.
        unchanged: findings in both sets.
        changed_verdicts: files whose verdict changed.
        missing, added: names of removed and added files.
        lang: default language of the texts.
        settings: settings that differ between the runs: name in `ResultSet.settings`, value before, value after.
        rulesets_before, rulesets_after: releases that validated the files, as in `FileResult.ruleset`; the one of most
            files first.
    """

    fixed: Changes
    new: Changes
    unchanged: Changes
    changed_verdicts: tuple[ChangedVerdict, ...]
    missing: tuple[str, ...]
    added: tuple[str, ...]
    lang: Language = "de"
    settings: tuple[tuple[str, Any, Any], ...] = ()
    rulesets_before: tuple[str, ...] = ()
    rulesets_after: tuple[str, ...] = ()

    @property
    def better(self) -> tuple[str, ...]:
        """Names of the files in both sets with fixed findings and no new one."""
        return self._files(self.fixed, without=self.new)

    @property
    def worse(self) -> tuple[str, ...]:
        """Names of the files in both sets with new findings and no fixed one."""
        return self._files(self.new, without=self.fixed)

    @property
    def both(self) -> tuple[str, ...]:
        """Names of the files with fixed and new findings."""
        fixed = set(self.fixed.files())
        return tuple(name for name in self.new.files() if name in fixed)

    def _files(self, changes: Changes, *, without: Changes) -> tuple[str, ...]:
        others = {*self.added, *without.files()}
        return tuple(name for name in changes.files() if name not in others)

    def by_rule(self, kind: Literal["new", "fixed", "unchanged"]) -> tuple[RuleCount, ...]:
        """Return the findings of a kind by code and severity, most findings first.

        Raises:
            ValueError: the kind is unknown.
        """
        if kind not in ("new", "fixed", "unchanged"):
            raise ValueError(f"argument 'kind' must be 'new', 'fixed' or 'unchanged', not {kind!r}")
        changes: Changes = getattr(self, kind)
        findings: Counter[tuple[str, str]] = Counter()
        files: dict[tuple[str, str], set[str]] = defaultdict(set)
        examples: dict[tuple[str, str], int] = {}
        for position, (file, finding, _) in enumerate(changes.stored()):
            key = finding["code"], finding["severity"]
            findings[key] += 1
            files[key].add(file)
            examples.setdefault(key, position)
        counts = (RuleCount(*key, it, len(files[key]), changes[examples[key]]) for key, it in findings.items())
        return tuple(sorted(counts, key=lambda it: (-it.findings, it.code)))

    def message(self, lang: Language | None = None) -> str:
        """Return in one line whether the later results are better, with the number of findings and files."""
        language = lang or self.lang
        labels = LABELS[language]
        outcome = {(True, False): "improved", (False, True): "deteriorated", (True, True): "mixed"}
        return labels["message"].format(
            outcome=labels[outcome.get((bool(self.fixed), bool(self.new)), "same")],
            **{kind: count_label(self, kind, language) for kind in ("fixed", "new")},
            **{kind: whole(len(getattr(self, kind)), language) for kind in ("better", "worse", "both")},
        )

    def __bool__(self) -> bool:
        return any((self.fixed, self.new, self.changed_verdicts, self.missing, self.added))

    def to_frame(self, *, lang: Language | None = None) -> pd.DataFrame:
        """Return a pandas table, one row per finding.

        Columns: `change` ("fixed", "new" or "unchanged"; category), `file`, `code`, `severity`, `layer`, `bt_field`
        (categories), `line` (Int64), `title`, `xpath`.

        Raises:
            ImportError: pandas is not installed (extra "notebook").
        """
        columns = ("change", "file", "code", "severity", "layer", "bt_field", "line", "title", "xpath")
        return tables.frame(columns, self._rows(lang or self.lang), "decimal", _FRAME_KINDS)

    def _rows(self, lang: Language) -> Iterator[tuple[Any, ...]]:
        texts = FindingTexts(["title"], lang)
        for kind in _FINDING_KINDS:
            changes: Changes = getattr(self, kind)
            for file, finding, record in changes.stored():
                of_rule = (finding["code"], finding["severity"], finding["layer"], bt_field(finding.get("terms", ())))
                (title,) = texts.of(finding, record)
                yield kind, file, *of_rule, finding.get("line"), title, finding.get("xpath", "")

    def to_text(self, lang: Language | None = None) -> str:
        """Return the changes by kind; only the first of each kind are listed."""
        language = lang or self.lang
        labels = LABELS[language]
        parts = [self.message(language), rulesets_line(self, language), _counts(labels, self, language)]
        parts += settings_lines(self, language)
        verdicts = [changed_verdict(it, language) for it in self.changed_verdicts]
        parts += _section(labels["changed_verdicts"], verdicts, language)
        kinds: tuple[Literal["new", "fixed"], ...] = ("new", "fixed")
        for kind in kinds:
            changes = [_change_line(it, language) for it in getattr(self, kind)]
            rules = [_rule_line(it, language) for it in self.by_rule(kind)]
            parts += _section(f"{MARKS[kind]} {labels[kind]}", changes, language, rules)
        for names in ("missing", "added"):
            listed = [quote(name, limit=_MAX_NAME) for name in getattr(self, names)]
            parts += _section(labels[names], listed, language)
        return "\n".join(parts)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        kinds = ("fixed", "new", "unchanged", "changed_verdicts", "missing", "added")
        counts = (f"{len(getattr(self, kind))} {kind.replace('_', ' ')}" for kind in kinds)
        return f"<Comparison: {', '.join(counts)}>"

    def _repr_html_(self) -> str:
        from einvoice.bulk.html import comparison_html

        return comparison_html(self, self.lang)


class _File(NamedTuple):
    """What a comparison keeps of the record of a file.

    Attributes:
        position: of the record.
        file: the name of the file.
        verdict: its verdict.
        findings: a hash of each finding: of code, severity and location.
    """

    position: int
    file: str
    verdict: Verdict
    findings: array[int]


def compare(
    before: Sequence[bytes],
    after: Sequence[bytes],
    by: str,
    *,
    lang: Language,
    settings: Iterable[tuple[str, Any, Any]] = (),
) -> Comparison:
    """Return the changes from one list of encoded records to another; see `ResultSet.compare`."""
    if by not in ("file", "number"):
        raise ValueError(f"argument 'by' must be 'file' or 'number', not {by!r}")
    rulesets_before: Counter[str] = Counter()
    rulesets_after: Counter[str] = Counter()
    old, new = _grouped(before, by, rulesets_before), _grouped(after, by, rulesets_after)
    if by == "file":
        old, new = _without_folders(old, new), _without_folders(new, old)
    fixed, added, unchanged = Changes(before, lang), Changes(after, lang), Changes(after, lang)
    changed_verdicts: list[ChangedVerdict] = []
    for key, files in new.items():
        for previous, current in _pairs(old.get(key, []), files):
            removed, introduced, common = _changes(previous, current)
            added.add(current.position, introduced, current.file)
            unchanged.add(current.position, common, current.file)
            if previous is not None:
                fixed.add(previous.position, removed, current.file)
                if previous.verdict != current.verdict:
                    changed_verdicts.append(ChangedVerdict(current.file, previous.verdict, current.verdict))
    return Comparison(
        fixed,
        added,
        unchanged,
        tuple(changed_verdicts),
        tuple(_surplus(old, new)),
        tuple(_surplus(new, old)),
        lang,
        tuple(settings),
        tuple(name for name, _ in rulesets_before.most_common() if name),
        tuple(name for name, _ in rulesets_after.most_common() if name),
    )


_Grouped = Mapping[Hashable, Sequence[_File]]


def _without_folders(files: _Grouped, others: _Grouped) -> _Grouped:
    """Return the files without the folders that start all of their names, if `others` are named without them."""
    length = len(leading_folders([str(name) for name in files], [str(name) for name in others]))
    return {str(name)[length:]: group for name, group in files.items()} if length else files


def _grouped(lines: Iterable[bytes], by: str, rulesets: Counter[str]) -> _Grouped:
    """Return the files by filename, or by seller and invoice number; keys may repeat. Count the rule sets."""
    groups: dict[Hashable, list[_File]] = defaultdict(list)
    for position, line in enumerate(lines):
        record = json.loads(line)
        number, name = record.get("number", ""), record["file"]
        is_numbered = by == "number" and number
        seller = record.get("seller_vat") or record.get("seller", "")
        findings = array("q", [hash(_key(it)) for it in record.get("findings", ())])
        groups[(seller, number) if is_numbered else name].append(_File(position, name, record["verdict"], findings))
        rulesets[record.get("ruleset", "")] += 1
    return groups


def _pairs(old: Sequence[_File], new: Sequence[_File]) -> Iterator[tuple[_File | None, _File]]:
    for index, file in enumerate(new):
        yield (old[index] if index < len(old) else None), file


def _surplus(files: _Grouped, other: _Grouped) -> Iterator[str]:
    """Yield the names of files without a counterpart."""
    for key, group in files.items():
        yield from (file.file for file in group[len(other.get(key, ())) :])


def _changes(previous: _File | None, current: _File) -> tuple[list[int], list[int], list[int]]:
    """Return the positions of removed, introduced and unchanged findings."""
    unmatched = Counter(previous.findings) if previous else Counter()
    introduced, unchanged = [], []
    for position, key in enumerate(current.findings):
        if unmatched[key] > 0:
            unmatched[key] -= 1
            unchanged.append(position)
        else:
            introduced.append(position)
    removed = []
    for position, key in enumerate(previous.findings if previous else ()):
        if unmatched[key] > 0:
            unmatched[key] -= 1
            removed.append(position)
    return removed, introduced, unchanged


def _key(finding: Mapping[str, Any]) -> tuple[str, str, str]:
    return finding["code"], finding["severity"], finding.get("xpath", "")


def _counts(labels: Mapping[str, str], comparison: Comparison, lang: Language) -> str:
    counts = [
        with_colon(labels[kind], lang, len(getattr(comparison, kind)))
        for kind in ("unchanged", "changed_verdicts", "missing", "added")
    ]
    return "; ".join(counts)


def count_label(comparison: Comparison, kind: Literal["new", "fixed"], lang: Language) -> str:
    """Return the number of new or fixed findings: "2 fixed"."""
    return LABELS[lang][f"{kind}_count"].format(count=whole(len(getattr(comparison, kind)), lang))


def rulesets_line(comparison: Comparison, lang: Language) -> str:
    """Return the releases that validated the files: "Validated with …", and those before if they differ."""
    validated = validated_with(comparison.rulesets_after, lang)
    if set(comparison.rulesets_before) == set(comparison.rulesets_after):
        return validated
    labels = LABELS[lang]
    before = ", ".join(comparison.rulesets_before) or labels["no_ruleset"]
    return labels["before_with"].format(validated=validated, before=before)


def settings_lines(comparison: Comparison, lang: Language) -> list[str]:
    """Return one line listing the settings that differ, or no line if all are the same."""
    settings = ", ".join(
        f"{quote(name)} {quote(str(before or '–'))} → {quote(str(after or '–'))}"
        for name, before, after in comparison.settings
    )
    return [with_colon(LABELS[lang]["settings"], lang, settings)] if settings else []


def _section(title: str, entries: Sequence[str], lang: Language, rules: Sequence[str] = ()) -> list[str]:
    """Return a title with the number of entries, the counts by rule, and the first entries."""
    if not entries:
        return []
    return ["", with_colon(title, lang, len(entries)), *_listed(rules), *_listed(entries)]


def _listed(entries: Sequence[str]) -> list[str]:
    omitted = len(entries) - _MAX_LISTED
    rest = [f"  … + {omitted}"] if omitted > 0 else []
    return [*(f"  {entry}" for entry in entries[:_MAX_LISTED]), *rest]


def _rule_line(rule: RuleCount, lang: Language) -> str:
    return f"{rule.code}  {in_files(rule, lang)}  {rule.example.finding.entry.title(lang)}"


def in_files(rule: RuleCount, lang: Language) -> str:
    """Return the number of findings and files of a rule: "3 in 2 files"."""
    labels = LABELS[lang]
    files = f"{whole(rule.files, lang)} {labels['file' if rule.files == 1 else 'files']}"
    return labels["in_files"].format(findings=whole(rule.findings, lang), files=files)


def changed_verdict(change: ChangedVerdict, lang: Language, limit: int = _MAX_NAME) -> str:
    """Return one line: "invoice.xml: valid → not valid"."""
    labels = VERDICT_LABELS[lang]
    return with_colon(quote(change.file, limit=limit), lang, f"{labels[change.before]} → {labels[change.after]}")


def _change_line(change: Change, lang: Language) -> str:
    return with_colon(quote(change.file, limit=_MAX_NAME), lang, finding_line(change.finding, lang))
