"""The causes of the findings: each with its place, the findings that it explains, and its change or question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from einvoice.causes.display import LABELS, codes, counted, heading, incomplete, repeats
from einvoice.localization.formatting import with_colon
from einvoice.quotation import quote
from einvoice.render.text import LABELS as RESULT_WORDS
from einvoice.render.text import capitalize
from einvoice.visualization.markup import EMPTY, Markup, join, tag
from einvoice.visualization.report.labels import WORDS

if TYPE_CHECKING:
    from einvoice.causes import Cause, Change
    from einvoice.result import Language

_MAX_SHOWN: Final = 20
"""Maximum number of causes shown with a change, and without."""
_MAX_TEXT: Final = 600
_MAX_HEADING: Final = 160
_MAX_PATH: Final = 300


def causes(found: Sequence[Cause], findings: int, lang: Language, label: str = "") -> Markup:
    """Return the causes, those with a change first; nothing if they say no more than the findings
    and the search for them was complete. Without causes, say that they were not searched for: all findings have one.

    Args:
        found: the causes, the gravest first.
        findings: number of findings.
        lang: language of the texts.
        label: of a change; by default what to do.
    """
    if findings and not found:
        return tag("section", tag("p", WORDS[lang]["no_causes"], class_="means"), class_="causes")
    changed = [cause for cause in found if cause.changes]
    remark = incomplete(found, lang)
    if not remark and all(repeats(cause, lang) for cause in found):
        return EMPTY
    words = LABELS[lang]
    return tag(
        "section",
        tag("h2", heading(len(found), findings, lang)),
        tag("p", words["issuer"], class_="means"),
        *(
            _cause(number, cause, lang, label or words["change"])
            for number, cause in enumerate(changed[:_MAX_SHOWN], 1)
        ),
        _omitted(changed, lang),
        _without_change([cause for cause in found if not cause.changes], lang),
        tag("p", remark) if remark else EMPTY,
        class_="causes",
    )


def numbered(found: Sequence[Cause]) -> dict[int, int]:
    """Return the number of the cause that shows the change for a finding, by the `id` of the finding."""
    shown = [cause for cause in found if cause.changes][:_MAX_SHOWN]
    return {id(finding): number for number, cause in enumerate(shown, 1) for finding in cause.findings}


def _cause(number: int, cause: Cause, lang: Language, label: str) -> Markup:
    return tag(
        "div",
        tag("h3", f"{number}. {_heading(cause, lang, is_brief=label != LABELS[lang]['change'])}"),
        tag("p", " · ".join((*_line(cause, lang), _explained(cause, lang))), class_="where"),
        _alternatives(cause.changes, lang) if len(cause.changes) > 1 else _change(cause.changes[0], lang, label),
        tag("p", quote(cause.location.xpath, limit=_MAX_PATH, keep_end=True), class_="path"),
        class_="cause",
    )


def _heading(cause: Cause, lang: Language, is_brief: bool) -> str:
    """Return the cause; if `is_brief`, instead of a long one the title of its first finding: the changes follow."""
    text = cause.text(lang)
    return cause.findings[0].title(lang) if is_brief and len(text) > _MAX_HEADING else _limited(text)


def _line(cause: Cause, lang: Language) -> Iterable[str]:
    if cause.location.line:
        yield f"{capitalize(RESULT_WORDS[lang]['line'])} {cause.location.line}"


def _explained(cause: Cause, lang: Language) -> str:
    return with_colon(counted("explains", len(cause.findings), lang), lang, codes(cause, lang))


def _change(change: Change, lang: Language, label: str) -> Markup:
    label = with_colon(label, lang)
    return tag("p", tag("strong", label), " ", _limited(change.text(lang)), " ", _proof(change, lang), class_="fix")


def _alternatives(changes: Sequence[Change], lang: Language) -> Markup:
    words = LABELS[lang]
    texts = [words["or" if at else "either"].format(text=_limited(it.text(lang))) for at, it in enumerate(changes)]
    items = [tag("li", text, " ", it.proof(lang)) for text, it in zip(texts, changes, strict=True)]
    return join(tag("p", tag("strong", with_colon(words["alternatives"], lang)), class_="fix"), tag("ul", *items))


def _proof(change: Change, lang: Language) -> Markup:
    return tag("span", change.proof(lang), class_="proof")


def _without_change(found: Sequence[Cause], lang: Language) -> Markup:
    """Return the causes for which no change was found; of those that their findings state, the number."""
    if not found:
        return EMPTY
    listed = [cause for cause in found if not repeats(cause, lang)]
    items = [_item(cause, lang) for cause in listed[:_MAX_SHOWN]]
    remark = tag("p", LABELS[lang]["no_change"], class_="unchanged")
    said = len(found) - len(listed)
    counted_said = tag("p", counted("said", said, lang), class_="unchanged") if said else EMPTY
    return join(remark, tag("ul", *items) if items else EMPTY, _omitted(listed, lang), counted_said)


def _item(cause: Cause, lang: Language) -> Markup:
    place = " · ".join((*_line(cause, lang), codes(cause, lang)))
    return tag("li", _limited(cause.text(lang)), " ", tag("span", place, class_="where"))


def _omitted(found: Sequence[Cause], lang: Language) -> Markup:
    left = len(found) - _MAX_SHOWN
    return tag("p", WORDS[lang]["more_causes"].format(count=left), class_="where") if left > 0 else EMPTY


def _limited(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"
