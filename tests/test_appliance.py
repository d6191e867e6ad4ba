"""The appliance: a real server process asked over HTTP, and its parts where a server could not show them."""

import os
import shlex
import shutil
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import anyio
import httpx
import pytest

import einvoice
from appliance.__main__ import main
from appliance.app import create_app
from appliance.keys import KeyFile, KeyRing
from appliance.problems import Problem
from appliance.schemas import ProblemAnswer, ValidationAnswer
from appliance.settings import Settings
from appliance.upload import FILE_LIMIT, FRAME_LIMIT, Form, read_form

# One worker runs them all: the server is started once.
pytestmark = pytest.mark.xdist_group("appliance")

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "appliance" / "samples"
UBL = (SAMPLES / "xrechnung-ubl.xml").read_bytes()
CII = (SAMPLES / "xrechnung-cii.xml").read_bytes()
PATH = "/api/external/validate"


# ---------------------------------------------------------------- a server


@contextmanager
def running(data: Path, *command: str | Path) -> Iterator[list[str]]:
    """Start the appliance, as `appliance/run` does in the end, and give the words of the call that it prints."""
    command = (*(command or (sys.executable, "-m", "appliance", "serve", "--try-out")), "--port", "0")
    environ = {**os.environ, "EINVOICE_DATA": str(data)}
    log = data.with_suffix(".log")
    with log.open("w") as stderr:
        process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=stderr, text=True)
    try:
        assert process.stdout is not None
        printed = next((line for line in process.stdout if line.strip().startswith("curl ")), None)
        assert printed, f"no call was printed: {log.read_text()}"
        yield shlex.split(printed)
    finally:
        process.terminate()
        process.communicate(timeout=20)


def key_in(call: list[str]) -> str:
    return call[call.index("-H") + 1].removeprefix("X-API-Key: ")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    data = tmp_path_factory.mktemp("served") / "data"
    with running(data) as call:
        url = httpx.URL(call[-1])
        base = url.copy_with(path="/", query=None)
        headers = {"X-API-Key": key_in(call)}
        with httpx.Client(base_url=base, headers=headers, timeout=30) as client:
            yield SimpleNamespace(client=client, url=url, base=base, data=data, call=call)


def upload(server: SimpleNamespace, content: bytes = UBL, *, lang: str | None = None, **fields: str) -> httpx.Response:
    query = {"lang": lang} if lang else {}
    return server.client.post(PATH, params=query, files={"file": ("invoice.xml", content)}, data=fields)


def assert_problem(response: httpx.Response, status: int, code: str) -> ProblemAnswer:
    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
    problem = ProblemAnswer.model_validate(response.json())
    assert (problem.status, problem.code) == (status, code)
    assert problem.title
    assert problem.detail
    return problem


# ---------------------------------------------------------------- answers


def test_health_needs_no_key(server):
    response = httpx.get(server.base.join("/healthz"))
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize("mode", ["current", "compatibility"])
@pytest.mark.parametrize(("content", "syntax"), [(UBL, "UBL"), (CII, "CII")], ids=["UBL", "CII"])
def test_the_samples_are_valid(server, content, syntax, mode):
    response = upload(server, content, validation_mode=mode, unknown_field="ignored")
    assert response.status_code == 200, response.text
    answer = ValidationAnswer.model_validate_json(response.text, strict=True)
    assert answer.is_valid, answer.errors
    assert (answer.validation_format, answer.validation_mode) == (syntax, mode)
    assert answer.validation_profile == "XRechnung"
    assert {"validation_report_pdf", "readable_invoice_pdf"} <= answer.artifacts.keys()


