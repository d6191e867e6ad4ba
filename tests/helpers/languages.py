"""The error for a language without texts, which lists those of the message files."""

import re
from pathlib import Path

import einvoice

_FOLDER = Path(einvoice.__file__).parent / "localization" / "messages"
*_OTHERS, _LAST = sorted(repr(path.stem) for path in _FOLDER.glob("*.toml"))
REJECTED = re.escape(f"argument 'lang' must be {', '.join(_OTHERS)} or {_LAST}, not 'xx'")
"""Pattern of the message for "xx"."""
