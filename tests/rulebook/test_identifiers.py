"""Check digits: properties that the schemes promise, for any number."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from einvoice.rulebook.functions import identifiers

DIGITS = "0123456789"
#: Checks with one check digit, which find every single wrong digit, and the number of digits before it.
DETECTING = {
    identifiers.has_gs1_digit: 12,
    identifiers.is_norwegian_number: 8,
    identifiers.is_italian_vat_number: 10,
    identifiers.is_swedish_number: 9,
}
CHECKS = {
    **DETECTING,
    identifiers.is_belgian_number: 9,
    identifiers.is_australian_number: 10,
    identifiers.is_greek_number: 8,
}

Check = Callable[[str], bool]


def of_length(length: int) -> st.SearchStrategy[str]:
    return st.text(DIGITS, min_size=length, max_size=length)


@pytest.mark.parametrize("check", CHECKS)
@given(data=st.data())
def test_at_most_one_last_digit_is_correct(check: Check, data: st.DataObject) -> None:
    number = data.draw(of_length(CHECKS[check]))
    assert sum(check(number + digit) for digit in DIGITS) <= 1


@pytest.mark.parametrize("check", DETECTING)
@given(data=st.data())
def test_a_single_wrong_digit_is_found(check: Check, data: st.DataObject) -> None:
    number = data.draw(of_length(DETECTING[check]))
    valid = next((number + digit for digit in DIGITS if check(number + digit)), None)
    if valid:  # modulo 11 gives some numbers no check digit
        position = data.draw(st.integers(0, len(valid) - 1))
        other = data.draw(st.sampled_from([digit for digit in DIGITS if digit != valid[position]]))
        assert not check(valid[:position] + other + valid[position + 1 :])


@given(of_length(8))
def test_every_belgian_number_has_one_pair_of_check_digits(number: str) -> None:
    pairs = [f"{pair:02}" for pair in range(100) if identifiers.is_belgian_number(f"{number}{pair:02}")]
    assert len(pairs) == 1
    assert (int(number) + int(pairs[0])) % 97 == 0


@given(of_length(9))
def test_an_australian_number_exists_for_every_end(number: str) -> None:
    # The first two digits are the check digits: at least one pair gives the remainder 0, at most two do.
    found = [pair for pair in range(10, 100) if identifiers.is_australian_number(f"{pair}{number}")]
    assert 1 <= len(found) <= 2


@given(of_length(8))
def test_every_greek_number_has_a_check_digit(number: str) -> None:
    assert sum(identifiers.is_greek_number(number + digit) for digit in DIGITS) == 1


@pytest.mark.parametrize("check", CHECKS)
@given(data=st.data())
def test_other_characters_are_no_digits(check: Check, data: st.DataObject) -> None:
    number = data.draw(of_length(CHECKS[check] + 1))
    position = data.draw(st.integers(0, CHECKS[check]))
    other = data.draw(st.characters(exclude_characters=DIGITS))
    assert not check(number[:position] + other + number[position + 1 :])


@given(st.text(max_size=20))
def test_parts_join_to_the_text(text: str) -> None:
    count = text.count("|") + 1
    assert "|".join(identifiers.part(text, "|", position) for position in range(1, count + 1)) == text
    assert identifiers.part(text, "|", count + 1) == ""


@given(st.floats(allow_nan=False))
def test_every_double_is_a_number(number: float) -> None:
    assert identifiers.is_number(repr(number).replace("inf", "INF"))
