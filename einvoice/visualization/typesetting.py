"""HTML to PDF/A-3a and PDF/UA-1. This is the only module that knows the renderer, so that it can be another one.

WeasyPrint is imported when first needed: it takes a third of a second, and libraries of the system.
"""

from __future__ import annotations

import datetime
import functools
import os
import threading
import warnings
from pathlib import Path
from typing import Any, Final

from einvoice.errors import MissingDependency
from einvoice.pdf.writer.embed import open_pdf, read_metadata, save_pdf, set_metadata
from einvoice.visualization.glyphs import FONTS
from einvoice.visualization.markup import Markup, join, tag

#: What WeasyPrint needs of Debian or Ubuntu.
LIBRARIES: Final = ("libpango-1.0-0", "libpangoft2-1.0-0", "libharfbuzz-subset0")

# Without smoothing of images, which PDF/A forbids and browsers take for granted. The page's margins do not inherit.
_BASE: Final = """
html, @page { font-family: "DejaVu Sans" }
img { image-rendering: pixelated }
"""
_CREATOR: Final = "einvoice"
# Pango's font maps are not made for several threads at once, and threads would gain nothing here.
_LOCK: Final = threading.Lock()


def render(
    html: Markup,
    *,
    lang: str,
    title: str,
    author: str = "",
    description: str = "",
    css: str = "",
    when: datetime.datetime | None = None,
) -> bytes:
    """The content of a page as a PDF that is PDF/A-3a and PDF/UA-1 at once.

    Args:
        html: what stands in the body, built with ``einvoice.visualization.markup``: its text has passed ``printable``,
            every image has an ``alt`` and its heading levels skip none, or the PDF is not what it claims to be.
        lang: language of the text, such as "de".
        title, author, description: metadata, plain text.
        css: style; no CMYK colours and no ``opacity``, which PDF/A and PDF/UA do not stand.
        when: when it was made, with a time zone; now where it is None.

    Raises:
        MissingDependency: weasyprint, or what it needs of the system, is not installed.
    """
    moment = (when or datetime.datetime.now(datetime.UTC)).replace(microsecond=0)
    with _LOCK:
        tools = _tools()
        page = _document(html, lang, title, author, description, moment)
        styles = [tools.style, tools.weasyprint.CSS(string=css)] if css else [tools.style]
        document = tools.weasyprint.HTML(string=page, url_fetcher=tools.fetcher)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # WeasyPrint leaves closing its colour profile to Python
            pdf = document.write_pdf(stylesheets=styles, font_config=tools.fonts, pdf_variant="pdf/a-3a")
    return _accessible(pdf)


def _document(html: Markup, lang: str, title: str, author: str, description: str, when: datetime.datetime) -> str:
    date = when.isoformat()
    said = {
        "author": author,
        "description": description,
        "generator": _CREATOR,
        "dcterms.created": date,
        "dcterms.modified": date,
    }
    metas = [
        Markup(tag("meta", name=name, content=text).removesuffix("</meta>")) for name, text in said.items() if text
    ]
    content = join(tag("head", Markup('<meta charset="utf-8">'), tag("title", title), *metas), tag("body", html))
    return "<!doctype html>" + tag("html", content, lang=lang)


def _accessible(pdf: bytes) -> bytes:
    """The PDF with the claim to be PDF/UA-1, which WeasyPrint cannot make beside that of PDF/A."""
    with open_pdf(pdf) as document:
        packet = read_metadata(document)
        packet.claim_pdfua()
        set_metadata(document, packet)
        return save_pdf(document)


class _Tools:
    """What is made once for all pages: the renderer, its fonts, and who may fetch what."""

    def __init__(self, weasyprint: Any, fonts: Any, fetcher: Any, style: Any) -> None:
        self.weasyprint = weasyprint
        self.fonts = fonts
        self.fetcher = fetcher
        self.style = style


@functools.cache
def _tools() -> _Tools:
    try:
        import weasyprint
        from weasyprint.text.fonts import FontConfiguration
        from weasyprint.urls import URLFetcher
    except (ImportError, OSError) as error:  # OSError: the libraries of the system are missing
        raise MissingDependency("weasyprint", extra="pdf", libraries=LIBRARIES) from error
    fonts = _with_own_fonts(FontConfiguration)
    return _Tools(weasyprint, fonts, URLFetcher(allowed_protocols={"data"}), weasyprint.CSS(string=_BASE))


def _with_own_fonts(make: Any) -> Any:
    """Call ``make`` while fontconfig reads our configuration: nothing but the fonts that are shipped with the page."""
    before = os.environ.get("FONTCONFIG_FILE")
    os.environ["FONTCONFIG_FILE"] = str(Path(FONTS) / "fonts.conf")
    try:
        return make()
    finally:
        if before is None:
            del os.environ["FONTCONFIG_FILE"]
        else:
            os.environ["FONTCONFIG_FILE"] = before
