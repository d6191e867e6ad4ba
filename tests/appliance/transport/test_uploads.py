"""Uploads, parsed as a stream."""

from collections.abc import AsyncIterator

import anyio
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from python_multipart.multipart import parse_options_header

from appliance.contract.problems import Problem
from appliance.transport.uploads import MAX_FILE_BYTES, MAX_FORM_BYTES, SINGLE_FILE, Form, _parse_options, read_form

_PARAMETER = st.tuples(
    st.sampled_from(["name", "filename", "boundary", "Name", "filename*"]),
    st.text(st.sampled_from('ab:;="\\ \t,é*'), max_size=6),
    st.sampled_from(["; {}={}", '; {}="{}"', ';{}="{}"']),
).map(lambda it: it[2].format(it[0], it[1]))


def form_body(*parts: tuple[str, bytes], end: bytes = b"\r\n--b--\r\n") -> bytes:
    head = "--b\r\nContent-Disposition: form-data; {}\r\n\r\n"
    return b"\r\n".join(head.format(names).encode() + content for names, content in parts) + end


async def parse(*chunks: bytes, seconds: float = 5, pause: float = 0) -> Form:
    async def stream() -> AsyncIterator[bytes]:
        for chunk in chunks:
            await anyio.sleep(pause)
            yield chunk

    return await read_form(stream(), "multipart/form-data; boundary=b", SINGLE_FILE, seconds=seconds)


@pytest.mark.anyio
async def test_form_in_arbitrary_chunks():
    body = form_body(
        ('name="validation_mode"', b"current"),
        ('name="file"; filename="Rechnung Müller.xml"', b"<a/>\r\n--not the end"),
        ('name="validation_mode"', "für".encode()),
    )
    whole = await parse(body)
    bytewise = await parse(*(body[at : at + 1] for at in range(len(body))))
    assert whole == bytewise
    assert [(file.name, file.content) for file in whole.files] == [("Rechnung Müller.xml", b"<a/>\r\n--not the end")]
    assert whole.fields == {"validation_mode": "für"}


@pytest.mark.anyio
async def test_reading_stops_at_the_limit():
    read = 0

    async def stream() -> AsyncIterator[bytes]:
        nonlocal read
        yield form_body(('name="file"; filename="a.xml"', b""), end=b"")
        for _ in range(50):
            read += 1
            yield b" " * 1_048_576

    with pytest.raises(Problem, match="file_too_large"):
        await read_form(stream(), "multipart/form-data; boundary=b", SINGLE_FILE, seconds=5)
    assert read == MAX_FILE_BYTES // 1_048_576 + 1


@pytest.mark.anyio
async def test_second_file_is_rejected_at_its_header():
    first = form_body(('name="file"; filename="a.xml"', b"<a/>"), ('name="file"; filename="b.xml"', b""), end=b"")
    with pytest.raises(Problem, match="one_file_expected"):
        await parse(first)


@pytest.mark.anyio
async def test_size_of_other_fields_is_limited():
    with pytest.raises(Problem, match="form_too_large"):
        await parse(form_body(('name="x"', b" " * MAX_FORM_BYTES), ('name="file"', b"<a/>")))


@pytest.mark.anyio
async def test_slow_upload_is_aborted():
    with pytest.raises(Problem, match="upload_too_slow"):
        await parse(form_body(('name="file"', b"<a/>")), seconds=0.01, pause=1)


@given(
    st.sampled_from(["form-data", "Form-Data", "multipart/form-data", "text/plain"]), st.lists(_PARAMETER, max_size=3)
)
@example("multipart/form-data", ["; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW"])
@example("form-data", ['; name="file"', '; filename="a; b=c.xml"'])
@example("form-data", ['; name="file"', '; filename="C:\\a.xml"'])
def test_usual_header_values_are_read_as_by_the_library(value, parameters):
    header = value + "".join(parameters)
    assert _parse_options(header.encode("latin-1")) == parse_options_header(header)