def test_findings_come_in_the_language_asked_for(server):
    wrong = UBL.replace(b">693.00</cbc:LineExtensionAmount>", b">692.99</cbc:LineExtensionAmount>")
    answers = {lang: upload(server, wrong, lang=lang) for lang in ("de", "en")}
    default = upload(server, wrong)
    assert {answer.status_code for answer in [*answers.values(), default]} == {200}
    found = {
        lang: [item for item in answer.json()["errors"] if item["code"] == "BR-CO-10"]
        for lang, answer in answers.items()
    }
    assert len(found["de"]) == len(found["en"]) == 1
    assert found["de"][0]["title"] != found["en"][0]["title"]
    assert default.json()["errors"] == answers["de"].json()["errors"]
    assert not default.json()["is_valid"]


def test_the_printed_call_works(server):
    if not shutil.which("curl"):
        pytest.skip("curl is not installed")
    done = subprocess.run(["curl", "-sS", *server.call[1:]], capture_output=True, text=True, check=True, timeout=30)
    assert ValidationAnswer.model_validate_json(done.stdout).is_valid


# ---------------------------------------------------------------- keys before anything else


def test_no_key_and_a_wrong_key_are_refused(server):
    without = httpx.post(server.url, files={"file": UBL})
    german = httpx.post(server.base.join(PATH), files={"file": UBL})
    wrong = httpx.post(server.url, files={"file": UBL}, headers={"X-API-Key": "ei_wrong"})
    assert assert_problem(without, 401, "key_missing").title == "No API key"
    assert assert_problem(german, 401, "key_missing").title == "Kein API-Schlüssel"
    assert_problem(wrong, 401, "key_invalid")
    assert "WWW-Authenticate" in without.headers
    assert "ei_wrong" not in wrong.text


def test_two_keys_in_one_request_are_refused(server):
    key = server.client.headers["X-API-Key"]
    assert_problem(httpx.get(server.url, headers=[("X-API-Key", key), ("X-API-Key", key)]), 401, "key_invalid")


