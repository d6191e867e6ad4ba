"""Overview of a result set: verdicts and most frequent findings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from einvoice.bulk.labels import GROUP_LABELS, LABELS, VERDICT_LABELS, validated_with, whole
from einvoice.bulk.plot import MAX_BARS, Chart
from einvoice.bulk.record import VERDICTS, decode
from einvoice.bulk.tables import Table
from einvoice.localization.formatting import with_colon
from einvoice.localization.options import language
from einvoice.quotation import quote
from einvoice.render.tables import Kind, require_pandas
from einvoice.render.text import LABELS as RESULT_LABELS
from einvoice.result.finding import Finding
from einvoice.result.languages import Language
from einvoice.result.stack import Engine

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_MAX_CODES: Final = 10
_MAX_FILES: Final = 5
_MAX_NAME: Final = 60
_NOT_COMPARED: Final = "not_compared"
_SEVERITIES: Final = ("fatal", "warning", "information")


class Frequent(NamedTuple):
    """A code with its frequency.

    Attributes:
        code: the code.
        severity: effective severity.
        files: number of files with a finding of this code.
        findings: number of findings.
        example: name of a file with a finding of this code.
        finding: that finding.
    """

    code: str
    severity: str
    files: int
    findings: int
    example: str
    finding: Finding

    def title(self, lang: Language | None = None) -> str:
        """Return the problem in a few words, as the catalog does: without the values of one of the files.

        Rules of added official artefacts have no catalog entry, but a text with their code.
        """
        entry = self.finding.entry
        return entry.title(language(lang)) if entry.code == self.code else self.finding.title(lang)


class ReleaseDifferences(NamedTuple):
    """Differences between the declared releases and the current one.

    Attributes:
        files: number of files with a difference.
        declared: number of codes that only a declared release reports.
        current: number of codes that only the current release reports.
    """

    files: int
    declared: int
    current: int


@dataclass(frozen=True, slots=True, repr=False)
class Overview:
    """Key figures of a result set.

    Attributes:
        files: number of files.
        verdicts: number of "valid", "invalid" and "unreadable" files.
        findings: number of findings.
        consequences: number of those that may be consequences of schema errors (`Finding.indicative`).
        codes: codes with their frequency, by severity, then by descending number of files.
        worst: the files with the most errors, at most five: name and number of errors.
        complete: False if the run was interrupted.
        lang: default language of the texts.
        rulesets: releases that validated the files, as in `FileResult.ruleset`; the one of most files first.
        agreement: with engine "both", number of readable files for which the official artefacts report the "same" or
            "different" findings, or that were "not_compared"; else empty.
        differences: in compatibility mode, the differences from the current release; else None.
    """

    files: int
    verdicts: Mapping[str, int]
    findings: int
    codes: tuple[Frequent, ...]
    worst: tuple[tuple[str, int], ...]
    complete: bool
    lang: Language = "de"
    rulesets: tuple[str, ...] = ()
    agreement: Mapping[str, int] = field(default_factory=dict)
    differences: ReleaseDifferences | None = None
    consequences: int = 0

    def table(self, lang: Language) -> Table:
        """Return a table of the verdicts and the codes, for a workbook."""
        verdicts = [("", "", VERDICT_LABELS[lang][name], number, None) for name, number in self.verdicts.items()]
        codes = [(it.code, it.severity, it.title(lang), it.files, it.findings) for it in self.codes]
        kinds: dict[str, Kind] = {"files": "integer", "findings": "integer"}
        return Table(("code", "severity", "title", *kinds), [*verdicts, *codes], kinds)

    def plot(self, *, lang: Language | None = None, axes: Axes | None = None) -> Axes:
        """Draw the most frequent codes with matplotlib: the number of files with each, at most 20 codes.

        Args:
            lang: language of the labels (default: that of the results).
            axes: where to draw (default: a new figure).

        Raises:
            ImportError: matplotlib is not installed (extra "notebook").
        """
        lang, shown = lang or self.lang, self.codes[:MAX_BARS]
        parts = {name: [it.files if it.severity == name else 0 for it in shown] for name in _SEVERITIES}
        names = [it.code for it in shown]
        return Chart(names, parts, RESULT_LABELS[lang], LABELS[lang]["code"], GROUP_LABELS[lang]["files"]).draw(axes)

    def to_frame(self, *, lang: Language | None = None) -> pd.DataFrame:
        """Return a pandas table, one row per code.

        Columns: `code`, `severity` (ordered category), `files`, `findings` (Int64), `example`, `title`.

        Raises:
            ImportError: pandas is not installed (extra "notebook").
        """
        require_pandas()
        import pandas as pd

        rows = [(*code[:5], code.title(lang or self.lang)) for code in self.codes]
        frame = pd.DataFrame(rows, columns=["code", "severity", "files", "findings", "example", "title"])
        severity = pd.CategoricalDtype(list(reversed(_SEVERITIES)), ordered=True)
        dtypes: dict[str, Any] = dict.fromkeys(("code", "example", "title"), "str")
        return frame.astype(dtypes | {"severity": severity, "files": "Int64", "findings": "Int64"})

    def __str__(self) -> str:
        labels = LABELS[self.lang]
        lines = [headline(self, self.lang)]
        if self.files:
            lines.append(validated_with(self.rulesets, self.lang))
        lines += comparison_lines(self, self.lang)
        if not self.complete:
            lines.append(labels["interrupted"])
        if self.consequences:
            lines.append(labels["consequences"].format(count=whole(self.consequences, self.lang)))
        codes = self.codes[:_MAX_CODES]
        width = max((len(code.code) for code in codes), default=0)
        for code in codes:
            files = f"{whole(code.files, self.lang):>7} {labels['file' if code.files == 1 else 'files']}"
            lines.append(f"  {code.code:{width}}  {files:{8 + len(labels['files'])}}  {code.title(self.lang)}")
        omitted = len(self.codes) - _MAX_CODES
        if omitted > 0:
            lines.append(f"  … + {omitted} {labels['further']}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from einvoice.bulk.html import overview_html

        return overview_html(self, self.lang)


def headline(overview: Overview, lang: Language) -> str:
    """Return the verdicts in one line: "120 files: 100 valid, 18 not valid, 2 unreadable"."""
    verdicts = [
        f"{whole(number, lang)} {VERDICT_LABELS[lang][verdict]}"
        for verdict, number in overview.verdicts.items()
        if number
    ]
    files = f"{whole(overview.files, lang)} {LABELS[lang]['file' if overview.files == 1 else 'files']}"
    return with_colon(files, lang, ", ".join(verdicts)) if verdicts else files


def comparison_lines(overview: Overview, lang: Language) -> list[str]:
    """Return a line for each comparison: with the official artefacts, with the current release."""
    labels, lines = LABELS[lang], []
    if overview.agreement:
        counts = {name: whole(number, lang) for name, number in overview.agreement.items()}
        lines.append(labels["agreement"].format(**counts))
    if overview.differences:
        counts = {name: whole(number, lang) for name, number in overview.differences._asdict().items()}
        counts["files"] += f" {labels['file' if overview.differences.files == 1 else 'files']}"
        lines.append(labels["differences"].format(**counts))
    return lines


class _DifferenceCounter:
    """Counts the differences between releases, record by record."""

    def __init__(self) -> None:
        self._is_compared = False
        self._files = 0
        self._codes: dict[str, set[str]] = {"declared": set(), "current": set()}

    def add(self, record: Mapping[str, Any]) -> None:
        """Count the differences of a file if it was compared with the current release."""
        if "codes_only_declared" not in record:
            return
        self._is_compared = True
        self._files += bool(record["codes_only_declared"] or record["codes_only_current"])
        for it in record.get("differences", ()):
            if it["only_in"] in self._codes:
                self._codes[it["only_in"]].add(it["code"])

    def total(self) -> ReleaseDifferences | None:
        """Return the counts; None if no file was compared."""
        if not self._is_compared:
            return None
        return ReleaseDifferences(self._files, len(self._codes["declared"]), len(self._codes["current"]))


def overview(lines: Sequence[bytes], *, engine: Engine, complete: bool, lang: Language) -> Overview:
    """Return the overview of encoded records, of a run with this engine."""
    verdicts: Counter[str] = Counter()
    file_counts: Counter[tuple[str, str]] = Counter()
    finding_counts: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], tuple[str, Finding]] = {}
    agreement: Counter[str] = Counter()
    differences = _DifferenceCounter()
    errors: list[tuple[str, int]] = []
    rulesets: Counter[str] = Counter()
    consequences = 0
    for line in lines:
        record = json.loads(line)
        verdicts[record["verdict"]] += 1
        rulesets[record.get("ruleset", "")] += 1
        if record["verdict"] != "unreadable":
            agreement[record.get("agreement", _NOT_COMPARED)] += 1
        differences.add(record)
        findings = record.get("findings", ())
        consequences += sum(bool(finding.get("indicative")) for finding in findings)
        counts = Counter((finding["code"], finding["severity"]) for finding in findings)
        finding_counts.update(counts)
        file_counts.update(counts.keys())
        for index, finding in enumerate(findings):
            key = finding["code"], finding["severity"]
            if key not in examples:
                examples[key] = record["file"], decode(line, lang).findings[index]
        if "errors" in record:
            errors.append((record["file"], record["errors"]))
    codes = [Frequent(*key, file_counts[key], finding_counts[key], *examples[key]) for key in file_counts]
    codes.sort(key=lambda it: (_SEVERITIES.index(it.severity), -it.files, -it.findings, it.code))
    errors.sort(key=lambda it: (-it[1], it[0]))
    return Overview(
        files=len(lines),
        verdicts={verdict: verdicts[verdict] for verdict in VERDICTS},
        findings=sum(finding_counts.values()),
        codes=tuple(codes),
        worst=tuple((quote(name, limit=_MAX_NAME, keep_end=True), number) for name, number in errors[:_MAX_FILES]),
        complete=complete,
        lang=lang,
        rulesets=tuple(name for name, _ in rulesets.most_common() if name),
        agreement={name: agreement[name] for name in ("same", "different", _NOT_COMPARED)} if engine == "both" else {},
        differences=differences.total(),
        consequences=consequences,
    )
