"""API keys."""

import datetime
import hashlib
import json
import logging
import re
import resource
import stat
import subprocess
import sys

import pytest

from appliance.__main__ import main
from appliance.access.key_usage import KeyUsage
from appliance.access.keys import KeyExpired, KeyFile, KeyRing, generate_key
from tests.helpers.served import API, assert_problem, http, key_in, running
from tests.helpers.waiting import SECONDS


def test_key_is_stored_as_a_hash_in_a_private_file(tmp_path):
    file = KeyFile(tmp_path / "deep" / "keys.env")
    plain = file.add("acme", "business")
    assert plain not in file.path.read_text()
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    key = KeyRing(file.path, {}).find(plain)
    assert key is not None
    assert (key.label, key.name, key.plan) == ("ACME_1", "acme", "business")


def test_two_keys_per_name_for_rotation(tmp_path):
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
    assert ring.find(third) is not None, "an added key is valid without restart"


@pytest.mark.parametrize("name", ["", "Acme", "a b", "a:b", "a\nb", "-a", "x" * 41])
def test_invalid_key_names(tmp_path, name):
    with pytest.raises(ValueError, match="a-z"):
        KeyFile(tmp_path / "keys.env").add(name, "business")


def test_invalid_line_is_skipped(tmp_path, caplog):
    file = KeyFile(tmp_path / "keys.env")
    plain = file.add("acme", "business")
    file.path.write_text(f"# keys\n\nEINVOICE_KEY_X=x:business:\nsomething else\n{file.path.read_text()}")
    ring = KeyRing(file.path, {})
    assert ring.find(plain) is not None
    assert ring.find("") is None
    assert [f"line {n}" in caplog.text for n in (1, 2, 3, 4, 5)] == [False, False, True, True, False]


def test_keys_from_the_environment(tmp_path):
    file = KeyFile(tmp_path / "keys.env")
    plain = file.add("acme", "business")
    name, _, value = file.path.read_text().strip().partition("=")
    assert KeyRing(tmp_path / "missing.env", {name: value, "OTHER": "x"}).find(plain) is not None


@pytest.mark.slow
def test_later_start_issues_a_temporary_key(tmp_path):
    data = tmp_path / "data"
    with running(data, workers=1) as call:
        first = key_in(call)
    kept = (data / "keys.env").read_text()
    with running(data, workers=1) as call:
        temporary = key_in(call)
        responses = [http.get(call[-1], headers={"X-API-Key": key}).status_code for key in (first, temporary)]
    assert responses == [405, 405]
    assert (data / "keys.env").read_text() == kept
    with running(data, workers=1) as call:
        assert http.get(call[-1], headers={"X-API-Key": temporary}).status_code == 401


def stored_key(name="first"):
    """Return a plain key, and its line without the final newline."""
    plain, key = generate_key(f"{name.upper()}_1", name, "business")
    return plain, key.line().encode()


def test_file_without_final_newline(tmp_path):
    file = KeyFile(tmp_path / "keys.env")
    first, line = stored_key()
    file.path.write_bytes(line)
    second = file.add("second", "business")
    ring = KeyRing(file.path, {})
    assert ring.find(first) is not None
    assert ring.find(second) is not None


@pytest.mark.parametrize(
    "comment", ["# Schlüssel für Köln".encode("latin-1"), b"\xef\xbb\xbf# notes", b"# a\x0bb\x1cc"]
)
def test_comment_in_any_encoding(tmp_path, comment):
    file = KeyFile(tmp_path / "keys.env")
    first, line = stored_key()
    file.path.write_bytes(comment + b"\r\n" + line + b"\n")
    second = file.add("second", "business")
    file.revoke("FIRST_1")
    ring = KeyRing(file.path, {})
    assert ring.find(first) is None
    assert ring.find(second) is not None
    assert file.path.read_bytes().startswith(comment + b"\r\n"), "kept as it was"


def test_key_after_a_byte_order_mark(tmp_path):
    first, line = stored_key()
    (tmp_path / "keys.env").write_bytes(b"\xef\xbb\xbf" + line)
    assert KeyRing(tmp_path / "keys.env", {}).find(first) is not None
    KeyFile(tmp_path / "keys.env").revoke("FIRST_1")
    assert KeyRing(tmp_path / "keys.env", {}).find(first) is None


