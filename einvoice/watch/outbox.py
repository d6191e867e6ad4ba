"""The folder with the sorted invoices.

OUT/valid/a.xml  OUT/valid/a.xml.json  OUT/valid/a.xml.html
OUT/invalid/…    OUT/unreadable/…

The result and the report are written first, the invoice is moved last: what is there has both. A program that is killed
in between leaves the invoice where it was, and the next one writes the same files again.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from einvoice.errors import UnreadableDocument
from einvoice.localization import Language
from einvoice.result import ValidationResult, explain_error
from einvoice.validation import validate
from einvoice.watch.inbox import Claim

Verdict: TypeAlias = Literal["valid", "invalid", "unreadable"]
VERDICTS: Final[tuple[Verdict, ...]] = ("valid", "invalid", "unreadable")
Report: TypeAlias = Literal["html", "pdf", "none"]

_BLOCK: Final = 1 << 20
_DIGITS: Final = 12
_RESULT: Final = ".json"
_MAX_NAME: Final = 200
"""Bytes of a name that leave room for those of its result, its report and temporary files."""
_MAX_STEM: Final = 40
_NOT_OPENED: Final = "FILE-OPEN"


@dataclass(frozen=True, slots=True)
class Sorted:
    """A sorted invoice: its verdict, and where it is now."""

    verdict: Verdict
    path: Path


class Outbox:
    """The folder.

    Args:
        folder: the folder; it is created.
        lang: language of reports and results.
        report: form of the report beside each invoice that can be read.
        rules: folder or archive of further rule sets, as in `einvoice.validate`.

    Raises:
        OSError: it cannot be created.
    """

    def __init__(self, folder: Path, *, lang: Language, report: Report = "html", rules: Path | None = None) -> None:
        self._folder, self._lang, self._report, self._rules = folder, lang, report, rules
        for verdict in VERDICTS:
            (folder / verdict).mkdir(parents=True, exist_ok=True)

    def sort(self, claim: Claim) -> Sorted | None:
        """Validate a claimed invoice, write its result and report, and move it to the folder of its verdict.

        Returns None if the invoice changed meanwhile: it is still claimed, and nothing is left of its result.

        Raises:
            OSError: a file cannot be written; the invoice is still claimed.
            RuleError: a rule file is invalid.
            MissingDependency: a report in PDF needs WeasyPrint.
        """
        verdict, plain, report = self._judged(claim)
        if claim.has_changed():
            return None
        target = self._target(verdict, claim)
        content = json.dumps(plain, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace")
        beside = {target.with_name(f"{target.name}{_RESULT}"): content}
        if report:
            beside[target.with_name(f"{target.name}.{self._report}")] = report
        for path, written in beside.items():
            _write(path, written)
        if not _move(claim, target):
            for path in beside:
                path.unlink(missing_ok=True)
            return None
        return Sorted(verdict, target)

    def _judged(self, claim: Claim) -> tuple[Verdict, dict[str, Any], bytes]:
        try:
            result = validate(claim.path, lang=self._lang, rules=self._rules)
        except OSError as error:
            return "unreadable", {"file": claim.name, "problem": {"code": _NOT_OPENED, "title": str(error)}}, b""
        except UnreadableDocument as error:
            title, explanation = explain_error(error, self._lang)
            problem = {"code": error.code, "title": title, "explanation": explanation}
            return "unreadable", {"file": claim.name, "problem": {**problem, "line": error.line}}, b""
        plain = {"file": claim.name, **result.to_dict(self._lang)}
        return ("valid" if result.is_valid else "invalid"), plain, self._reported(result)

    def _reported(self, result: ValidationResult) -> bytes:
        from einvoice.visualization import report_html, report_pdf

        if self._report == "none":
            return b""
        if self._report == "pdf":
            return report_pdf(result, self._lang)
        return report_html(result, self._lang).encode("utf-8", "backslashreplace")

    def _target(self, verdict: Verdict, claim: Claim) -> Path:
        """Return where the invoice belongs; one with the name of another invoice gets its SHA-256 in the name."""
        target, own = self._folder / verdict / claim.name, _digest(claim.path)
        result = target.with_name(f"{target.name}{_RESULT}")
        is_free = _digest(target) == own if target.exists() else _is_result_of(result, claim.name)
        if is_free and len(os.fsencode(claim.name)) <= _MAX_NAME:
            return target
        return target.with_name(f"{target.stem[:_MAX_STEM]}.{own[:_DIGITS]}{target.suffix}")


def _is_result_of(path: Path, name: str) -> bool:
    """Return whether a path is free, or has the result of an invoice of this name, which a killed watcher has left."""
    try:
        return bool(json.loads(path.read_bytes())["file"] == name)
    except FileNotFoundError:
        return True
    except (KeyError, TypeError, ValueError, OSError):  # an invoice of that name
        return False


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _write(path: Path, content: bytes) -> None:
    """Write a file completely or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _move(claim: Claim, target: Path) -> bool:
    """Move a file, also to another file system, where it appears completely or not at all.

    Returns False if it has changed since it was claimed; it is not moved then.
    """
    if claim.has_changed():
        return False
    try:
        claim.path.replace(target)
        return True
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        shutil.copy2(claim.path, temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        if claim.has_changed():
            return False
        temporary.replace(target)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    claim.path.unlink()
    return True
