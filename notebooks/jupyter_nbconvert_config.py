"""How `jupyter nbconvert`, called in this folder, makes a page of a notebook: one that needs no script and no network.

Results, widgets too, show the plain HTML that stands beside the widget, since a widget lives as long as its kernel.
"""

c = get_config()  # noqa: F821 (Jupyter gives it to its configuration files)
c.NbConvertBase.display_data_priority = ["text/html", "image/svg+xml", "image/png", "text/markdown", "text/plain"]
c.HTMLExporter.require_js_url = ""
c.HTMLExporter.jquery_url = ""
c.HTMLExporter.mathjax_url = ""
c.HTMLExporter.mermaid_js_url = ""