def test_another_plan_is_refused_and_a_revoked_key_ends_at_once(server, monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_DATA", str(server.data))
    assert main(["keys", "add", "small", "--plan", "personal"]) == 0
    small = {"X-API-Key": capsys.readouterr().out.strip()}
    assert_problem(httpx.post(server.url, files={"file": UBL}, headers=small), 403, "plan_required")
    assert main(["keys", "revoke", "SMALL_1"]) == 0
    assert_problem(httpx.post(server.url, files={"file": UBL}, headers=small), 401, "key_invalid")
    assert upload(server).status_code == 200


def test_the_key_is_checked_before_the_body_is_sent(server):
    """The answer comes although not one byte of the announced body has been sent."""
    with socket.create_connection((server.url.host, server.url.port), timeout=4) as connection:
        connection.sendall(f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n".encode())
        assert connection.recv(64).startswith(b"HTTP/1.1 401 ")


def test_the_key_is_checked_before_path_and_method(server):
    assert_problem(httpx.get(server.base.join("/api/external/nothing")), 401, "key_missing")
    assert_problem(httpx.delete(server.base.join(PATH)), 401, "key_missing")


def test_unknown_paths_and_methods(server):
    assert_problem(server.client.get("/api/external/nothing"), 404, "not_found")
    assert_problem(httpx.get(server.base.join("/nothing")), 404, "not_found")
    response = server.client.get(PATH)
    assert "GET" in assert_problem(response, 405, "method_not_allowed").detail
    assert response.headers["Allow"] == "POST"


# ---------------------------------------------------------------- form and size


def test_a_file_over_the_limit(server):
    problem = assert_problem(upload(server, b"<" * 11_000_000, lang="en"), 413, "file_too_large")
    assert problem.title == "File too large"
    assert "invoice.xml" in problem.detail


def test_a_file_at_the_limit_is_judged(server):
    comment = b"<!--" + b"x" * 999_993 + b"-->"
    sample = UBL + comment * ((FILE_LIMIT - len(UBL)) // len(comment))
    sample += b" " * (FILE_LIMIT - len(sample))
    assert upload(server, sample).status_code == 200
    assert_problem(upload(server, sample + b" "), 413, "file_too_large")


def test_a_huge_body_is_not_taken_in(server):
    taken = 0

    def body() -> Iterator[bytes]:
        nonlocal taken
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.xml"\r\n\r\n'
        for _ in range(200):
            taken += 1
            yield b" " * 1_000_000

    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    assert_problem(server.client.post(PATH, content=body(), headers=headers), 413, "file_too_large")
    assert taken < 100


def test_forms_without_exactly_one_file(server):
    post = server.client.post
    two = [("file", ("a.xml", UBL)), ("file", ("b.xml", CII))]
    assert_problem(post(PATH, files=two), 422, "one_file_expected")
    assert_problem(post(PATH, files={"other": ("a.xml", UBL)}), 422, "no_file")
    assert_problem(post(PATH, files={"file": ("a.xml", b"")}), 422, "empty_file")
    assert_problem(post(PATH, data={"file": ""}, files={"other": b"x"}), 422, "empty_file")


def test_what_is_no_form(server):
    post = server.client.post
    multipart = {"Content-Type": "multipart/form-data; boundary=b"}
    assert_problem(post(PATH), 422, "invalid_form")
    assert_problem(post(PATH, json={"file": "x"}), 422, "invalid_form")
    assert_problem(post(PATH, data={"file": "x"}), 422, "invalid_form")
    assert_problem(
        post(PATH, content=b"--b--\r\n", headers={"Content-Type": "multipart/form-data"}), 422, "invalid_form"
    )
    assert_problem(post(PATH, content=b"no boundary here", headers=multipart), 422, "invalid_form")
    cut_off = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.xml"\r\n\r\n' + UBL
    assert_problem(post(PATH, content=cut_off, headers=multipart), 422, "invalid_form")
    nameless = b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n"
    assert_problem(post(PATH, content=nameless, headers=multipart), 422, "invalid_form")


@pytest.mark.parametrize("lang", ["fr", "DE", "", "<script>" * 30 + "\x07"])
def test_unknown_languages(server, lang):
    response = server.client.post(PATH, params={"lang": lang}, files={"file": UBL})
    problem = assert_problem(response, 422, "invalid_lang")
    assert len(problem.detail) < 120
    assert "\x07" not in problem.detail


def test_unknown_modes(server):
    assert "future" in assert_problem(upload(server, validation_mode="future"), 422, "invalid_validation_mode").detail


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"just words", "unsupported_file"),
        (b"<a><b></a>", "not_well_formed"),
        (UBL[:-30], "not_well_formed"),
        (b"<order/>", "unknown_root_element"),
        (b"  \n", "empty_file"),
    ],
)
def test_what_nobody_can_read(server, content, code):
    problems = [assert_problem(upload(server, content, lang=lang), 422, code) for lang in ("de", "en")]
    assert problems[0].detail != problems[1].detail


def test_malformed_xml_is_answered_with_its_place(server):
    response = upload(server, b"<a>\n  <b></a>")
    assert_problem(response, 422, "not_well_formed")
    assert response.json()["line"] == 2
    assert response.json()["column"] >= 6


# ---------------------------------------------------------------- inside one process


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@contextmanager
def serving(tmp_path: Path, **settings: float) -> Iterator[httpx.AsyncClient]:
    file = KeyFile(tmp_path / "keys.env")
    headers = {"X-API-Key": file.add("acme", "business")}
    app = create_app(Settings(data=tmp_path, **settings), KeyRing(file.path, {}))
    yield httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here", headers=headers)


@pytest.mark.anyio
async def test_a_fault_of_ours_tells_nothing(tmp_path, monkeypatch, caplog):
    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("DE55869999990004711520")

    monkeypatch.setattr(einvoice, "validate", broken)
    with serving(tmp_path) as client:
        response = await client.post(PATH, files={"file": UBL})
        await client.aclose()
    assert_problem(response, 500, "internal_error")
    assert "RuntimeError" in caplog.text
    assert "DE5586" not in caplog.text + response.text


