"""What a change may do: be made without asking, be made on request, or only be asked."""

from enum import IntEnum


class Applicability(IntEnum):
    """What a change may do; the greater one of several holds for all together."""

    SAFE = 0
    """Form with one reading, or a number that all its equations and at least two facts demand."""
    UNSAFE = 1
    """The same with one open reading: someone who knows the transaction looks at it."""
    QUESTION = 2
    """Only the issuer knows: it is never made, only asked."""


SAFE, UNSAFE, QUESTION = Applicability
