"""What goes wrong with an imported sheet: at import, or while it judges a document."""

from __future__ import annotations


class NotCompilable(Exception):  # noqa: N818 (names the state)
    """An expression, pattern or instruction that cannot be compiled; the message says which, and where."""


class Stopped(Exception):  # noqa: N818 (names the state)
    """The sheet ends without a verdict, as it would under an XSLT processor.

    Attributes:
        code: error code of XPath, such as "FORG0001"; "" for a limit of this program.
    """

    def __init__(self, code: str, reason: str) -> None:
        self.code = code
        super().__init__(f"{code}: {reason}" if code else reason)


class LimitReached(Stopped):
    """The document or the sheet needs more steps or a deeper recursion than is allowed."""

    def __init__(self, reason: str) -> None:
        super().__init__("", reason)
