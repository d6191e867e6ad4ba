"""Layout of the script-free pages: HTML frame, style sheet, and a restrictive content security policy."""

from html import escape
from typing import Final

from appliance.transport.static_documents import StaticDocument

STYLE = """
:root{color-scheme:light dark;--text:#1b1f24;--quiet:#57606a;--page:#fff;--edge:#d0d7de;--link:#0550ae;--tint:#f6f8fa}
@media (prefers-color-scheme:dark){:root{--text:#e6edf3;--quiet:#9aa4ae;--page:#0d1117;--edge:#30363d;--link:#6cb6ff;
--tint:#161b22}}
body{margin:0 auto;padding:1rem 1.25rem 4rem;max-width:60rem;color:var(--text);background:var(--page);
font:1rem/1.55 system-ui,sans-serif}
a{color:var(--link)}h1,h2,h3,li,p,dd,summary{overflow-wrap:anywhere}
h1,h2,h3{line-height:1.25}h2{margin-top:2.5rem;border-top:1px solid var(--edge);padding-top:1.2rem}
code,pre{font-size:.9em}code{overflow-wrap:anywhere}
pre{padding:.8rem 1rem;overflow:auto;background:var(--tint);border-radius:.4rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.35rem .8rem .35rem 0;
border-bottom:1px solid var(--edge)}
.quiet{color:var(--quiet)}.method{font-weight:700}details{margin:.6rem 0}
@media (max-width:45rem){table{display:block;overflow-x:auto}}
dt{font-weight:600;margin-top:.8rem}dd{margin:.1rem 0}
""".replace("\n", "")

HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def html_page(title: str, body: str, lang: str) -> StaticDocument:
    """Return a page.

    Args:
        title: plain text.
        body: HTML.
        lang: language of the page.
    """
    html = (
        f'<!doctype html>\n<html lang="{lang}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )
    return StaticDocument.from_bytes(html.encode(), "text/html", headers=HEADERS)
