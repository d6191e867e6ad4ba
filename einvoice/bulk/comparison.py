"""What has changed between two sets of results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from einvoice.bulk import jsonl
from einvoice.bulk.labels import VERDICT_WORDS, WORDS
from einvoice.bulk.record import FileResult, Verdict
from einvoice.errors import quote
from einvoice.render import tables
from einvoice.result.finding import Finding
from einvoice.result.languages import Language

if TYPE_CHECKING:
    import pandas as pd

    from einvoice.bulk.results import ResultSet

_SHOWN: Final = 20
_NAME: Final = 120


class Change(NamedTuple):
    """A finding of a file."""

    file: str
    finding: Finding


class Turned(NamedTuple):
    """A file with another verdict than before."""

    file: str
    before: Verdict
    after: Verdict


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """What has changed; true if anything has.

    Attributes:
        fixed: findings that are no more, in files that are still there.
        new: findings that are new, those of new files among them.
        same: findings as before.
        turned: files with another verdict.
        missing, added: files that are no more, and new ones.
        judged: what they were not judged alike by: its name in `ResultSet.made_by`, then and now.
    """

    fixed: tuple[Change, ...]
    new: tuple[Change, ...]
    same: tuple[Change, ...]
    turned: tuple[Turned, ...]
    missing: tuple[str, ...]
    added: tuple[str, ...]
    lang: Language = "de"
    judged: tuple[tuple[str, Any, Any], ...] = ()

    def __bool__(self) -> bool:
        return any((self.fixed, self.new, self.turned, self.missing, self.added))

    def to_frame(self, *, lang: Language | None = None) -> pd.DataFrame:
        """A row for each finding: `change` ("fixed", "new" or "same"; category), `file`, `code`, `severity`, `layer`,
        `bt_field` (categories), `line` (Int64), `title`, `xpath`.

        Raises:
            ImportError: pandas is not installed (extra "notebook").
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("A table needs pandas: pip install 'einvoice-toolkit[notebook]'") from error
        columns = ("code", "severity", "layer", "bt_field", "line", "title", "xpath")
        rows = []
        for kind in ("fixed", "new", "same"):
            for change in getattr(self, kind):
                row = tables.row(change.finding, lang or self.lang)
                rows.append((kind, change.file, *(row[name] for name in columns)))
        frame = pd.DataFrame(rows, columns=["change", "file", *columns])
        severity = pd.CategoricalDtype(["information", "warning", "fatal"], ordered=True)
        kinds: dict[str, Any] = dict.fromkeys(("file", "code", "layer", "bt_field"), "category")
        kinds |= {"change": pd.CategoricalDtype(["fixed", "new", "same"]), "severity": severity, "line": "Int64"}
        return frame.astype(kinds | {"title": "str", "xpath": "str"})

    def in_words(self, lang: Language | None = None) -> str:
        """Every kind of difference, with the first of each."""
        words = WORDS[lang or self.lang]
        parts = [_counted(words, self), *judged_otherwise(self, lang or self.lang)]
        parts += _listed(words["turned"], [_turned(it, lang or self.lang) for it in self.turned])
        for kind in ("new", "fixed"):
            parts += _listed(words[kind], [_changed(it, lang or self.lang) for it in getattr(self, kind)])
        for kind in ("missing", "added"):
            parts += _listed(words[kind], [quote(name, limit=_NAME) for name in getattr(self, kind)])
        return "\n".join(parts)

    def __str__(self) -> str:
        return self.in_words()

    def __repr__(self) -> str:
        counts = ("fixed", "new", "same", "turned", "missing", "added")
        return f"<Comparison: {', '.join(f'{len(getattr(self, name))} {name}' for name in counts)}>"

    def _repr_html_(self) -> str:
        from einvoice.bulk.html import comparison_html

        return comparison_html(self, self.lang)


