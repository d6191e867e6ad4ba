"""The command einvoice-appliance."""

import contextlib
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
from importlib.metadata import version

import httpx
import pytest

import einvoice
from appliance.__main__ import main
from appliance.access.keys import KeyRing
from appliance.prepare import prepare
from appliance.settings import Settings, check_variables, variable_name
from einvoice.cache import folder
from tests.helpers import house_rules
from tests.helpers.served import CII, ROOT, UBL, declaring, http, running, serving


@pytest.mark.slow
def test_run_script_of_the_checkout(tmp_path):
    stamp, sources = ROOT / ".venv" / ".made-from", (ROOT / "pyproject.toml", ROOT / ".ci" / "requirements.lock")
    made_from = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    if (ROOT / ".venv").is_symlink() or not stamp.exists() or made_from not in stamp.read_text():
        pytest.skip("this environment was not made by tests/run as it is now, and would be made anew")
    with running(tmp_path / "data", ROOT / "appliance" / "run") as call:
        assert http.get(httpx.URL(call[-1]).join("/healthz")).status_code == 200


def test_store_of_jobs_that_a_job_does_not_fit_into_is_reported(monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_JOB_MEGABYTES", "50")
    monkeypatch.setenv("EINVOICE_JOB_STORE_MEGABYTES", "199")
    assert main(["settings"]) == 1
    assert "EINVOICE_JOB_STORE_MEGABYTES: Value error, must be at least 200" in capsys.readouterr().err
    monkeypatch.setenv("EINVOICE_JOB_STORE_MEGABYTES", "200")
    assert main(["settings"]) == 0


def test_invalid_setting_is_reported(monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_PORT", "many")
    assert main(["serve"]) == 1
    assert "EINVOICE_PORT" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("EINVOICE_WORKRES", "EINVOICE_WORKERS"),
        ("EINVOICE_METRIC", "EINVOICE_METRICS"),
        ("EINVOICE_CASHE", "EINVOICE_CACHE"),
        ("EINVOICE_LANG", "parameter lang; EINVOICE_LANGUAGES"),
    ],
)
def test_misspelled_setting_is_reported(monkeypatch, capsys, name, nearest):
    monkeypatch.setenv(name, "2")
    assert main(["serve"]) == 1
    message = capsys.readouterr().err
    assert name in message
    assert nearest in message


def test_variables_of_the_core_library_keys_and_plans_are_known():
    names = ("EINVOICE_CACHE", "EINVOICE_RULES_DIR", "EINVOICE_RULESET", "EINVOICE_VERAPDF", "EINVOICE_KEY_A_1")
    check_variables(dict.fromkeys((*names, "EINVOICE_PLAN_TRIAL", "OTHER"), "x"))