def test_unknown_plan_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_DATA", str(tmp_path))
    (tmp_path / "keys.env").write_text("EINVOICE_PLAN_TRIAL=can_use_api")
    assert main(["keys", "add", "acme", "--plan", "trail"]) == 1
    message = capsys.readouterr().err
    assert all(word in message for word in ("'trail'", "business, trial", "EINVOICE_PLAN_TRAIL"))
    assert (tmp_path / "keys.env").read_text() == "EINVOICE_PLAN_TRIAL=can_use_api"
    assert main(["keys", "add", "acme", "--plan", "TRIAL"]) == 1
    assert capsys.readouterr().err.strip().endswith("no plan 'TRIAL'; did you mean 'trial'?")
    assert main(["keys", "add", "acme", "--plan", "trial"]) == 0


def test_nothing_is_added_to_a_file_with_an_invalid_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_DATA", str(tmp_path))
    first, line = stored_key()
    content = line + b"\nsomething else\n"
    (tmp_path / "keys.env").write_bytes(content)
    assert main(["keys", "add", "acme"]) == 1
    message = capsys.readouterr().err
    assert "keys.env, line 2" in message
    assert "something" not in message, "it may be a key in plain"
    assert (tmp_path / "keys.env").read_bytes() == content
    assert main(["keys", "revoke", "FIRST_1"]) == 0, "an invalid line does not keep a key valid"
    assert KeyRing(tmp_path / "keys.env", {}).find(first) is None


@pytest.mark.slow
def test_revoking_needs_no_space(tmp_path):
    file = KeyFile(tmp_path / "keys.env")
    first, line = stored_key()
    second, other = stored_key("second")
    file.path.write_bytes(b"# x\n" + line + b"\n" + other + b"\n")
    limit = resource.RLIMIT_FSIZE, (100, 100)  # the file itself may be overwritten up to byte 100, not be copied
    script = "import sys; from appliance.__main__ import main; sys.exit(main(['keys', 'revoke', 'FIRST_1']))"
    subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        env={"EINVOICE_DATA": str(tmp_path), "PYTHONPATH": ":".join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(*limit),
    )
    assert KeyRing(file.path, {}).find(first) is None
    assert KeyRing(file.path, {}).find(second) is not None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["keys.env"]


def test_unreadable_file_keeps_the_keys_read_last(tmp_path, caplog):
    file = KeyFile(tmp_path / "keys.env")
    plain = file.add("acme", "business")
    ring = KeyRing(file.path, {})
    file.path.unlink()
    file.path.mkdir()
    assert ring.find(plain) is not None
    assert ring.find(plain) is not None
    assert caplog.text.count("cannot be read") == 1


def test_expired_key(tmp_path):
    file = KeyFile(tmp_path / "keys.env")
    day = datetime.date(2126, 11, 20)
    plain = file.add("acme", "business", expires=day)
    assert KeyRing(file.path, {}, clock=lambda: day).find(plain) is not None
    with pytest.raises(KeyExpired, match="2126-11-20"):
        KeyRing(file.path, {}, clock=lambda: day + datetime.timedelta(days=1)).find(plain)
    with pytest.raises(ValueError, match="2020-01-01"):
        file.add("acme", "business", expires=datetime.date(2020, 1, 1))


@pytest.mark.parametrize(("lang", "word"), [("de", "abgelaufen"), ("en", "expired")])
def test_problem_says_that_the_key_has_expired(server, lang, word):
    plain, key = generate_key("OLD_1", "old", "business", datetime.date(2026, 1, 31))
    with (server.data / "keys.env").open("a") as file:
        file.write(f"{key.line()}\n")
    headers = {"X-API-Key": plain}
    response = server.client.get(f"{API}/capabilities", headers=headers, params={"lang": lang})
    detail = assert_problem(response, 401, "key_invalid").detail
    assert word in detail
    assert "2026-01-31" in detail


def test_key_with_an_impossible_date_is_invalid(tmp_path):
    first, line = stored_key()
    (tmp_path / "keys.env").write_bytes(line + b":expires=2126-02-31\n")
    assert KeyRing(tmp_path / "keys.env", {}).find(first) is None


