"""API keys."""

import stat

import httpx
import pytest
from served import key_in, running

from appliance.access.keys import KeyFile, KeyRing


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


def test_later_start_issues_a_temporary_key(tmp_path):
    data = tmp_path / "data"
    with running(data) as call:
        first = key_in(call)
    kept = (data / "keys.env").read_text()
    with running(data) as call:
        temporary = key_in(call)
        responses = [httpx.get(call[-1], headers={"X-API-Key": key}).status_code for key in (first, temporary)]
    assert responses == [405, 405]
    assert (data / "keys.env").read_text() == kept
    with running(data) as call:
        assert httpx.get(call[-1], headers={"X-API-Key": temporary}).status_code == 401
