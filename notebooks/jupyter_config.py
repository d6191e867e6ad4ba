"""How Jupyter, started in this folder, makes a page of a notebook: one that needs no script and no network.

A widget lives as long as its kernel. On such a page stands the plain HTML that every result and every widget brings.
"""

c = get_config()  # noqa: F821 (Jupyter gives it to its configuration files)
c.NbConvertBase.display_data_priority = ["text/html", "image/svg+xml", "image/png", "text/markdown", "text/plain"]
c.HTMLExporter.require_js_url = ""
c.HTMLExporter.jquery_url = ""
c.HTMLExporter.mathjax_url = ""
c.HTMLExporter.mermaid_js_url = ""
