"""Many files in a few numbers: how many are valid, and what is wrong with the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from einvoice.bulk.labels import VERDICT_WORDS, WORDS, whole
from einvoice.errors import quote
from einvoice.result.languages import Language
from einvoice.rulebook.catalog import entry

if TYPE_CHECKING:
    import pandas as pd

    from einvoice.bulk.results import ResultSet

MOST_CODES: Final = 10
MOST_FILES: Final = 5
_SEVERITIES: Final = ("fatal", "warning", "information")
_NAME: Final = 60


class Frequent(NamedTuple):
    """A code with the severity that counted, in how many files it was found, how often in all, and in one of them."""

    code: str
    severity: str
    files: int
    findings: int
    example: str
    values: Mapping[str, Any] = {}

    def title(self, lang: Language = "de") -> str:
        """What is wrong, in a few words; numbers and quotations are those of the example."""
        return entry(self.code).title(lang, self.values)


@dataclass(frozen=True, slots=True, repr=False)
class Overview:
    """Many files in a few numbers.

    Attributes:
        files: how many there are.
        verdicts: how many are "valid", "invalid" and "unreadable".
        findings: how many there are in all.
        codes: what was found, by severity, then in most files first.
        worst: the files with most errors, at most five: name and number of errors.
        complete: False if the run was interrupted.
    """

    files: int
    verdicts: Mapping[str, int]
    findings: int
    codes: tuple[Frequent, ...]
    worst: tuple[tuple[str, int], ...]
    complete: bool
    lang: Language = "de"

    def to_frame(self, *, lang: Language | None = None) -> pd.DataFrame:
        """A row for each code: `code`, `severity` (ordered category), `files`, `findings` (Int64), `example`, `title`.

        Raises:
            ImportError: pandas is not installed (extra "notebook").
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("A table needs pandas: pip install 'einvoice-toolkit[notebook]'") from error
        rows = [(*it[:5], it.title(lang or self.lang)) for it in self.codes]
        frame = pd.DataFrame(rows, columns=["code", "severity", "files", "findings", "example", "title"])
        severity = pd.CategoricalDtype(list(reversed(_SEVERITIES)), ordered=True)
        kinds: dict[str, Any] = dict.fromkeys(("code", "example", "title"), "str")
        return frame.astype(kinds | {"severity": severity, "files": "Int64", "findings": "Int64"})

    def __str__(self) -> str:
        words = WORDS[self.lang]
        lines = [headline(self, self.lang)]
        if not self.complete:
            lines.append(words["interrupted"])
        width = max((len(it.code) for it in self.codes[:MOST_CODES]), default=0)
        for it in self.codes[:MOST_CODES]:
            where = f"{whole(it.files, self.lang):>7} {words['file' if it.files == 1 else 'files']}"
            lines.append(f"  {it.code:{width}}  {where:{8 + len(words['files'])}}  {it.title(self.lang)}")
        if left := len(self.codes) - MOST_CODES:
            lines += [f"  … + {left} {words['further']}"] if left > 0 else []
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from einvoice.bulk.html import html

        return html(self, self.lang)


def headline(overview: Overview, lang: Language) -> str:
    """The verdicts in one line: "120 files: 100 valid, 18 not valid, 2 not readable"."""
    said = [
        f"{whole(number, lang)} {VERDICT_WORDS[lang][verdict]}"
        for verdict, number in overview.verdicts.items()
        if number
    ]
    name = WORDS[lang]["file" if overview.files == 1 else "files"]
    return f"{whole(overview.files, lang)} {name}" + (f": {', '.join(said)}" if said else "")


def overview(results: ResultSet) -> Overview:
    """The overview of some results."""
    in_files: Counter[tuple[str, str]] = Counter()
    times: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], tuple[str, Mapping[str, Any]]] = {}
    errors: list[tuple[str, int]] = []
    for place, facts in enumerate(results.kept()):
        stored = facts.get("findings", ())
        found = Counter((it["code"], it["severity"]) for it in stored)
        times.update(found)
        in_files.update(found.keys())
        for number, it in enumerate(stored):
            if (it["code"], it["severity"]) not in first:
                first[it["code"], it["severity"]] = facts["file"], results[place].findings[number].values
        if "errors" in facts:
            errors.append((facts["file"], facts["errors"]))
    codes = [Frequent(*key, in_files[key], times[key], *first[key]) for key in in_files]
    codes.sort(key=lambda it: (_SEVERITIES.index(it.severity), -it.files, -it.findings, it.code))
    errors.sort(key=lambda it: (-it[1], it[0]))
    return Overview(
        files=len(results),
        verdicts=results.verdicts,
        findings=sum(times.values()),
        codes=tuple(codes),
        worst=tuple((quote(name, limit=_NAME, keep_end=True), number) for name, number in errors[:MOST_FILES]),
        complete=results.complete,
        lang=results.lang,
    )