def compare(before: ResultSet, after: ResultSet, by: str) -> Comparison:
    """What has changed from one to the other: see `ResultSet.compare`."""
    if by not in ("file", "number"):
        raise ValueError(f"by is 'file' or 'number', not {by!r}")
    old, new = _by(before, by), _by(after, by)
    fixed: list[Change] = []
    added: list[Change] = []
    same: list[Change] = []
    turned: list[Turned] = []
    for key, files in new.items():
        for was, is_now in _pairs(old.get(key, []), files):
            gone, came, kept = _findings(was, is_now)
            fixed += gone
            added += came
            same += kept
            if was is not None and was.verdict != is_now.verdict:
                turned.append(Turned(is_now.file, was.verdict, is_now.verdict))
    return Comparison(
        tuple(fixed),
        tuple(added),
        tuple(same),
        tuple(turned),
        tuple(_only(old, new)),
        tuple(_only(new, old)),
        after.lang,
        tuple(it for it in jsonl.differing(before.made_by, after.made_by) if it[0] != jsonl.RULES),
    )


_Keyed = Mapping[Hashable, Sequence[FileResult]]


def _by(results: ResultSet, by: str) -> _Keyed:
    """The files by what they are matched by; there may be several of a name or number."""
    found: dict[Hashable, list[FileResult]] = defaultdict(list)
    for file in results:
        is_numbered = by == "number" and file.number
        found[(file.seller_vat or file.seller, file.number) if is_numbered else file.file].append(file)
    return found


def _pairs(old: Sequence[FileResult], new: Sequence[FileResult]) -> Iterator[tuple[FileResult | None, FileResult]]:
    for number, file in enumerate(new):
        yield (old[number] if number < len(old) else None), file


def _only(one: _Keyed, other: _Keyed) -> Iterator[str]:
    for key, files in one.items():
        yield from (file.file for file in files[len(other.get(key, ())) :])


def _findings(was: FileResult | None, now: FileResult) -> tuple[list[Change], list[Change], list[Change]]:
    """The findings that are gone, that came, and that stayed: by code and place, as often as they are there."""
    left = Counter(_key(finding) for finding in was.findings) if was else Counter()
    came, kept = [], []
    for finding in now.findings:
        if left[_key(finding)] > 0:
            left[_key(finding)] -= 1
            kept.append(Change(now.file, finding))
        else:
            came.append(Change(now.file, finding))
    gone = []
    for finding in was.findings if was else ():
        if left[_key(finding)] > 0:
            left[_key(finding)] -= 1
            gone.append(Change(now.file, finding))
    return gone, came, kept


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.severity, finding.xpath


def _counted(words: Mapping[str, str], comparison: Comparison) -> str:
    counts = [
        f"{words[kind]}: {len(getattr(comparison, kind))}"
        for kind in ("new", "fixed", "same", "turned", "missing", "added")
    ]
    return "; ".join(counts)


def judged_otherwise(comparison: Comparison, lang: Language) -> list[str]:
    """A line that says that other rules or options account for some of it; none where they were the same."""
    told = ", ".join(
        f"{quote(name)} {quote(str(then or '–'))} → {quote(str(now or '–'))}" for name, then, now in comparison.judged
    )
    return [f"{WORDS[lang]['judged']}: {told}"] if told else []


def _listed(title: str, entries: Sequence[str]) -> list[str]:
    if not entries:
        return []
    left = len(entries) - _SHOWN
    return ["", f"{title}:", *(f"  {entry}" for entry in entries[:_SHOWN]), *([f"  … + {left}"] if left > 0 else [])]


def _turned(it: Turned, lang: Language) -> str:
    words = VERDICT_WORDS[lang]
    return f"{quote(it.file, limit=_NAME)}: {words[it.before]} → {words[it.after]}"


def _changed(change: Change, lang: Language) -> str:
    from einvoice.render.text import in_line

    return f"{quote(change.file, limit=_NAME)}: {in_line(change.finding, lang)}"
