"""Exports of bulk results: pandas, CSV, Parquet, Excel."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias, TypedDict, Unpack, overload

from einvoice.bulk import tables
from einvoice.bulk.labels import COLUMN_LABELS
from einvoice.result.languages import Language

if TYPE_CHECKING:
    import pandas as pd

Which: TypeAlias = Literal["findings", "files", "lines", "vat", "differences"]
TABLES: Final = ("findings", "files", "lines", "vat", "differences")


class TableOptions(TypedDict, total=False):
    """Arguments of all tables; see `Exports.to_frame`."""

    lang: Language | None
    columns: Sequence[str] | None
    texts: bool
    terms: Sequence[str]
    law: str | None


class Exports:
    """Tables of a set of files, in the formats of the tools that read them."""

    lang: Language

    def table(self, which: str, **options: Unpack[TableOptions]) -> tables.Table:
        """Return a table as plain values."""
        raise NotImplementedError

    def to_frame(
        self,
        which: Which = "findings",
        *,
        lang: Language | None = None,
        columns: Sequence[str] | None = None,
        texts: bool = True,
        terms: Sequence[str] = (),
        law: str | None = None,
        amounts: Literal["decimal", "float"] = "decimal",
    ) -> pd.DataFrame:
        """Return the results as a pandas table, one row per finding, file, line, VAT breakdown, or difference.

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
        | `seller_country` | category |
        | `buyer_vat` | string |
        | `buyer_country` | category |
        | `order` | string; BT-13 |
        | `payment_terms` | string; BT-20 |
        | `iban` | string; the accounts to pay to (BT-84), without blanks, separated by one |
        | `line_count` | Int64 |
        | `software` | string; the software that made the file, if its XML or PDF says so |
        | `folder` | category; "." for files in the common folder |
        | `errors`, `warnings`, `information` | Int64 |
        | `syntax`, `profile`, `version`, `ruleset` | category |
        | `agreement` | category, ordered: same < different; missing if the official artefacts gave no answer |
        | `compared` | string; the rule sets for which the engines were compared |
        | `only_native`, `only_reference` | string; codes that only one engine reports |
        | `codes_only_declared`, `codes_only_current` | Int64; missing outside of the compatibility mode |
        | `sha256` | string |

        "lines" has one row per line of an invoice, each followed by its sub-lines, and "vat" one per category and rate.
        The files are read again for them. Both begin with `file`, `number` (string), `date` (datetime64[s]), `type`
        (category), `seller`, `buyer` (string) and `currency` (category), and end with amounts that are negative for a
        credit note. "lines" has, in between:

        | columns | dtype |
        |---|---|
        | `line` | string; BT-126 |
        | `above` | string; the parent of a sub-line, whose amount has that of the sub-line already |
        | `name`, `description` | string |
        | `seller_item`, `buyer_item`, `standard_item` | string; article numbers: BT-155, BT-156, BT-157 |
        | `quantity` | quantity |
        | `unit` | category |
        | `price`, `base_quantity` | quantity; the price is for the base quantity, for 1 if that is missing |
        | `allowances`, `charges` | amount; sums of BT-136 and BT-141 |
        | `net` | amount |
        | `vat_category` | category |
        | `vat_rate` | amount; percent |
        | `order_line` | string; BT-132 |
        | `period_start`, `period_end` | datetime64[s] |
        | `accounting_reference` | string; BT-133 |
        | `signed_net` | amount |

        and "vat":

        | columns | dtype |
        |---|---|
        | `vat_category` | category |
        | `vat_rate` | amount; percent |
        | `taxable`, `tax` | amount; BT-116, BT-117 |
        | `exemption_code` | category; BT-121 |
        | `exemption` | string; BT-120 |
        | `signed_taxable`, `signed_tax` | amount |

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
            terms: numbers of business terms, such as "BT-84", for which the table "files" gets a column each; the
                files are read again. Amounts, quantities and dates have their dtype unless an invoice can have the term
                several times; then it is a string, in which "; " separates several values.
            law: country of a VAT law, "de": "findings" gets the column `error_class` (category: format, content,
                business_rule; missing if it has none) and "files" the column `assessment` (category: e_invoice,
                other_invoice, open), see `ValidationResult.assessment`.
            amounts: dtype of amounts. "decimal" is an Arrow decimal with 18 digits, 4 of them after the point; without
                pyarrow, objects: `Decimal`. Further decimals are rounded, larger amounts are missing; `FileResult` has
                the exact ones. Quantities and prices have 8 digits after the point. "float" is float64, which plots,
                `describe` and `nlargest` need.

        Raises:
            ImportError: pandas is not installed (extra "notebook").
            LookupError: the files, which have to be read again, are no longer available.
            ValueError: `which`, `amounts`, `law`, a column or a term is unknown, or the content of a file has changed.
        """
        table = self.table(which, lang=lang, columns=columns, texts=texts, terms=terms, law=law)
        return tables.to_frame(table, amounts)

    @overload
    def to_csv(
        self,
        path: None = None,
        which: Which = "findings",
        *,
        sep: str = ",",
        encoding: str = "utf-8",
        **options: Unpack[TableOptions],
    ) -> str: ...
    @overload
    def to_csv(
        self,
        path: str | os.PathLike[str],
        which: Which = "findings",
        *,
        sep: str = ",",
        encoding: str = "utf-8",
        **options: Unpack[TableOptions],
    ) -> None: ...
    def to_csv(
        self,
        path: str | os.PathLike[str] | None = None,
        which: Which = "findings",
        *,
        sep: str = ",",
        encoding: str = "utf-8",
        **options: Unpack[TableOptions],
    ) -> str | None:
        """Return the table `which` as CSV with a header; if `path` is given, write it there instead.

        Columns and arguments are those of `to_frame`; pandas is not needed, and amounts are exact.

        For German Excel use `sep=";", encoding="utf-8-sig"`; with a semicolon, numbers have a decimal comma. Text that
        starts like a formula is prefixed with an apostrophe. Spreadsheets may still interpret the invoice number 0815
        as a number and 1-2 as a date; Parquet avoids that.
        """
        lines = tables.csv_lines(self.table(which, **options), sep)
        if path is None:
            return "".join(lines)
        with Path(path).open("w", encoding=encoding, errors="backslashreplace", newline="") as file:
            file.writelines(lines)
        return None

    def to_parquet(
        self,
        path: str | os.PathLike[str],
        which: Which = "findings",
        **options: Unpack[TableOptions],
    ) -> None:
        """Write the table as Parquet.

        Types are those of `to_frame`; dates are in milliseconds.

        Raises:
            ImportError: pandas or pyarrow is not installed.
        """
        tables.to_parquet(self.table(which, **options), path)

    def to_excel(
        self,
        path: str | os.PathLike[str],
        which: Sequence[Which] | None = None,
        **options: Unpack[TableOptions],
    ) -> None:
        """Write an Excel workbook with a sheet per table: numbers as numbers, dates as dates, headings in the language.

        The header is fixed and has filters; the names of files lead to their row in the sheet of the files. A result
        set begins with a sheet of the verdicts and the frequent findings.

        Args:
            path: the file, such as "october.xlsx".
            which: the tables (default: files and findings, without validation files, lines and VAT).
            options: arguments of `to_frame`: `lang`, `texts`, `terms`, `law`.

        Raises:
            ImportError: openpyxl is not installed (extra "notebook").
            ValueError: an argument is invalid, or a table has more rows than a sheet can have.
        """
        from einvoice.bulk.excel import Sheet, write_workbook

        lang = options.get("lang") or self.lang
        labels = COLUMN_LABELS[lang]
        wanted = self._SHEETS if which is None else which
        links_to = labels["files"] if "files" in wanted else ""
        sheets = [Sheet(labels["overview"], it) for it in self._overview(lang)]
        for name in sorted(wanted, key=lambda it: it != "files"):
            table = self.table(name, **options)
            sheets.append(Sheet(labels[name], table, "" if name == "files" else links_to))
        write_workbook(path, sheets, lang)

    _SHEETS: ClassVar[Sequence[Which]] = ()

    def _overview(self, lang: Language) -> Sequence[tables.Table]:
        """Return the table of the first sheet, if there is one."""
        return ()

    def duplicates(
        self,
        by: Literal["number", "amount", "iban"] = "number",
        *,
        amounts: Literal["decimal", "float"] = "decimal",
    ) -> pd.DataFrame:
        """Return the invoices that were possibly sent twice, or the sellers whose account has changed.

        A seller is known by the VAT identifier, or else by the name. The pandas table has a row per file, with its
        `group` (Int64, from 1) and `file`, `number`, `date`, `type`, `seller`, `seller_vat`, `signed_gross`,
        `currency`, `iban` and `sha256`, which is the same for equal files.

        Args:
            by: "number": invoices of a seller with the same number. "amount": invoices of a seller with the same date,
                amount and currency. "iban": for each seller with several accounts (BT-84), the first invoice with each
                of them, by date.
            amounts: as of `to_frame`.

        Raises:
            ImportError: pandas is not installed (extra "notebook").
            ValueError: `by` is unknown.
        """
        from einvoice.bulk.duplicates import NEEDED, duplicates

        return tables.to_frame(duplicates(self.table("files", columns=NEEDED), by), amounts)
