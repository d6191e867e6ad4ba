"""veraPDF, the validator of PDF/A, where an installation has one: run, and its failed clauses told as faults.

The environment variable EINVOICE_VERAPDF holds the command, such as "/opt/verapdf/verapdf"; options may follow. It is
run on one file, with a time limit and without the variables that could lead it to a network. veraPDF itself needs no
network. It is another's program on a stranger's file: an installation that wants more walls puts them into the command.
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
from einvoice.syntax import xml

VARIABLE: Final = "EINVOICE_VERAPDF"
_SECONDS: Final = 60
_OPTIONS: Final = ("--format", "xml", "--maxfailuresdisplayed", "1")
_KEPT: Final = ("PATH", "HOME", "JAVA_HOME", "LANG", "TMPDIR")
_MOST: Final = 50
_REPORTED: Final = (0, 1)  # valid, not valid; anything else means that veraPDF itself failed


def command() -> str:
    """The command of this installation; "" if it has none."""
    return os.environ.get(VARIABLE, "").strip()


def faults(data: bytes, command: str) -> list[Fault]:
    """Return the clauses that a PDF breaks, or the one fault that says why veraPDF did not tell."""
    try:
        return list(_clauses(_report(data, command)))
    except subprocess.TimeoutExpired:
        reason = f"no answer within {_SECONDS} seconds"
    except OSError as error:
        reason = error.strerror or type(error).__name__
    except (errors.UnreadableDocument, ValueError) as error:
        reason = str(error)
    return [Fault("PDF-VERAPDF-FAILED", {"reason": errors.quote(reason, limit=200)})]


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
            env={name: os.environ[name] for name in _KEPT if name in os.environ},
            check=False,
        )
    if done.returncode not in _REPORTED:
        raise ValueError(f"exit status {done.returncode}")
    return done.stdout


def _clauses(report: bytes) -> Iterator[Fault]:
    """The failed rules of a report. Without a verdict in it, it is none."""
    root = xml.parse(report.lstrip()).getroot()
    verdicts = list(root.iter("{*}validationReport"))
    if not verdicts:
        raise ValueError("a report without a verdict")
    failed = (rule for verdict in verdicts for rule in verdict.iter("{*}rule") if rule.get("status") == "failed")
    for rule, _ in zip(failed, range(_MOST), strict=False):
        yield Fault("PDF-VERAPDF", _values(rule))


def _values(rule: etree._Element) -> dict[str, str | int]:
    description = " ".join((rule.findtext("{*}description") or "").split())
    return {
        "specification": errors.quote(rule.get("specification") or "PDF/A"),
        "clause": errors.quote(rule.get("clause") or "–"),
        "test": errors.quote(rule.get("testNumber") or "–"),
        "count": errors.quote(rule.get("failedChecks") or "1"),
        "description": errors.quote(description, limit=300) or "–",
    }