def test_error_at_the_start_is_a_line_of_the_log(monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_WORKERS", "0")
    assert main(["serve"]) == 1
    line = json.loads(capsys.readouterr().err)
    assert line["level"] == "error"
    assert "EINVOICE_WORKERS" in line["message"]


def test_version_names_the_rule_sets(capsys):
    with pytest.raises(SystemExit) as exit:
        main(["--version"])
    assert exit.value.code == 0
    printed = capsys.readouterr().out
    assert version("einvoice-toolkit") in printed
    assert einvoice.catalog().rule_set.name in printed


@pytest.mark.slow
def test_all_addresses_include_ipv4(tmp_path):
    if not socket.has_dualstack_ipv6():
        pytest.skip("the system has no IPv6")
    with serving(tmp_path / "data", workers=1, host="::") as server:
        for address in ("127.0.0.1", "::1"):
            socket.create_connection((address, server.base.port), timeout=5).close()


def test_unknown_rule_set_is_reported(monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_RULESET", "xrechnung-9.9")
    assert main(["serve"]) == 1
    (message,) = capsys.readouterr().err.splitlines()
    assert "EINVOICE_RULESET" in message
    assert "'xrechnung-9.9'" in message
    assert "'xrechnung-2.3.1'" in message, "an available one"


def test_invalid_added_rule_set_stops_the_start(tmp_path, monkeypatch, capsys):
    rule = house_rules.RULE.replace("purchase_order,", "order,")
    monkeypatch.setenv("EINVOICE_RULES_DIR", str(house_rules.write(tmp_path, **{"ACME-01.toml": rule})))
    monkeypatch.setenv("EINVOICE_DATA", str(tmp_path / "data"))
    assert main(["serve"]) == 1
    (message,) = capsys.readouterr().err.splitlines()
    assert "acme/ACME-01.toml, line 5, assert, column 9: Invoice has no field 'order'" in message


def test_port_in_use_is_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_DATA", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["serve", "--port", str(taken.getsockname()[1])]) == 1
    assert "in use" in capsys.readouterr().err


def test_revoking_an_unknown_key(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_DATA", str(tmp_path))
    assert main(["keys", "revoke", "UNKNOWN_1"]) == 1
    assert "UNKNOWN_1" in capsys.readouterr().err


def test_settings_are_listed(monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_QUEUE", "7")
    assert main(["settings"]) == 0
    listed = capsys.readouterr().out
    assert "EINVOICE_QUEUE=7\n" in listed
    for name, field in Settings.model_fields.items():
        assert f"{variable_name(name)}=" in listed
        assert field.description in listed


@pytest.mark.slow
def test_closed_pipe_is_no_error():
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "appliance", "settings"],
            stdout=closed,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, b"")


def test_every_rule_set_is_prepared_in_both_syntaxes(monkeypatch):
    """With `validate` replaced: compiling all takes a minute."""
    validated = set()

    def validate(document, **options):
        syntax = "CII" if b"CrossIndustryInvoice" in document else "UBL"
        validated.update((syntax, value) for value in options.values())

    monkeypatch.setattr(einvoice, "validate", validate)
    prepare()
    releases = {release.name for release in einvoice.rule_sets() if release.base}
    others = {it.name for it in einvoice.catalog().rule_sets if it.kind != "profile"}
    assert len(releases) > 10
    assert {"en16931", "xrechnung"} <= others
    for syntax in ("UBL", "CII"):
        assert {name for it, name in validated if it == syntax} == {*releases, *others, "facturx"}


PREPARE = """
import sys
import einvoice
from appliance.__main__ import main
rule_sets = einvoice.rule_sets
einvoice.rule_sets = lambda: [release for release in rule_sets() if release.name in sys.argv[1:]]
sys.exit(main(["prepare"]))
"""
"""Prepares these releases only."""


def copy_programs(source, target):
    """Copy the compiled programs that the other cache does not have, as compiling takes long."""
    if source is None or target is None:
        return
    for path in list(source.glob("program-*.rules")):
        if not (copy := target / path.name).exists():
            temporary = copy.with_suffix(".copy")
            with contextlib.suppress(FileNotFoundError):  # deleted by another process
                shutil.copy2(path, temporary)
                temporary.replace(copy)


@pytest.mark.slow
def test_prepared_rule_sets_are_not_compiled_again(tmp_path):
    """With two releases, one after the other: between others, those in between are compared as well."""
    older, newer = "xrechnung-2.3.1", "xrechnung-3.0.0"
    cache = tmp_path / "cache"
    cache.mkdir()
    copy_programs(folder(), cache)

    def run(*command):
        environ = {**os.environ, "EINVOICE_CACHE": str(cache), "EINVOICE_RULESET": newer}
        subprocess.run([sys.executable, *command], env=environ, check=True)
        return {path.name: path.stat().st_ino for path in cache.iterdir()}  # a stored file replaces the former

    prepared = run("-c", PREPARE, older, newer)
    copy_programs(cache, folder())
    assert len([name for name in prepared if name.startswith("program-UBL")]) > 3
    script = """if True:
        import einvoice, sys
        for path in sys.argv[1:]:
            result = einvoice.validate(path, mode="compatibility")
            assert result.differences or "core" in path
    """
    documents = {
        f"{name}-{syntax}.xml": declaring(declared, sample.replace(b"04011000", b""))
        for name, declared in {"older": "2.3", "core": "urn:cen.eu:en16931:2017"}.items()
        for syntax, sample in enumerate((UBL, CII))
    }
    for name, document in documents.items():
        (tmp_path / name).write_bytes(document)
    assert run("-c", script, *(str(tmp_path / name) for name in documents)) == prepared


def test_mounted_key_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_KEYS", str(tmp_path / "mounted.env"))
    assert main(["keys", "add", "acme", "--plan", "business"]) == 0
    plain = capsys.readouterr().out.strip()
    assert main(["keys", "list"]) == 0
    assert capsys.readouterr().out.startswith("ACME_1 acme business created=20")
    assert KeyRing(Settings().keys_file, {}).find(plain)


def test_empty_variable_keeps_the_default(monkeypatch):
    monkeypatch.setenv("EINVOICE_PORT", "")
    assert Settings().port is None
