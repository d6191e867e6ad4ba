"""Wrapping of text for the terminal."""

import pytest

from einvoice.cli.wrapping import wrap

TEXT = "Trouvé : « 19 % » ; attendu : « 20 % »"


@pytest.mark.parametrize("width", range(6, 40))
def test_french_punctuation_stays_with_its_word(width):
    lines = wrap(TEXT, width, break_long_words=False)
    assert " ".join(lines) == TEXT
    assert not any(line[0] in "»:;%" or line.endswith("«") for line in lines)
