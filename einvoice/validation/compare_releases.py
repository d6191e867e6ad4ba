"""Compares imported releases with the rules of einvoice on documents: examples of the rules, samples, and others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from lxml import etree

from einvoice.authoring.example_documents import document_of
from einvoice.errors import RuleError, UnreadableDocument
from einvoice.reference.bundles.imports import sheet_of_release
from einvoice.resources import RuleData, samples
from einvoice.result import Options
from einvoice.rulebook.files.examples import examples_of
from einvoice.rulebook.imported_releases import ImportedRelease, Part, imported_releases
from einvoice.rulebook.program.build import RuleSets
from einvoice.rulebook.releases import Releases, releases
from einvoice.schematron.errors import Stopped
from einvoice.schematron.program import Program
from einvoice.schematron.tree import Document
from einvoice.syntax.detect import identify
from einvoice.syntax.xml import parse
from einvoice.validation.api import validate_xml

Side: TypeAlias = Literal["einvoice", "imported"]


class NamedDocument(NamedTuple):
    """A document: the rule and example, or the file, that it is of; its syntax; its XML."""

    name: str
    syntax: str
    data: bytes


@dataclass(slots=True)
class Comparison:
    """An imported release in one syntax, compared with the rules of einvoice.

    Attributes:
        release: the release.
        part: its part in the syntax.
        documents: number of documents that both judged.
        stopped: number of documents at which the sheet stops.
        differences: for each code and the side that alone reports it, the names of the documents.
        deviating: codes of rules with a documented deviation from the official Schematron.
    """

    release: ImportedRelease
    part: Part
    documents: int = 0
    stopped: int = 0
    differences: dict[tuple[str, Side], list[str]] = field(default_factory=dict)
    deviating: frozenset[str] = frozenset()

    @property
    def faults(self) -> Mapping[tuple[str, Side], list[str]]:
        """The differences of codes whose assertions are unchanged: there must be none."""
        allowed = self.part.replaced | self.deviating
        return {key: names for key, names in self.differences.items() if key[0] not in allowed}


def compare_releases(data: RuleData, folder: Path | None = None) -> Iterator[Comparison]:
    """Yield the comparison of each imported release, in each of its syntaxes.

    The whole imported sheet is compared, not only what it judges: it also tells whether what is called unchanged is.

    Args:
        data: the rule data, with imported releases.
        folder: further documents (`*.xml`).
    """
    own = RuleData(data.root, data.added)
    known, rule_sets = releases(own), RuleSets(own)
    found: list[NamedDocument] | None = None
    for release in imported_releases(data):
        if release.ruleset not in known.sets:
            continue
        found = found or [*_samples(), *_files(folder)]
        for part in release.parts:
            sheet = sheet_of_release(part, whole=True)
            if sheet is None or sheet.program is None:
                continue
            comparison = Comparison(release, part, deviating=frozenset(_deviating(rule_sets, known, release)))
            examples = _examples(rule_sets, known, release, part.syntax)
            for document in (*(it for it in found if it.syntax == part.syntax), *examples):
                _compare(document, comparison, sheet.program, known, own)
            yield comparison


def _names(known: Releases, release: ImportedRelease) -> list[str]:
    """Return the rule sets that have the releases of that of an imported one."""
    return [name for name in known.sets if known.owner(name) == release.ruleset and not known.sets[name].is_informative]


def _deviating(rule_sets: RuleSets, known: Releases, release: ImportedRelease) -> Iterator[str]:
    for name in _names(known, release):
        yield from (it.code for it in rule_sets.definitions[name] if any(it.entries("deviation")))


def _examples(rule_sets: RuleSets, known: Releases, release: ImportedRelease, syntax: str) -> Iterator[NamedDocument]:
    """Yield the examples of the rules as documents."""
    for name in _names(known, release):
        for definition in rule_sets.definitions[name]:
            for _, example in examples_of(definition, syntax):
                try:
                    root = document_of(example, example.file, syntax, rule_sets.data)
                except (RuleError, ValueError, etree.LxmlError):  # reported by the check of the rule
                    continue
                yield NamedDocument(f"{definition.code}: {example.name}", syntax, etree.tostring(root))


def _samples() -> Iterator[NamedDocument]:
    yield from _files(samples())


def _files(folder: Path | None) -> Iterator[NamedDocument]:
    for path in sorted(folder.rglob("*.xml")) if folder else ():
        data = path.read_bytes()
        try:
            yield NamedDocument(path.name, identify(parse(data)).syntax, data)
        except UnreadableDocument:
            continue


def _compare(
    document: NamedDocument, comparison: Comparison, program: Program, known: Releases, data: RuleData
) -> None:
    release = comparison.release
    skipped: list[Stopped] = []
    native = next(it for it in known.of(release.ruleset) if it.version == release.native)
    run = validate_xml(document.data, Options(ruleset=native.name, plausibility=False, data=data))
    names = _names(known, release)
    imported = {it.assertion.code for it in program.run(Document(parse(document.data).getroot()), skipped)}
    if skipped or not all(it.executed for it in run.layers if it.name in names):
        comparison.stopped += 1
        return
    comparison.documents += 1
    ours = {it.code for it in run.findings if it.layer in names}
    sides: Iterable[tuple[Side, set[str]]] = (("einvoice", ours - imported), ("imported", imported - ours))
    for side, codes in sides:
        for code in codes:
            comparison.differences.setdefault((code, side), []).append(document.name)
