"""Uploads, parsed as a stream."""

from collections.abc import AsyncIterator

import anyio
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from appliance.contract.problems import Problem
from appliance.transport.uploads import MAX_FILE_BYTES, MAX_FORM_BYTES, SINGLE_FILE, Form, read_form


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


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ('filename="Rechnung 1; Kopie=2.xml"', "Rechnung 1; Kopie=2.xml"),
        ('filename="100 %22netto%22.xml"', '100 "netto".xml'),
        ('filename="C:\\Rechnungen\\März.xml"', "März.xml"),
        ("filename=plain.xml", "plain.xml"),
        ('filename=""', "file"),
        ("size=1", "file"),
    ],
)
async def test_file_names(sent, name):
    form = await parse(form_body((f'name="file"; {sent}', b"<a/>")))
    assert [file.name for file in form.files] == [name]


@pytest.mark.anyio
async def test_file_name_that_is_not_utf8_does_not_refuse_the_file():
    body = form_body(('name="file"; filename="März.xml"', b"<a/>"))
    form = await parse(body.replace("ä".encode(), b"\xe4"))
    assert [(file.name, file.content) for file in form.files] == [("M\ufffdrz.xml", b"<a/>")]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "part",
    [
        b"\r\n\r\n<a/>",
        b'Content-Disposition: attachment; name="file"\r\n\r\n<a/>',
        b"Content-Disposition: form-data\r\n\r\n<a/>",
        b'Content-Disposition form-data; name="file"\r\n\r\n<a/>',
        b'Content-Disposition: form-data; name="file"\n\n<a/>',
    ],
)
async def test_part_without_a_valid_head(part):
    with pytest.raises(Problem, match="invalid_form"):
        await parse(b"--b\r\n" + part + b"\r\n--b--\r\n")


@given(content=st.binary(max_size=200), size=st.integers(1, 60))
@example(content=b"\r\n-\r\n--a\r", size=1)
def test_content_arrives_unchanged(content, size):
    assume(b"\r\n--b" not in content)
    body = form_body(('name="file"', b"<" + content))
    form = anyio.run(parse, *(body[at : at + size] for at in range(0, len(body), size)))
    assert form.files[0].content == b"<" + content
