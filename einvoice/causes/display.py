"""Sentences about causes that every display shares: the command line, the report, the widget and the web app.

Labels are in the table `display` of the message files; labels with `{count}` have a form for one ("_one").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from einvoice.causes.cause import Cause
from einvoice.causes.change import Change
from einvoice.localization import Language, Messages

LABELS: Final = Messages("einvoice.causes", "display")


def heading(causes: int, findings: int, lang: Language) -> str:
    """Return the numbers of causes and findings.

    >>> heading(3, 10, "en"), heading(1, 1, "de")
    ('3 causes, 10 findings', '1 Ursache, 1 Befund')
    """
    parts = {"causes": counted("causes", causes, lang), "findings": counted("findings", findings, lang)}
    return LABELS[lang]["heading"].format(**parts)


def counted(key: str, count: int, lang: Language) -> str:
    """Return a label with its number.

    >>> counted("explains", 2, "en"), counted("explains", 1, "en")
    ('Explains 2 findings', 'Explains 1 finding')
    """
    return LABELS[lang][f"{key}_one" if count == 1 else key].format(count=count)


def incomplete(causes: Sequence[Cause], lang: Language) -> str:
    """Return that the search for these causes ended at a limit; "" if it did not, or if nothing is known of it."""
    ended_by = getattr(causes, "ended_by", "")
    return LABELS[lang][f"ended_by_{ended_by}"] if ended_by else ""


def codes(cause: Cause, lang: Language) -> str:
    """Return the codes of the findings that a cause explains: "BR-CO-15, 2 × BR-S-08"."""
    counts = Counter(finding.code for finding in cause.findings)
    several = LABELS[lang]["explained_codes"]
    return ", ".join(code if count == 1 else several.format(count=count, code=code) for code, count in counts.items())


def repeats(cause: Cause, lang: Language) -> bool:
    """Return whether a cause has no change, and says no more than the title that its findings have in common."""
    titles = {it.title(lang) for it in cause.findings}
    return not cause.changes and len(titles) == 1 and titles.pop() in cause.text(lang)


def remaining(change: Change, lang: Language) -> str:
    """Return how many findings remain after a change; "" if none does."""
    return counted("remain", len(change.remaining), lang) if change.remaining else ""
