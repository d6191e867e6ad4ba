"""Jupyter configuration: export notebooks to HTML that needs neither scripts nor network.

Widgets need a running kernel. Exported pages show the static HTML of results and widgets instead.
"""

c = get_config()  # noqa: F821 (provided by Jupyter)
c.NbConvertBase.display_data_priority = ["text/html", "image/svg+xml", "image/png", "text/markdown", "text/plain"]
c.HTMLExporter.require_js_url = ""
c.HTMLExporter.jquery_url = ""
c.HTMLExporter.mathjax_url = ""
c.HTMLExporter.mermaid_js_url = ""
