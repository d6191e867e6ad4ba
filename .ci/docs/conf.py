"""Sphinx settings of the reference; see `build.py`.

Sphinx, because it is well kept and has pages beside the modules: MkDocs had no release for two years, pdoc has no such
pages.
Docstrings are Google style with Markdown's single backticks and indented code, which the hook below translates.
"""

import re
from typing import Any

from sphinx.domains.python import PyObject

project = "einvoice"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False

default_role = "py:obj"  # single backticks: a link if the text names something documented, else code
highlight_language = "none"
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_class_signature = "separated"  # callers get these objects from functions …
autodoc_default_options = {"exclude-members": "__init__, __new__"}  # … so constructors are left out
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_numpy_docstring = False
toc_object_entries_show_parents = "hide"

_LIST_ITEM = re.compile(r"\s*(?:[-*] |\d+\. |>>> |\.\. )")
_NAMES = re.compile(r"(?<=^:)(ivar|param) ([\w, ]+)(?=:)")


def to_restructured(lines: list[str]) -> None:
    """Translate a docstring from Markdown to reStructuredText, in place: indented code, tables, asterisks."""
    marked: list[str] = []
    is_code = False
    for number, line in enumerate(lines):
        before = next((text for text in reversed(marked) if text.strip()), "")
        after_blank = number > 0 and not lines[number - 1].strip()
        is_indented = line.startswith("    ")
        if is_indented and after_blank and before[:1].strip() and not _LIST_ITEM.match(before):
            marked += ["::", ""]
            is_code = True
        is_code = is_code and (is_indented or not line)
        if is_code or not line.lstrip().startswith("|"):
            marked.append(line if is_code or line.lstrip().startswith(">>>") else _escaped(line))
        elif not set(line) <= set("| -:"):
            marked += _table_row(line, is_first=not before.lstrip().startswith(("* -", "-")))
    lines[:] = marked


def _escaped(line: str) -> str:
    """Escape asterisks outside of code, which would begin emphasis."""
    return "`".join(part if number % 2 else part.replace("*", r"\*") for number, part in enumerate(line.split("`")))


def _table_row(line: str, *, is_first: bool) -> list[str]:
    """Return a row of a Markdown table as one of a list-table."""
    indent = line[: len(line) - len(line.lstrip())]
    cells = [_escaped(cell.strip()) for cell in line.strip().strip("|").split("|")]
    row = [f"{indent}   {'* -' if number == 0 else '  -'} {cell}" for number, cell in enumerate(cells)]
    return [f"{indent}.. list-table::", f"{indent}   :header-rows: 1", "", *row] if is_first else row


def mark_property(lines: list[str]) -> None:
    """Keep napoleon from reading the text before a colon as the type of a property, in place."""
    if lines and lines[0].startswith("Alias for field number"):  # of a named tuple
        lines.clear()
    lines[:0] = ["..", ""]


def join_names(lines: list[str]) -> None:
    """Join the names that share a description, of which Sphinx takes the first for a type, in place."""
    lines[:] = [_NAMES.sub(lambda found: f"{found[1]} {found[2].replace(' ', '')}", line) for line in lines]


def _before_napoleon(app: Any, what: str, name: str, described: Any, options: Any, lines: list[str]) -> None:
    to_restructured(lines)
    if what in ("property", "attribute"):
        mark_property(lines)


def setup(app: Any) -> None:
    """Register the hooks, before and after napoleon (priority 500), and name attributes as docstrings do."""
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"
    app.connect("autodoc-process-docstring", _before_napoleon, priority=400)
    app.connect("autodoc-process-docstring", lambda *event: join_names(event[-1]), priority=600)
