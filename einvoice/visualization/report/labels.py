"""Labels of the validation report; further labels are in `einvoice.render.text`."""

from __future__ import annotations

from typing import Final

from einvoice.localization import Messages

WORDS: Final = Messages("einvoice.visualization", "report")
