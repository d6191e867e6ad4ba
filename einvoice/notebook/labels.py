"""Labels of the widgets."""

from __future__ import annotations

from typing import Final

from einvoice.localization import Messages

LABELS: Final = Messages("einvoice.notebook", "labels")
