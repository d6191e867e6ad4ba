"""What reading one PDF may cost, and the first word between the processes that do it."""

from __future__ import annotations

from typing import Final

MEMORY: Final = 512 << 20
"""Bytes of address space; an ordinary hybrid takes about 70 MB with the libraries."""

SECONDS: Final = 20
"""By the clock, and half of it of the processor; an ordinary hybrid takes a hundredth of one."""

PATIENCE: Final = SECONDS + 10
"""So many seconds the asking process waits, which the worker never lives to see."""

ANSWER: Final = 24 << 20
"""Bytes: the XML, and what is told of the PDF."""

STARTED: Final = b"!"
