"""Pages of the error catalog, one per rule; `doc_url` of a finding links to them."""

import functools
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

import einvoice
from appliance.api.dependencies import QueryLanguage
from appliance.contract.problems import NOT_FOUND, Problem
from appliance.contract.values import Language
from appliance.pages.layout import html_page
from appliance.transport.static_documents import StaticDocument
from einvoice.localization import Messages

_CACHED_PAGES: Final = 1000
"""Number of pages kept in memory, each of a few kilobytes."""
_LABELS: Final = Messages("appliance", "catalog")
_FORMATS: Final = Messages("einvoice.localization", "format")


def routes() -> APIRouter:
    """Return the route."""
    router = APIRouter()

    @router.get("/catalog/{code}", response_class=Response)
    def rule(request: Request, code: str, lang: QueryLanguage) -> Response:
        """Return the page of a rule."""
        if code not in einvoice.catalog():
            raise Problem(NOT_FOUND)
        return _page(code, lang, request.app.state.languages).response(request)

    return router


@functools.lru_cache(maxsize=_CACHED_PAGES)
def _page(code: str, lang: Language, languages: Sequence[Language]) -> StaticDocument:
    catalog = einvoice.catalog()
    entry = catalog[code]
    body = _body(entry, catalog.rule_set.name, lang, languages)
    return html_page(_titled(entry, lang), "".join(body), lang)


def _body(entry: einvoice.CatalogEntry, rule_set: str, lang: Language, languages: Sequence[Language]) -> Iterator[str]:
    labels = _LABELS[lang]
    links = (
        f'<a href="?lang={other}" lang="{other}" hreflang="{other}">{escape(_LABELS[other]["read_here"])}</a>'
        for other in languages
        if other != lang
    )
    yield f'<p class="quiet">{" · ".join(links)}</p>'
    yield f"<h1>{escape(_titled(entry, lang))}</h1>"
    yield f'<p class="quiet">{labels[entry.severity]}</p>'
    if not entry.current:
        yield f"<p>{labels['other_release'].format(rule_set=rule_set)}</p>"
    yield f"<p>{escape(entry.explanation(lang))}</p>"
    yield f"<p><strong>{labels['fix']}{_FORMATS[lang]['colon'].rstrip()}</strong> {escape(entry.fix(lang))}</p><dl>"
    details = {
        "terms": [escape(", ".join(entry.terms))] if entry.terms else [],
        "examples": [escape(example) for example in entry.examples_in(lang)],
        "xpath": [f"{syntax}: <code>{escape(path)}</code>" for syntax, path in entry.xpaths.items()],
        "notes": [escape(entry.note(number, lang)) for number in range(len(entry.notes))],
        "source": [escape(entry.source)] if entry.source else [],
    }
    for name, items in details.items():
        if items:
            yield f"<dt>{labels[name]}</dt>" + "".join(f"<dd>{item}</dd>" for item in items)
    for label, text in einvoice.catalog().error_classes(entry.code, lang).items():
        yield f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>"
    yield "</dl>"


def _titled(entry: einvoice.CatalogEntry, lang: Language) -> str:
    return f"{entry.code}{_FORMATS[lang]['colon']}{entry.title(lang)}"
