"""JSON bodies and messages."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from appliance.contract.serialization import append_member, from_json, to_json
from appliance.workers.protocol import Message

_TEXT = st.text(st.characters(exclude_categories=()), max_size=8)  # with lone surrogates, as in a draft "\ud800"
_CONTENT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(_CONTENT)
@example(-(2**63) - 1)
@example({"\ud800": [2**64, 1e16]})
def test_content_is_the_same_for_any_parser(content):
    assert json.loads(to_json(content)) == content
    assert from_json(to_json(content)) == content


def test_json_is_compact_and_not_escaped():
    assert to_json({"b": [1, 2.5, None], "a": "März €"}) == '{"b":[1,2.5,null],"a":"März €"}'.encode()


def test_deep_nesting():
    content: list[object] = []
    for _ in range(400):
        content = [content]
    assert from_json(to_json(content)) == content


@pytest.mark.parametrize("data", [b"", b"{", b'{"a":1}x', b"\xff"])
def test_no_json(data):
    with pytest.raises(ValueError, match=r"Expecting|Extra data|codec"):
        from_json(data)


@given(_CONTENT)
def test_member_is_appended(content):
    assert from_json(append_member(b'{"a":1}', "b", to_json(content))) == {"a": 1, "b": content}


@given(st.dictionaries(_TEXT, _CONTENT, max_size=3), st.lists(st.binary(max_size=20), max_size=3))
def test_message_arrives_unchanged(head, parts):
    message = Message(head, tuple(parts))
    packed = message.pack()
    assert Message.length(packed) == len(packed)
    assert Message.unpack(packed) == message
