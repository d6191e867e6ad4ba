"""Renders HTML as PDF/A-3a and PDF/UA-1. Only this module depends on the renderer.

WeasyPrint is imported on first use: that takes a third of a second, and it needs system libraries.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import gc
import io
import os
import threading
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

from einvoice.errors import MissingDependency
from einvoice.pdf.writer.attachments import AttachedFile
from einvoice.pdf.writer.embed import attach_to_new, open_pdf, read_metadata, save_pdf, set_metadata
from einvoice.visualization.glyphs import FONTS
from einvoice.visualization.markup import Markup, join, tag

#: Packages of Debian and Ubuntu that WeasyPrint needs.
LIBRARIES: Final = ("libpango-1.0-0", "libpangoft2-1.0-0", "libharfbuzz-subset0")

# No image interpolation, which PDF/A forbids. Page margin boxes do not inherit the font.
_BASE: Final = """
html { font-family: "DejaVu Sans" }
@page { font-family: "DejaVu Sans" }
img { image-rendering: pixelated }
"""
_VARIANT: Final = "pdf/a-3a"
# The default style of the elements that pages consist of. That of the renderer is for all of HTML, which takes longer.
_DEFAULTS: Final = """
html, body, div, section, p, h1, h2, h3, ul { display: block }
head, title, meta { display: none }
li { display: list-item; list-style-type: disc }
br::before { content: "\\A"; white-space: pre-line }
table { display: table; box-sizing: border-box }
thead { display: table-header-group }
tbody { display: table-row-group }
tr { display: table-row }
td, th { display: table-cell }
colgroup { display: table-column-group }
col { display: table-column }
strong, h1, h2, h3 { font-weight: bold }
h1, h2, h3 { bookmark-label: content(text) }
h1 { bookmark-level: 1 }
h2 { bookmark-level: 2 }
h3 { bookmark-level: 3 }
"""
#: Number of pages up to which a document is made more compact, and what this can save: a share of a page for each page
#: before the last, and at most a share of the last.
_MAX_COMPACT_PAGES: Final = 6
_SAVED_PER_PAGE: Final = 0.4
_MAX_SAVED: Final = 0.6
_DOCTYPE: Final = "<!doctype html>"
_CREATOR: Final = "einvoice"
# Pango's font maps are not thread-safe.
_LOCK: Final = threading.Lock()


def render(
    html: Markup,
    *,
    lang: str,
    title: str,
    author: str = "",
    description: str = "",
    css: str = "",
    compact_css: Sequence[str] = (),
    when: datetime.datetime | None = None,
    attach: AttachedFile | None = None,
) -> bytes:
    """Render HTML as a PDF that conforms to PDF/A-3a and PDF/UA-1.

    Args:
        html: content of the body, built with `einvoice.visualization.markup`. For conformance, text must have passed
            `printable`, every image needs an `alt`, and no heading level may be skipped.
        lang: language of the text, such as "de".
        title, author, description: metadata, plain text.
        css: style, without CMYK colours or `opacity`, which PDF/A and PDF/UA do not allow.
        compact_css: styles that are added, one after the other, to a document whose last page is nearly empty, until
            it has a page less; if it never has, it stays as it is.
        when: creation date, with a time zone; by default now.
        attach: file to attach.

    Raises:
        MissingDependency: weasyprint, or a system library that it needs, is not installed.
    """
    moment = (when or datetime.datetime.now(datetime.UTC)).replace(microsecond=0)
    with _LOCK, _gc_paused():
        tools = _tools()
        page = tools.page(_document(html, lang, title, author, description, moment))
        styles = [tools.style, tools.weasyprint.CSS(string=css)] if css else [tools.style]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # WeasyPrint does not close its colour profile
            document = page.render(stylesheets=styles, font_config=tools.fonts, pdf_variant=_VARIANT)
            for further in compact_css if _ends_early(document) else ():
                styles.append(tools.weasyprint.CSS(string=further))
                compact = page.render(stylesheets=styles, font_config=tools.fonts, pdf_variant=_VARIANT)
                if len(compact.pages) < len(document.pages):
                    document = compact
                    break
            pdf = document.write_pdf(pdf_variant=_VARIANT, uncompressed_pdf=True)  # save_pdf compresses it, faster
    return _completed(pdf, attach, moment)


def _ends_early(document: Any) -> bool:
    """Whether the last of a few pages has so little on it that a more compact style may do without it."""
    *before, last = document.pages
    body = last._page_box.children[0].children[0]  # of the element html; the boxes in the margins follow it
    saved = min(_SAVED_PER_PAGE * len(before), _MAX_SAVED)
    return len(before) < _MAX_COMPACT_PAGES and body.height < saved * last._page_box.height


def _document(html: Markup, lang: str, title: str, author: str, description: str, when: datetime.datetime) -> str:
    date = when.isoformat()
    metadata = {
        "author": author,
        "description": description,
        "generator": _CREATOR,
        "dcterms.created": date,
        "dcterms.modified": date,
    }
    metas = [
        Markup(tag("meta", name=name, content=text).replace("></meta>", "/>"))
        for name, text in metadata.items()
        if text
    ]
    content = join(tag("head", Markup('<meta charset="utf-8"/>'), tag("title", title), *metas), tag("body", html))
    return _DOCTYPE + tag("html", content, lang=lang)


def _completed(pdf: bytes, attach: AttachedFile | None, when: datetime.datetime) -> bytes:
    """Attach the file, and add the PDF/UA-1 claim, which WeasyPrint cannot combine with a PDF/A claim."""
    with open_pdf(pdf) as document:
        if attach:
            attach_to_new(document, attach, when)
        packet = read_metadata(document)
        packet.claim_pdfua()
        set_metadata(document, packet)
        return save_pdf(document)


@contextlib.contextmanager
def _gc_paused() -> Iterator[None]:
    """Pause garbage collection: the renderer creates many objects, nearly all of which stay in use until its end."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Tools:
    """The renderer with its fonts, base style and URL fetcher, created once."""

    def __init__(self, weasyprint: Any, wrapper: Any, fonts: Any, fetcher: Any, style: Any) -> None:
        self.weasyprint = weasyprint
        self.wrapper = wrapper
        self.fonts = fonts
        self.defaults = weasyprint.CSS(string=_DEFAULTS)
        self.fetcher = fetcher
        self.style = style

    def page(self, content: str) -> Any:
        """Return the page of the renderer for a document, which is XML too: its HTML parser takes ten times as long."""
        page = self.weasyprint.HTML(string="<p></p>", url_fetcher=self.fetcher)
        root = ElementTree.fromstring(content.removeprefix(_DOCTYPE))
        page.wrapper_element = self.wrapper.from_html_root(root, content_language=None)
        page.etree_element = page.wrapper_element.etree_element
        page._ua_stylesheets = lambda forms=False: [self.defaults]
        return page


@functools.cache
def _tools() -> _Tools:
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # without its libraries, it prints advice before it raises
            import weasyprint
        from cssselect2 import ElementWrapper
        from weasyprint.text.fonts import FontConfiguration
        from weasyprint.urls import URLFetcher
    except (ImportError, OSError) as error:  # OSError: system libraries are missing
        raise MissingDependency("weasyprint", extra="pdf", libraries=LIBRARIES) from error
    fonts = _with_bundled_fonts(FontConfiguration)
    return _Tools(
        weasyprint, ElementWrapper, fonts, URLFetcher(allowed_protocols={"data"}), weasyprint.CSS(string=_BASE)
    )


def _with_bundled_fonts(factory: Any) -> Any:
    """Call `factory` with a fontconfig configuration that contains only the bundled fonts."""
    before = os.environ.get("FONTCONFIG_FILE")
    os.environ["FONTCONFIG_FILE"] = str(Path(FONTS) / "fonts.conf")
    try:
        return factory()
    finally:
        if before is None:
            del os.environ["FONTCONFIG_FILE"]
        else:
            os.environ["FONTCONFIG_FILE"] = before