def test_days_are_listed(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_DATA", str(tmp_path))
    assert main(["keys", "add", "acme", "--expires", "2126-11-20"]) == 0
    plain = capsys.readouterr().out.strip()
    assert main(["keys", "add", "other"]) == 0
    usage, day = KeyUsage(tmp_path / "key-usage.json"), datetime.date(2126, 11, 19)
    KeyRing(tmp_path / "keys.env", {}, usage, lambda: day).find(plain)
    capsys.readouterr()
    main(["keys", "list"])
    acme, other = capsys.readouterr().out.splitlines()
    assert acme.endswith("used=2126-11-19 expires=2126-11-20 in=file")
    assert other.endswith("used=- expires=- in=file")
    assert plain not in (tmp_path / "key-usage.json").read_text()


def test_changes_are_logged(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    file = KeyFile(tmp_path / "keys.env")
    file.add("acme", "business")
    ring = KeyRing(file.path, {})
    assert [record.message for record in caplog.records] == ["Keys loaded"]
    plain = file.add("acme", "business")
    file.revoke("ACME_1")
    caplog.clear()
    ring.find(plain)
    logged = [(record.message, record.fields.get("key")) for record in caplog.records]
    assert logged == [("Key added", "ACME_2"), ("Key revoked", "ACME_1"), ("Keys loaded", None)]
    assert plain not in caplog.text


def in_environment(monkeypatch, tmp_path, plan="business", **others):
    """Define a key of "acme" in the environment, and return it in plain."""
    monkeypatch.setenv("EINVOICE_DATA", str(tmp_path))
    plain, key = generate_key("ACME_1", "acme", plan)
    name, _, value = key.line().partition("=")
    for variable, content in {name: value, **others}.items():
        monkeypatch.setenv(variable, content)
    return plain


def test_keys_of_the_environment_are_listed(tmp_path, monkeypatch, capsys):
    in_environment(monkeypatch, tmp_path)
    assert main(["keys", "add", "acme"]) == 0
    capsys.readouterr()
    assert main(["keys", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["ACME_2", "ACME_1"]
    assert [line.split()[-1] for line in lines] == ["in=file", "in=environment"]


def test_key_of_the_environment_is_not_revoked_by_the_command(tmp_path, monkeypatch, capsys):
    in_environment(monkeypatch, tmp_path)
    assert main(["keys", "revoke", "ACME_1"]) == 1
    assert "remove the variable EINVOICE_KEY_ACME_1" in capsys.readouterr().err


def test_printed_line_is_a_key_for_the_environment(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_DATA", str(tmp_path / "data"))
    assert main(["keys", "add", "acme", "--print-line", "--expires", "2999-12-31"]) == 0
    plain, line = capsys.readouterr().out.splitlines()
    assert not (tmp_path / "data").exists(), "nothing is stored"
    name, _, value = line.partition("=")
    label = KeyRing(tmp_path / "missing.env", {name: value}).find(plain).label
    assert label == f"ACME_{hashlib.sha256(plain.encode()).hexdigest()[:6].upper()}"
    assert plain not in line


def test_printed_lines_do_not_replace_each_other(tmp_path, monkeypatch, capsys):
    """The second command knows nothing of the first: its line is to be added to the same environment."""
    monkeypatch.setenv("EINVOICE_DATA", str(tmp_path / "data"))
    printed = []
    for _ in range(2):
        assert main(["keys", "add", "acme", "--print-line"]) == 0
        printed.append(capsys.readouterr().out.split())
    ring = KeyRing(tmp_path / "missing.env", dict(line.split("=", 1) for _, line in printed))
    assert all(ring.find(plain).name == "acme" for plain, _ in printed)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"EINVOICE_KEY_B_1": "b:business:SECRET"}, "variable EINVOICE_KEY_B_1: not a key"),
        ({"EINVOICE_PLAN_TRIAL": "can_fly"}, "variable EINVOICE_PLAN_TRIAL: not a valid plan: can_fly: Extra"),
        (
            {"EINVOICE_KEY_B_1": f"b:busines:{64 * '0'}"},
            "variable EINVOICE_KEY_B_1: no plan 'busines'; known: business",
        ),
    ],
)
def test_error_in_the_environment_stops_the_start(tmp_path, monkeypatch, variables, message):
    in_environment(monkeypatch, tmp_path, **variables)
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        KeyRing(tmp_path / "keys.env").check_environment()
    assert "SECRET" not in str(error.value)


@pytest.mark.slow
def test_server_checks_the_environment(tmp_path, monkeypatch):
    in_environment(monkeypatch, tmp_path, EINVOICE_PLAN_TRIAL="can_fly")
    command = [sys.executable, "-m", "appliance", "serve", "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 1
    messages = [json.loads(line)["message"] for line in done.stderr.splitlines()]
    assert any(message.startswith("variable EINVOICE_PLAN_TRIAL: not a valid plan") for message in messages)


def test_list_reports_an_unknown_plan(tmp_path, monkeypatch, capsys):
    in_environment(monkeypatch, tmp_path, plan="busines")
    assert main(["keys", "list"]) == 1
    assert "ACME_1: no plan 'busines'; known: business" in capsys.readouterr().err


def test_invalid_plan_in_the_file_prevents_changes(tmp_path):
    file = KeyFile(tmp_path / "keys.env")
    file.path.write_text("EINVOICE_PLAN_TRIAL=can_use_api,can_bacth\n")
    with pytest.raises(ValueError, match="line 1: not a valid plan: can_bacth"):
        file.add("acme", "business")