@pytest.mark.anyio
async def test_more_requests_than_places(tmp_path, monkeypatch):
    judge, go_on = einvoice.validate, threading.Event()

    def judge_later(*args: object, **kwargs: object) -> object:
        assert go_on.wait(10)
        return judge(*args, **kwargs)

    monkeypatch.setattr(einvoice, "validate", judge_later)
    with serving(tmp_path, workers=1, queue=1) as client:
        answers: list[httpx.Response] = []

        async def ask() -> None:
            answers.append(await client.post(PATH, files={"file": UBL}))
            if len(answers) == 2:
                go_on.set()

        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(ask)
        again = await client.post(PATH, files={"file": UBL})
        await client.aclose()
    assert [answer.status_code for answer in answers] == [503, 503, 200, 200]
    assert again.status_code == 200
    assert_problem(answers[0], 503, "busy")
    assert int(answers[0].headers["Retry-After"]) > 0


# ---------------------------------------------------------------- uploads, piece by piece


def form_body(*parts: tuple[str, bytes], end: bytes = b"\r\n--b--\r\n") -> bytes:
    head = "--b\r\nContent-Disposition: form-data; {}\r\n\r\n"
    return b"\r\n".join(head.format(names).encode() + content for names, content in parts) + end


async def taken_in(*chunks: bytes, seconds: float = 5, pause: float = 0) -> Form:
    async def stream() -> AsyncIterator[bytes]:
        for chunk in chunks:
            await anyio.sleep(pause)
            yield chunk

    return await read_form(stream(), "multipart/form-data; boundary=b", file_field="file", seconds=seconds)


@pytest.mark.anyio
async def test_a_form_may_arrive_in_any_pieces():
    body = form_body(
        ('name="validation_mode"', b"current"),
        ('name="file"; filename="Rechnung Müller.xml"', b"<a/>\r\n--not the end"),
        ('name="validation_mode"', "für".encode()),
    )
    whole = await taken_in(body)
    bytewise = await taken_in(*(body[at : at + 1] for at in range(len(body))))
    assert whole == bytewise
    assert [(file.name, file.content) for file in whole.files] == [("Rechnung Müller.xml", b"<a/>\r\n--not the end")]
    assert whole.fields == {"validation_mode": "für"}


@pytest.mark.anyio
async def test_reading_stops_where_the_limit_is_passed():
    read = 0

    async def stream() -> AsyncIterator[bytes]:
        nonlocal read
        yield form_body(('name="file"; filename="a.xml"', b""), end=b"")
        for _ in range(50):
            read += 1
            yield b" " * 1_048_576

    with pytest.raises(Problem, match="file_too_large"):
        await read_form(stream(), "multipart/form-data; boundary=b", file_field="file", seconds=5)
    assert read == FILE_LIMIT // 1_048_576 + 1


@pytest.mark.anyio
async def test_a_second_file_is_refused_at_its_first_line():
    first = form_body(('name="file"; filename="a.xml"', b"<a/>"), ('name="file"; filename="b.xml"', b""), end=b"")
    with pytest.raises(Problem, match="one_file_expected"):
        await taken_in(first)


@pytest.mark.anyio
async def test_what_is_no_file_is_bounded_too():
    with pytest.raises(Problem, match="form_too_large"):
        await taken_in(form_body(('name="x"', b" " * FRAME_LIMIT), ('name="file"', b"<a/>")))


@pytest.mark.anyio
async def test_a_slow_upload_is_given_up():
    with pytest.raises(Problem, match="upload_too_slow"):
        await taken_in(form_body(('name="file"', b"<a/>")), seconds=0.01, pause=1)


# ---------------------------------------------------------------- keys


