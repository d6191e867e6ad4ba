"""Pages of the error catalog, one per rule; `doc_url` of a finding links to them."""

from collections.abc import Iterator
from html import escape

from fastapi import APIRouter
from starlette.responses import Response

import einvoice
from appliance.api.dependencies import QueryLanguage
from appliance.contract.problems import NOT_FOUND, Problem
from appliance.contract.values import Language
from appliance.pages.layout import html_page

_LABELS = {
    "de": {
        "fix": "Was zu tun ist",
        "terms": "Betrifft",
        "examples": "Beispiele",
        "xpath": "Stelle im XML",
        "notes": "Anmerkungen",
        "source": "Quelle",
        "other_release": "Regel einer anderen Fassung; die hier geltenden Regeln ({rule_set}) enthalten sie nicht.",
        "fatal": "Fehler",
        "warning": "Warnung",
        "information": "Hinweis",
        "other_language": "Read this in English",
    },
    "en": {
        "fix": "What to do",
        "terms": "Business terms",
        "examples": "Examples",
        "xpath": "Location in the XML",
        "notes": "Notes",
        "source": "Source",
        "other_release": "A rule of other releases: the current rule set ({rule_set}) does not contain it.",
        "fatal": "Error",
        "warning": "Warning",
        "information": "Information",
        "other_language": "Auf Deutsch lesen",
    },
}


def routes() -> APIRouter:
    """Return the route."""
    router = APIRouter()

    @router.get("/catalog/{code}", response_class=Response)
    def rule(code: str, lang: QueryLanguage) -> Response:
        """Return the page of a rule."""
        catalog = einvoice.catalog()
        if code not in catalog:
            raise Problem(NOT_FOUND)
        entry = catalog[code]
        body = _body(entry, catalog.rule_set.name, lang)
        return html_page(f"{entry.code}: {entry.title(lang)}", "".join(body), lang)

    return router


def _body(entry: einvoice.CatalogEntry, rule_set: str, lang: Language) -> Iterator[str]:
    labels = _LABELS[lang]
    other = "en" if lang == "de" else "de"
    link = f'<a href="?lang={other}" lang="{other}" hreflang="{other}">{labels["other_language"]}</a>'
    yield f'<p class="quiet">{link}</p>'
    yield f"<h1>{escape(entry.code)}: {escape(entry.title(lang))}</h1>"
    yield f'<p class="quiet">{labels[entry.severity]}</p>'
    if not entry.current:
        yield f"<p>{labels['other_release'].format(rule_set=rule_set)}</p>"
    yield f"<p>{escape(entry.explanation(lang))}</p>"
    yield f"<p><strong>{labels['fix']}:</strong> {escape(entry.fix(lang))}</p><dl>"
    details = {
        "terms": [escape(", ".join(entry.terms))] if entry.terms else [],
        "examples": [escape(example) for example in entry.examples.get(lang, ())],
        "xpath": [f"{syntax}: <code>{escape(path)}</code>" for syntax, path in entry.xpaths.items()],
        "notes": [escape(entry.note(number, lang)) for number in range(len(entry.notes))],
        "source": [escape(entry.source)] if entry.source else [],
    }
    for name, items in details.items():
        if items:
            yield f"<dt>{labels[name]}</dt>" + "".join(f"<dd>{item}</dd>" for item in items)
    yield "</dl>"
