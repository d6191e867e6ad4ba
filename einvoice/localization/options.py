"""Defaults of the public functions.

    einvoice.options.lang = "en"         # in this process
    with einvoice.options(lang="en"):    # in this block, and only in its thread or asynchronous task
        ...

Precedence: the argument of a function, the block, the process, the environment variable EINVOICE_LANG, German. The
command `einvoice` uses the locale before German; the library does not, so that results do not depend on the machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Final

from einvoice.localization import Language, check_language

ENVIRONMENT: Final = "EINVOICE_LANG"
"""Environment variable with the default language."""
DEFAULT: Final[Language] = "de"

_in_block: Final[ContextVar[Language | None]] = ContextVar("einvoice_lang", default=None)


class Defaults:
    """Defaults of the public functions; the only instance is `einvoice.options`."""

    __slots__ = ("_lang",)

    def __init__(self) -> None:
        self._lang: Language | None = None

    @property
    def lang(self) -> Language:
        """Language of texts, one of `einvoice.localization.languages()`; None resets it.

        Raises:
            ValueError: the language is not supported.
        """
        lang = self.chosen
        if lang is None:
            return DEFAULT
        check_language(lang, f"environment variable {ENVIRONMENT}")  # the others are checked when they are set
        return lang

    @lang.setter
    def lang(self, lang: Language | None) -> None:
        if lang is not None:
            check_language(lang)
        self._lang = lang

    @property
    def chosen(self) -> Language | None:
        """The language of the block, the process, or the environment, without check; None if there is none."""
        return _in_block.get() or self._lang or os.environ.get(ENVIRONMENT) or None

    def __call__(self, *, lang: Language) -> AbstractContextManager[None]:
        """Return a context manager that sets the language in its block, and only in its thread or task.

        Raises:
            ValueError: the language is not supported.
        """
        check_language(lang)
        return _block(lang)

    def __repr__(self) -> str:
        return f"<options: lang={self.lang!r}>"


options: Final = Defaults()


def language(lang: Language | None) -> Language:
    """Return the language of an argument, by default that of the options.

    Raises:
        ValueError: the language is not supported.
    """
    if lang is None:
        return options.lang
    check_language(lang)
    return lang


@contextmanager
def _block(lang: Language) -> Iterator[None]:
    token = _in_block.set(lang)
    try:
        yield
    finally:
        _in_block.reset(token)
