"""The default language: argument, options, environment, and on the command line the locale."""

import threading

import pytest

import einvoice
from einvoice.cli import main
from einvoice.localization.options import ENVIRONMENT

VARIABLES = (ENVIRONMENT, "LC_ALL", "LC_MESSAGES", "LANG")
CALLS = {
    "validate": lambda path, **lang: einvoice.validate(path, **lang).lang,
    "read": lambda path, **lang: einvoice.read(path, **lang).lang,
    "validate_many": lambda path, **lang: einvoice.validate_many([path], workers=0, progress=False, **lang).lang,
    "catalog": lambda path, **lang: einvoice.catalog(**lang).lang,
    "generate": lambda path, **lang: einvoice.generate(path.with_name("draft.json"), **lang).lang,
    "rule_changes": lambda path, **lang: einvoice.rule_changes("en16931-1.3.15", "en16931-1.3.16", **lang).lang,
}


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    yield
    einvoice.options.lang = None


@pytest.fixture
def path(sample):
    return sample("ubl-invoice.xml")


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_argument_before_options_before_environment(call, path, monkeypatch):
    ask = CALLS[call]
    assert ask(path) == "de"
    monkeypatch.setenv(ENVIRONMENT, "fr")
    assert ask(path) == "fr"
    einvoice.options.lang = "en"
    assert ask(path) == "en"
    with einvoice.options(lang="de"):
        assert ask(path) == "de"
        assert ask(path, lang="fr") == "fr"
    assert ask(path) == "en"
    einvoice.options.lang = None
    assert ask(path) == "fr"


def test_the_library_ignores_the_locale(path, monkeypatch):
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    assert einvoice.validate(path).lang == "de"


def test_an_invoice_made_in_python_is_shown_in_the_default_language():
    einvoice.options.lang = "en"
    assert "Invoice number" in einvoice.Invoice(number="1")._repr_html_()


def test_errors_are_explained_in_the_default_language():
    error = _unreadable()
    german = einvoice.explain_error(error)
    with einvoice.options(lang="en"):
        assert einvoice.explain_error(error) == einvoice.explain_error(error, "en") != german


def _unreadable():
    with pytest.raises(einvoice.UnreadableDocument) as raised:
        einvoice.validate(b"no invoice")
    return raised.value


def test_unknown_languages_and_options_are_rejected(path, monkeypatch):
    with pytest.raises(ValueError, match="'lang' must be 'de', 'en' or 'fr', not 'xx'"):
        einvoice.options.lang = "xx"
    with pytest.raises(ValueError, match="not 'xx'"):
        einvoice.options(lang="xx")
    with pytest.raises(AttributeError, match="'language'"):
        einvoice.options.language = "en"
    monkeypatch.setenv(ENVIRONMENT, "xx")
    with pytest.raises(ValueError, match=f"{ENVIRONMENT} must be 'de', 'en' or 'fr', not 'xx'"):
        einvoice.validate(path)
    assert einvoice.validate(path, lang="en").lang == "en"


def test_a_block_applies_to_its_thread_only():
    inside, seen = threading.Barrier(2, timeout=20), {}

    def use(lang):
        with einvoice.options(lang=lang):
            inside.wait()
            seen[lang] = einvoice.options.lang
            inside.wait()

    threads = [threading.Thread(target=use, args=(lang,)) for lang in ("en", "fr")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {"en": "en", "fr": "fr"}
    assert einvoice.options.lang == "de"


def test_the_appliance_does_not_accept_the_variable():
    settings = pytest.importorskip("appliance.settings")
    with pytest.raises(ValueError, match="unknown setting EINVOICE_LANG"):
        settings.check_variables({ENVIRONMENT: "en"})


def test_blocks_nest_and_end_on_errors():
    with einvoice.options(lang="en"):
        with pytest.raises(RuntimeError), einvoice.options(lang="fr"):
            raise RuntimeError
        assert einvoice.options.lang == "en"
    assert repr(einvoice.options) == "<options: lang='de'>"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "de"),
        ({"LANG": "C.UTF-8"}, "de"),
        ({"LC_ALL": "POSIX", "LANG": "en_US"}, "de"),
        ({"LANG": "en_US.UTF-8"}, "en"),
        ({"LANG": "de_AT@euro"}, "de"),
        ({"LANG": "es_ES.UTF-8"}, "en"),
        ({"LANG": "de_DE", "LC_MESSAGES": "en_GB"}, "en"),
        ({"LC_MESSAGES": "de_DE", "LC_ALL": "en_GB"}, "en"),
        ({"LANG": "de_DE", "LC_ALL": ""}, "de"),
        ({"LANG": "de_DE", ENVIRONMENT: "en"}, "en"),
    ],
)
def test_the_command_line_follows_the_locale(variables, expected, path, monkeypatch, capsys):
    monkeypatch.setattr("einvoice.cli.common._windows_locale", lambda: "")
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    assert main(["validate", str(path)]) == 0
    output = capsys.readouterr().out
    assert ("keine Befunde" in output, "no findings" in output) == (expected == "de", expected == "en")
    assert main(["validate", str(path), "--lang", "fr"]) == 0
    assert capsys.readouterr().out not in (output, "")


@pytest.mark.parametrize(("variables", "expected"), [({}, "no findings"), ({"LANG": "de_DE"}, "keine Befunde")])
def test_the_command_line_follows_windows_without_a_locale(variables, expected, path, monkeypatch, capsys):
    monkeypatch.setattr("einvoice.cli.common._windows_locale", lambda: "en_GB")
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    assert main(["validate", str(path)]) == 0
    assert expected in capsys.readouterr().out


def test_a_wrong_environment_stops_the_command(path, monkeypatch, capsys):
    monkeypatch.setenv(ENVIRONMENT, "xx")
    with pytest.raises(SystemExit) as ended:
        main(["validate", str(path)])
    assert ended.value.code == 2
    assert "not 'xx'" in capsys.readouterr().err
