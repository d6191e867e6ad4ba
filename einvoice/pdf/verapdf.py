"""Runs the PDF/A validator veraPDF, if configured, and returns its failed clauses as faults.

The environment variable EINVOICE_VERAPDF holds the command, such as "/opt/verapdf/verapdf", and any options. The
command runs on one file, with a time limit and without proxy variables; veraPDF itself needs no network. The file is
untrusted: for further isolation, configure a command that sandboxes veraPDF.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lxml import etree

from einvoice import errors
from einvoice.pdf.hybrid import Fault
from einvoice.quotation import quote
from einvoice.syntax import xml

VARIABLE: Final = "EINVOICE_VERAPDF"
_SECONDS: Final = 60
_OPTIONS: Final = ("--format", "xml", "--maxfailuresdisplayed", "1")
_ENVIRONMENT: Final = ("PATH", "HOME", "JAVA_HOME", "LANG", "TMPDIR")
_MAX_CLAUSES: Final = 50
_EXIT_OK: Final = (0, 1)  # valid, not valid; other values mean that veraPDF itself failed


def command() -> str:
    """Return the configured command; "" if there is none."""
    return os.environ.get(VARIABLE, "").strip()


def faults(data: bytes, command: str) -> list[Fault]:
    """Return the clauses that a PDF violates, or one fault that says why veraPDF failed."""
    try:
        return list(_clauses(_report(data, command)))
    except subprocess.TimeoutExpired:
        reason = f"no answer within {_SECONDS} seconds"
    except OSError as error:
        reason = error.strerror or type(error).__name__
    except (errors.UnreadableDocument, ValueError) as error:
        reason = str(error)
    return [Fault("PDF-VERAPDF-FAILED", {"reason": quote(reason, limit=200)})]


def _report(data: bytes, command: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="einvoice-") as folder:
        file = Path(folder) / "invoice.pdf"
        file.write_bytes(data)
        done = subprocess.run(
            [*shlex.split(command), *_OPTIONS, str(file)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            cwd=folder,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            check=False,
        )
    if done.returncode not in _EXIT_OK:
        raise ValueError(f"exit status {done.returncode}")
    return done.stdout


def _clauses(report: bytes) -> Iterator[Fault]:
    """Yield the failed rules of a report; raise ValueError if it has no validationReport."""
    root = xml.parse(report.lstrip()).getroot()
    results = list(root.iter("{*}validationReport"))
    if not results:
        raise ValueError("the report has no result")
    failed = (rule for result in results for rule in result.iter("{*}rule") if rule.get("status") == "failed")
    for rule, _ in zip(failed, range(_MAX_CLAUSES), strict=False):
        yield Fault("PDF-VERAPDF", _values(rule))


def _values(rule: etree._Element) -> dict[str, str | int]:
    description = " ".join((rule.findtext("{*}description") or "").split())
    return {
        "specification": quote(rule.get("specification") or "PDF/A"),
        "clause": quote(rule.get("clause") or "–"),
        "test": quote(rule.get("testNumber") or "–"),
        "count": quote(rule.get("failedChecks") or "1"),
        "description": quote(description, limit=300) or "–",
    }
