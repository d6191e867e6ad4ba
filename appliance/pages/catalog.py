"""A page for each code of the error catalog, which findings refer to."""

from collections.abc import Iterator
from html import escape

from fastapi import APIRouter
from starlette.responses import Response

import einvoice
from appliance.api.parameters import Lang
from appliance.pages.page import page
from appliance.problems import NOT_FOUND, Language, Problem

_WORDS = {
    "de": {
        "fix": "Was zu tun ist",
        "terms": "Betrifft",
        "examples": "Beispiele",
        "xpath": "Stelle",
        "notes": "Zu wissen",
        "source": "Quelle",
        "elsewhere": "Eine Regel anderer Fassungen: Die hier geltenden Regeln ({rule_set}) haben sie nicht.",
        "fatal": "Fehler",
        "warning": "Warnung",
        "information": "Hinweis",
        "other": "Read this in English",
    },
    "en": {
        "fix": "What to do",
        "terms": "About",
        "examples": "Examples",
        "xpath": "Place",
        "notes": "Good to know",
        "source": "Source",
        "elsewhere": "A rule of other releases: those in force here ({rule_set}) do not have it.",
        "fatal": "Error",
        "warning": "Warning",
        "information": "Information",
        "other": "Auf Deutsch lesen",
    },
}


def routes() -> APIRouter:
    """Return the route."""
    router = APIRouter()

    @router.get("/catalog/{code}", response_class=Response)
    def rule(code: str, lang: Lang) -> Response:
        """Describe a rule."""
        catalog = einvoice.catalog()
        if code not in catalog:
            raise Problem(NOT_FOUND)
        entry = catalog[code]
        body = _body(entry, catalog.rule_set.name, lang)
        return page(f"{entry.code}: {entry.title(lang)}", "".join(body), lang)

    return router


def _body(entry: einvoice.CatalogEntry, rule_set: str, lang: Language) -> Iterator[str]:
    words = _WORDS[lang]
    other = "en" if lang == "de" else "de"
    yield f'<p class="quiet"><a href="?lang={other}" lang="{other}" hreflang="{other}">{words["other"]}</a></p>'
    yield f"<h1>{escape(entry.code)}: {escape(entry.title(lang))}</h1>"
    yield f'<p class="quiet">{words[entry.severity]}</p>'
    if not entry.current:
        yield f"<p>{words['elsewhere'].format(rule_set=rule_set)}</p>"
    yield f"<p>{escape(entry.explanation(lang))}</p>"
    yield f"<p><strong>{words['fix']}:</strong> {escape(entry.fix(lang))}</p><dl>"
    details = {
        "terms": [escape(", ".join(entry.terms))] if entry.terms else [],
        "examples": [escape(example) for example in entry.examples.get(lang, ())],
        "xpath": [f"{syntax}: <code>{escape(path)}</code>" for syntax, path in entry.xpaths.items()],
        "notes": [escape(entry.note(number, lang)) for number in range(len(entry.notes))],
        "source": [escape(entry.source)] if entry.source else [],
    }
    for name, told in details.items():
        if told:
            yield f"<dt>{words[name]}</dt>" + "".join(f"<dd>{text}</dd>" for text in told)
    yield "</dl>"
