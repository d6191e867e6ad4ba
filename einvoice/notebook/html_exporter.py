"""Export of notebooks to HTML that loads nothing from the network.

Pages of nbconvert's own HTML exporter load require.js, MathJax and the widget manager from other hosts. nbconvert finds
this exporter by its entry point; it must be importable with the core dependencies only, since nbconvert and JupyterLab
load all exporters to list them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter
from traitlets.config import Config

TEMPLATES = Path(__file__).parent / "templates"


class OfflineHTMLExporter(HTMLExporter):
    """Exports HTML without scripts and links of its own: widgets are replaced by their static HTML or text."""

    export_from_notebook = "HTML without network access"

    def __init__(self, config: Config | None = None, **options: Any) -> None:
        super().__init__(config, **options)  # type: ignore[no-untyped-call]
        # Last, since the preprocessor that executes notebooks stores the state.
        self.register_preprocessor(remove_widget_state, enabled=True)  # type: ignore[no-untyped-call]

    @property
    def default_config(self) -> Config:
        """Settings of this class: they precede those for all HTML exporters, such as another template."""
        template = {"template_name": "einvoice_html", "extra_template_basedirs": [str(TEMPLATES)]}
        config = Config({type(self).__name__: template})
        config.merge(super().default_config)
        return config


def remove_widget_state(notebook: Any, resources: Any) -> tuple[Any, Any]:
    """Preprocessor: remove the saved state of widgets. Without it, exporters choose the next best format."""
    notebook.metadata.pop("widgets", None)
    return notebook, resources
