"""Exports of bulk results: pandas, CSV, Parquet."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, overload

from einvoice.bulk import tables
from einvoice.result.languages import Language

if TYPE_CHECKING:
    import pandas as pd

Table: TypeAlias = Literal["findings", "files", "differences"]


class Exports:
    """Tables of a set of results, in the formats of the tools that read them."""

    lang: Language

    def table(
        self,
        which: str,
        *,
        lang: Language | None = None,
        columns: Sequence[str] | None = None,
        texts: bool = True,
    ) -> tables.Table:
        """Return a table as plain values."""
        raise NotImplementedError

    def to_frame(
        self,
        which: Table = "findings",
        *,
        lang: Language | None = None,
        columns: Sequence[str] | None = None,
        texts: bool = True,
        amounts: Literal["decimal", "float"] = "decimal",
    ) -> pd.DataFrame:
        """Return the results as a pandas table, one row per finding, per file, or per difference.

        Severities and verdicts can be compared: `frame[frame.severity >= "warning"]`. Missing values are `pd.NA`, in
        categories NaN, in dates NaT.

        "findings" has, in this order:

        | columns | dtype |
        |---|---|
        | `file`, `number`, `seller` | string |
        | `type`, `folder`, `code` | category |
        | `severity` | category, ordered: information < warning < fatal |
        | `layer`, `section`, `bt_field` | category |
        | `terms` | string |
        | `line`, `column` | Int64 |
        | `title` | category |
        | `expected`, `actual`, `difference` | amount; missing if no numbers were compared |
        | `explanation`, `fix`, `xpath` | string |
        | `flag` | as `severity` |
        | `override_reason` | string |
        | `indicative` | bool |
        | `notes` | string |

        "files" has, in this order:

        | columns | dtype |
        |---|---|
        | `file` | string |
        | `verdict` | category, ordered: valid < invalid < unreadable |
        | `number` | string |
        | `date` | datetime64[s], NaT if not a valid date |
        | `type` | category |
        | `seller`, `buyer` | string |
        | `net`, `vat`, `gross` | amount |
        | `signed_gross` | amount; negative for a credit note |
        | `due_date` | datetime64[s] |
        | `amount_due` | amount |
        | `buyer_reference` | string; in XRechnung the Leitweg-ID |
        | `currency` | category |
        | `seller_vat` | string |
        | `folder` | category; "." for files in the common folder |
        | `errors`, `warnings`, `information` | Int64 |
        | `syntax`, `profile`, `version`, `ruleset` | category |
        | `agreement` | category, ordered: same < different; missing if the official artefacts gave no answer |
        | `compared` | string; the rule sets for which the engines were compared |
        | `only_native`, `only_reference` | string; codes that only one engine reports |
        | `codes_only_declared`, `codes_only_current` | Int64; missing outside of the compatibility mode |
        | `sha256` | string |

        "differences" has the columns of "findings" and, after `folder`:

        | columns | dtype |
        |---|---|
        | `only_in` | category: what reports the finding: native or reference, declared or current |
        | `changed_in` | category: the release that added or removed it; missing for engines |

        Args:
            which: the table.
            lang: language of the texts (default: that of the results).
            columns: names of the columns, in their order (default: all).
            texts: whether to have the columns `title`, `explanation`, `fix`, `override_reason` and `notes`; without,
                a table of findings takes a fraction of the time and memory.
            amounts: dtype of amounts. "decimal" is an Arrow decimal with 18 digits, 4 of them after the point; without
                pyarrow, objects: `Decimal`. Further decimals are rounded, larger amounts are missing; `FileResult` has
                the exact ones. "float" is float64, which plots, `describe` and `nlargest` need.

        Raises:
            ImportError: pandas is not installed (extra "notebook").
            ValueError: `which`, `amounts` or a column is unknown.
        """
        return tables.to_frame(self.table(which, lang=lang, columns=columns, texts=texts), amounts)

    @overload
    def to_csv(
        self,
        path: None = None,
        which: Table = "findings",
        *,
        sep: str = ",",
        encoding: str = "utf-8",
        lang: Language | None = None,
        columns: Sequence[str] | None = None,
        texts: bool = True,
    ) -> str: ...
    @overload
    def to_csv(
        self,
        path: str | os.PathLike[str],
        which: Table = "findings",
        *,
        sep: str = ",",
        encoding: str = "utf-8",
        lang: Language | None = None,
        columns: Sequence[str] | None = None,
        texts: bool = True,
    ) -> None: ...
    def to_csv(
        self,
        path: str | os.PathLike[str] | None = None,
        which: Table = "findings",
        *,
        sep: str = ",",
        encoding: str = "utf-8",
        lang: Language | None = None,
        columns: Sequence[str] | None = None,
        texts: bool = True,
    ) -> str | None:
        """Return the table `which` as CSV with a header; if `path` is given, write it there instead.

        Columns and arguments are those of `to_frame`; pandas is not needed, and amounts are exact.

        For German Excel use `sep=";", encoding="utf-8-sig"`; with a semicolon, numbers have a decimal comma. Text that
        starts like a formula is prefixed with an apostrophe. Spreadsheets may still interpret the invoice number 0815
        as a number and 1-2 as a date; Parquet avoids that.
        """
        lines = tables.csv_lines(self.table(which, lang=lang, columns=columns, texts=texts), sep)
        if path is None:
            return "".join(lines)
        with Path(path).open("w", encoding=encoding, errors="backslashreplace", newline="") as file:
            file.writelines(lines)
        return None

    def to_parquet(
        self,
        path: str | os.PathLike[str],
        which: Table = "findings",
        *,
        lang: Language | None = None,
        columns: Sequence[str] | None = None,
        texts: bool = True,
    ) -> None:
        """Write the table as Parquet.

        Types are those of `to_frame`; dates are in milliseconds.

        Raises:
            ImportError: pandas or pyarrow is not installed.
        """
        tables.to_parquet(self.table(which, lang=lang, columns=columns, texts=texts), path)
