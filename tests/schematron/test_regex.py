"""Regular expressions: both ways to match agree, and no pattern takes long."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from einvoice.schematron import regex
from einvoice.schematron.errors import LimitReached, Stopped
from einvoice.schematron.regex.automaton import Automaton
from einvoice.schematron.regex.parts import written
from einvoice.schematron.regex.reader import Reader

ATOMS = st.sampled_from(["a", "b", "[ab]", "[^a]", ".", "(a|b)", "(?:ab)", r"\d", r"\s", "[a-z-[b]]"])
PARTS = st.builds(str.__add__, ATOMS, st.sampled_from(["", "?", "*", "+", "{2}", "{1,2}", "*?"]))
PATTERNS = st.lists(PARTS, min_size=1, max_size=4).map("".join)


@given(pattern=PATTERNS, text=st.text("ab1 ", max_size=8), begin=st.booleans(), end=st.booleans())
def test_both_ways_agree(pattern, text, begin, end):
    pattern = "^" * begin + pattern + "$" * end
    reader = Reader(pattern, "")
    part = reader.whole()
    tried = re.compile(written(part, "")).search(text) is not None
    assert Automaton(part, "").found_in(text) is tried


@pytest.mark.parametrize(
    "pattern", ["^(a+)+$", "(a|aa)+$", "(.*a){10}$", "(a?){20}a{20}b", ".*.*.*.*=", "^(([a-z])+.)+[A-Z]$"]
)
def test_no_pattern_takes_exponential_time(pattern):
    assert regex.pattern(pattern).is_in("a" * 2_000 + "!") is False


@pytest.mark.parametrize("pattern", ["(a{1000}){1000}", "(" * 5_000])
def test_no_pattern_takes_much_memory(pattern):
    with pytest.raises((LimitReached, Stopped)):
        regex.pattern(pattern).is_in("a")


@pytest.mark.parametrize("pattern", ["[", "a{2", "(a", "a)", "*a", r"\q", "[b-a]", r"\p{Xx}"])
def test_invalid_pattern_is_an_error(pattern):
    with pytest.raises(Stopped):
        regex.pattern(pattern)


def test_replacement_and_parts():
    assert regex.pattern(r"(\d+)-(\d+)").replace("12-34", r"$2\$$1") == "34$12"
    assert regex.pattern(",").split("a,b,") == ["a", "b", ""]
    with pytest.raises(Stopped):
        regex.pattern("a*").replace("b", "c")
    with pytest.raises(Stopped):
        regex.pattern("a").replace("a", r"\1")
