"""Comparison of two result sets."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from einvoice.bulk.files.names import leading_folders
from einvoice.bulk.labels import LABELS, VERDICT_LABELS, validated_with, whole
from einvoice.bulk.record import FileResult, Verdict
from einvoice.quotation import quote
from einvoice.render import tables
from einvoice.render.text import finding_line
from einvoice.result.finding import Finding
from einvoice.result.languages import Language

if TYPE_CHECKING:
    import pandas as pd

_MAX_LISTED: Final = 20
_MAX_NAME: Final = 120
MARKS: Final = {"new": "✗", "fixed": "✓"}


class Change(NamedTuple):
    """A finding in a file."""

    file: str
    finding: Finding


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

    fixed: tuple[Change, ...]
    new: tuple[Change, ...]
    unchanged: tuple[Change, ...]
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
        fixed = {change.file for change in self.fixed}
        return tuple(name for name in dict.fromkeys(change.file for change in self.new) if name in fixed)

    def _files(self, changes: Iterable[Change], *, without: Iterable[Change]) -> tuple[str, ...]:
        others = {*self.added, *(change.file for change in without)}
        return tuple(name for name in dict.fromkeys(change.file for change in changes) if name not in others)

    def by_rule(self, kind: Literal["new", "fixed", "unchanged"]) -> tuple[RuleCount, ...]:
        """Return the findings of a kind by code and severity, most findings first.

        Raises:
            ValueError: the kind is unknown.
        """
        if kind not in ("new", "fixed", "unchanged"):
            raise ValueError(f"argument 'kind' must be 'new', 'fixed' or 'unchanged', not {kind!r}")
        groups: dict[tuple[str, str], list[Change]] = defaultdict(list)
        for change in getattr(self, kind):
            groups[change.finding.code, change.finding.severity].append(change)
        counts = (RuleCount(*key, len(it), len({change.file for change in it}), it[0]) for key, it in groups.items())
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
        tables.require_pandas()
        import pandas as pd

        columns = ("code", "severity", "layer", "bt_field", "line", "title", "xpath")
        rows = []
        for kind in ("fixed", "new", "unchanged"):
            for change in getattr(self, kind):
                row = tables.row(change.finding, lang or self.lang)
                rows.append((kind, change.file, *(row[name] for name in columns)))
        frame = pd.DataFrame(rows, columns=["change", "file", *columns])
        severity = pd.CategoricalDtype(["information", "warning", "fatal"], ordered=True)
        dtypes: dict[str, Any] = dict.fromkeys(("file", "code", "layer", "bt_field"), "category")
        dtypes |= {"change": pd.CategoricalDtype(["fixed", "new", "unchanged"]), "severity": severity, "line": "Int64"}
        return frame.astype(dtypes | {"title": "str", "xpath": "str"})

    def to_text(self, lang: Language | None = None) -> str:
        """Return the changes by kind; only the first of each kind are listed."""
        language = lang or self.lang
        labels = LABELS[language]
        parts = [self.message(language), rulesets_line(self, language), _counts(labels, self)]
        parts += settings_lines(self, language)
        parts += _section(labels["changed_verdicts"], [changed_verdict(it, language) for it in self.changed_verdicts])
        kinds: tuple[Literal["new", "fixed"], ...] = ("new", "fixed")
        for kind in kinds:
            changes = [_change_line(it, language) for it in getattr(self, kind)]
            rules = [_rule_line(it, language) for it in self.by_rule(kind)]
            parts += _section(f"{MARKS[kind]} {labels[kind]}", changes, rules)
        for names in ("missing", "added"):
            parts += _section(labels[names], [quote(name, limit=_MAX_NAME) for name in getattr(self, names)])
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


def compare(
    before: Iterable[FileResult],
    after: Iterable[FileResult],
    by: str,
    *,
    lang: Language,
    settings: Iterable[tuple[str, Any, Any]] = (),
) -> Comparison:
    """Return the changes from one list of file results to another; see `ResultSet.compare`."""
    before, after = list(before), list(after)
    if by not in ("file", "number"):
        raise ValueError(f"argument 'by' must be 'file' or 'number', not {by!r}")
    old, new = _grouped(before, by), _grouped(after, by)
    if by == "file":
        old, new = _without_folders(old, new), _without_folders(new, old)
    fixed: list[Change] = []
    added: list[Change] = []
    unchanged: list[Change] = []
    changed_verdicts: list[ChangedVerdict] = []
    for key, files in new.items():
        for previous, current in _pairs(old.get(key, []), files):
            removed, introduced, common = _changes(previous, current)
            fixed += removed
            added += introduced
            unchanged += common
            if previous is not None and previous.verdict != current.verdict:
                changed_verdicts.append(ChangedVerdict(current.file, previous.verdict, current.verdict))
    return Comparison(
        tuple(fixed),
        tuple(added),
        tuple(unchanged),
        tuple(changed_verdicts),
        tuple(_surplus(old, new)),
        tuple(_surplus(new, old)),
        lang,
        tuple(settings),
        _rulesets(before),
        _rulesets(after),
    )


def _rulesets(files: Iterable[FileResult]) -> tuple[str, ...]:
    """Return the releases that validated the files; the one of most files first."""
    return tuple(name for name, _ in Counter(file.ruleset for file in files if file.ruleset).most_common())


_Grouped = Mapping[Hashable, Sequence[FileResult]]


def _without_folders(files: _Grouped, others: _Grouped) -> _Grouped:
    """Return the files without the folders that start all of their names, if `others` are named without them."""
    length = len(leading_folders([str(name) for name in files], [str(name) for name in others]))
    return {str(name)[length:]: group for name, group in files.items()} if length else files


def _grouped(files: Iterable[FileResult], by: str) -> _Grouped:
    """Return the files by filename, or by seller and invoice number; keys may repeat."""
    groups: dict[Hashable, list[FileResult]] = defaultdict(list)
    for file in files:
        is_numbered = by == "number" and file.number
        groups[(file.seller_vat or file.seller, file.number) if is_numbered else file.file].append(file)
    return groups


def _pairs(old: Sequence[FileResult], new: Sequence[FileResult]) -> Iterator[tuple[FileResult | None, FileResult]]:
    for index, file in enumerate(new):
        yield (old[index] if index < len(old) else None), file


def _surplus(files: _Grouped, other: _Grouped) -> Iterator[str]:
    """Yield the names of files without a counterpart."""
    for key, group in files.items():
        yield from (file.file for file in group[len(other.get(key, ())) :])


def _changes(previous: FileResult | None, current: FileResult) -> tuple[list[Change], list[Change], list[Change]]:
    """Return removed, introduced and unchanged findings, matched by code, severity and location."""
    unmatched = Counter(_key(finding) for finding in previous.findings) if previous else Counter()
    introduced, unchanged = [], []
    for finding in current.findings:
        if unmatched[_key(finding)] > 0:
            unmatched[_key(finding)] -= 1
            unchanged.append(Change(current.file, finding))
        else:
            introduced.append(Change(current.file, finding))
    removed = []
    for finding in previous.findings if previous else ():
        if unmatched[_key(finding)] > 0:
            unmatched[_key(finding)] -= 1
            removed.append(Change(current.file, finding))
    return removed, introduced, unchanged


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.severity, finding.xpath


def _counts(labels: Mapping[str, str], comparison: Comparison) -> str:
    counts = [
        f"{labels[kind]}: {len(getattr(comparison, kind))}"
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
    return [f"{LABELS[lang]['settings']}: {settings}"] if settings else []


def _section(title: str, entries: Sequence[str], rules: Sequence[str] = ()) -> list[str]:
    """Return a title with the number of entries, the counts by rule, and the first entries."""
    if not entries:
        return []
    return ["", f"{title}: {len(entries)}", *_listed(rules), *_listed(entries)]


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
    return f"{quote(change.file, limit=limit)}: {labels[change.before]} → {labels[change.after]}"


def _change_line(change: Change, lang: Language) -> str:
    return f"{quote(change.file, limit=_MAX_NAME)}: {finding_line(change.finding, lang)}"