def test_a_key_is_kept_as_a_hash_in_a_private_file(tmp_path):
    file = KeyFile(tmp_path / "deep" / "keys.env")
    plain = file.add("acme", "business")
    assert plain not in file.path.read_text()
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    key = KeyRing(file.path, {}).find(plain)
    assert key is not None
    assert (key.label, key.name, key.plan) == ("ACME_1", "acme", "business")


def test_two_keys_a_name_for_the_exchange(tmp_path):
    file = KeyFile(tmp_path / "keys.env")
    old, new = file.add("acme-berlin", "business"), file.add("acme-berlin", "business")
    with pytest.raises(ValueError, match="2 keys already"):
        file.add("acme-berlin", "business")
    file.revoke("ACME_BERLIN_1")
    ring = KeyRing(file.path, {})
    assert ring.find(old) is None
    assert ring.find(new) is not None
    with pytest.raises(KeyError):
        file.revoke("ACME_BERLIN_1")
    third = file.add("acme-berlin", "business")
    assert [key.label for key in file.read()] == ["ACME_BERLIN_2", "ACME_BERLIN_1"]
    assert ring.find(third) is not None, "an added key needs no restart"


@pytest.mark.parametrize("name", ["", "Acme", "a b", "a:b", "a\nb", "-a", "x" * 41])
def test_names_that_would_damage_the_file(tmp_path, name):
    with pytest.raises(ValueError, match="a-z"):
        KeyFile(tmp_path / "keys.env").add(name, "business")


def test_a_damaged_line_opens_nothing_and_closes_nothing(tmp_path, caplog):
    file = KeyFile(tmp_path / "keys.env")
    plain = file.add("acme", "business")
    file.path.write_text(f"# keys\n\nEINVOICE_KEY_X=x:business:\nsomething else\n{file.path.read_text()}")
    ring = KeyRing(file.path, {})
    assert ring.find(plain) is not None
    assert ring.find("") is None
    assert [f"line {n}" in caplog.text for n in (1, 2, 3, 4, 5)] == [False, False, True, True, False]


def test_keys_may_stand_in_the_environment(tmp_path):
    file = KeyFile(tmp_path / "keys.env")
    plain = file.add("acme", "business")
    name, _, value = file.path.read_text().strip().partition("=")
    assert KeyRing(tmp_path / "missing.env", {name: value, "OTHER": "x"}).find(plain) is not None


def test_a_later_start_lends_a_key_that_ends_with_it(tmp_path):
    data = tmp_path / "data"
    with running(data) as call:
        first = key_in(call)
    kept = (data / "keys.env").read_text()
    with running(data) as call:
        lent = key_in(call)
        answers = [httpx.get(call[-1], headers={"X-API-Key": key}).status_code for key in (first, lent)]
    assert answers == [405, 405]
    assert (data / "keys.env").read_text() == kept
    with running(data) as call:
        assert httpx.get(call[-1], headers={"X-API-Key": lent}).status_code == 401


# ---------------------------------------------------------------- the commands


@pytest.mark.slow
def test_the_command_of_the_checkout(tmp_path):
    if not (ROOT / ".venv" / ".made-from").exists():
        pytest.skip("this environment was not made by tests/run, and would be made anew")
    with running(tmp_path / "data", ROOT / "appliance" / "run") as call:
        assert httpx.get(httpx.URL(call[-1]).join("/healthz")).status_code == 200


def test_wrong_settings_end_in_a_sentence(monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_PORT", "many")
    assert main(["serve"]) == 1
    assert "EINVOICE_PORT" in capsys.readouterr().err


def test_a_taken_port_ends_in_a_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_DATA", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["serve", "--port", str(taken.getsockname()[1])]) == 1
    assert "in use" in capsys.readouterr().err


def test_revoking_what_is_not_there(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_DATA", str(tmp_path))
    assert main(["keys", "revoke", "NOBODY_1"]) == 1
    assert "NOBODY_1" in capsys.readouterr().err
