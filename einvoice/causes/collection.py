"""The causes of a result, as a sequence that notebooks can show."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final, Literal, TypeAlias

from einvoice.causes.cause import Cause
from einvoice.causes.change import Change
from einvoice.causes.display import LABELS, codes, counted, heading, incomplete, remaining
from einvoice.localization import Language
from einvoice.localization.formatting import with_colon
from einvoice.quotation import quote
from einvoice.render.html import page
from einvoice.render.text import LABELS as RESULT_LABELS
from einvoice.render.text import finding_line

Limit: TypeAlias = Literal["", "time", "validations"]
"""The limit that ended a search; "" for none."""

_MAX_SHOWN: Final = 50
_MAX_FINDINGS: Final = 20
_MAX_TEXT: Final = 1000


class Causes(tuple[Cause, ...]):
    """The causes of a result, the gravest first: a tuple with a representation for notebooks.

    Attributes:
        ended_by: "time" or "validations" if the search ended at this limit, so that other changes may resolve more
            findings; "" if all proposals were tried.
    """

    ended_by: Limit = ""

    @classmethod
    def of(cls, causes: Iterable[Cause], ended_by: Limit) -> Causes:
        """Return the causes of a search, and the limit that ended it."""
        found = cls(causes)
        found.ended_by = ended_by
        return found

    def to_html(self, lang: Language | None = None) -> str:
        """Return the number of causes, and for each a section that opens without scripts; all content is escaped."""
        lang = lang or (self[0].lang if self else "de")
        findings = sum(len(cause.findings) for cause in self)
        omitted = len(self) - _MAX_SHOWN
        return page(
            lang,
            f"<p><strong>{escape(heading(len(self), findings, lang))}</strong></p>",
            *(_cause(cause, lang) for cause in self[:_MAX_SHOWN]),
            f"<p>… + {omitted}</p>" if omitted > 0 else "",
            f"<p>{escape(remark)}</p>" if (remark := incomplete(self, lang)) else "",
        )

    def _repr_html_(self) -> str:
        return self.to_html()


def place(cause: Cause, lang: Language) -> str:
    """Return the line and the XPath of a cause; "" if it has no place in the XML."""
    line = f"{RESULT_LABELS[lang]['line']} {cause.location.line}" if cause.location.line else ""
    return " · ".join(part for part in (line, cause.location.xpath) if part)


def evidence(change: Change, lang: Language) -> str:
    """Return what the validation of the changed document shows, with the number of findings that remain."""
    return f"{change.proof(lang)} {remaining(change, lang)}".strip()


def _cause(cause: Cause, lang: Language) -> str:
    labels = LABELS[lang]
    where = place(cause, lang)
    found = [f"<li>{escape(finding_line(it, lang))}</li>" for it in cause.findings[:_MAX_FINDINGS]]
    omitted = len(cause.findings) - _MAX_FINDINGS
    found += [f"<li>… + {omitted}</li>"] if omitted > 0 else []
    changes = "".join(_change(change, lang) for change in cause.changes)
    label = f"<div>{escape(with_colon(labels['alternatives'], lang))}</div>" if cause.is_question else ""
    explains = counted("explains", len(cause.findings), lang)
    return (
        f"<details><summary><strong>{escape(cause.text(lang))}</strong> ({escape(codes(cause, lang))})</summary>"
        + (f"<div><code>{escape(where)}</code></div>" if where else "")
        + (f"{label}<ul>{changes}</ul>" if changes else f"<p>{escape(labels['no_change'])}</p>")
        + f"<div>{escape(with_colon(explains, lang))}</div><ul>{''.join(found)}</ul></details>"
    )


def _change(change: Change, lang: Language) -> str:
    lines = (quote(line, limit=_MAX_TEXT) for line in change.copy_text(lang).split("\n"))
    edits = "<br>".join(f"<code>{escape(line)}</code>" for line in lines)
    return f"<li>{escape(change.text(lang))} {escape(evidence(change, lang))}<br>{edits}</li>"
