"""The catalog as a pandas table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from einvoice.code_catalog import CatalogEntry
from einvoice.localization import Language
from einvoice.model.terms import bt_field
from einvoice.render.tables import require_pandas
from einvoice.result.catalog import Catalog
from einvoice.rulebook.rule import SEVERITIES, SYNTAXES
from einvoice.rulebook.sections import SECTIONS

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: Final = (
    "code",
    "severity",
    "layer",
    "layers",
    "section",
    "bt_field",
    "terms",
    "title",
    "explanation",
    "fix",
    "error_class",
    "examples",
    "xpath_ubl",
    "xpath_cii",
    "source",
    "since",
    "until",
)


def catalog_frame(catalog: Catalog, lang: Language) -> pd.DataFrame:
    """Return the catalog as a pandas table; see `Catalog.to_frame`."""
    require_pandas()
    import pandas as pd

    frame = pd.DataFrame([_row(catalog, entry, lang) for entry in catalog.values()], columns=list(COLUMNS))
    severities = pd.CategoricalDtype(list(reversed(SEVERITIES)), ordered=True)
    layers, sections = pd.CategoricalDtype(list(catalog.layers)), pd.CategoricalDtype(list(SECTIONS))
    return frame.astype({"severity": severities, "layer": layers, "section": sections})


def _row(catalog: Catalog, entry: CatalogEntry, lang: Language) -> tuple[str, ...]:
    return (
        entry.code,
        entry.severity,
        entry.layer,
        " ".join(entry.layers),
        entry.section,
        bt_field(entry.terms),
        " ".join(entry.terms),
        entry.title(lang),
        entry.explanation(lang),
        entry.fix(lang),
        catalog.error_class(entry.code),
        "\n".join(entry.examples_in(lang)),
        *(entry.xpaths.get(syntax, "") for syntax in SYNTAXES),
        entry.source,
        entry.since,
        entry.until,
    )
