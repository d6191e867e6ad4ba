"""Rejected configurations and stylesheets, and the reasons."""

import io
import pickle
import stat
import zipfile

import pytest

from einvoice.cli import main
from einvoice.reference import BundleRejected, configurations
from einvoice.reference.bundles import archive
from einvoice.reference.bundles.errors import SENTENCES
from tests.helpers.bundle_files import CBC, UBL, files, packed, rule, scenario, scenarios, schema, stylesheet

pytest.importorskip("saxonche")

REMOTE = "http://127.0.0.1:9/x"


@pytest.fixture
def rejection(file, capsys, rules_folder):
    """Adds a bundle by command and returns the English error; checks both languages and that no file remains."""

    def rejection(content, name="test.zip", *options):
        path = str(file(content, name))
        messages = []
        for lang in ("de", "en"):
            assert main(["rules", "add", path, "--lang", lang, *options]) == 2
            messages.append(capsys.readouterr().err)
        assert messages[0] != messages[1]
        assert str(rules_folder) not in messages[1]
        assert configurations() == ()
        assert not rules_folder.exists() or [*rules_folder.iterdir()] == []
        return messages[1]

    return rejection


def bundle(*content, **options):
    """Return a configuration with this stylesheet content."""
    return packed(files(others={"xsl/de.xsl": stylesheet(rule("A"), *content, **options)}))


def value(expression):
    return f'<xsl:value-of select="{expression}"/>'


# ---------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"%PDF-1.7", "a.pdf", "neither a ZIP"),
        (b"", "a.zip", "neither a ZIP"),
        (b"PK\x03\x04 no more", "a.zip", "cannot be unpacked"),
        (packed(files())[:-200], "a.zip", "cannot be unpacked"),
        (b"<x", "a.xsl", "not valid XML"),
        (b"<a/>", "a.xsl", "no rules"),
        (b"<!DOCTYPE x><x/>", "a.xsl", "DOCTYPE"),
        (packed({"README.md": b""}), "a.zip", "no scenarios.xml"),
        (packed(files(), "a/b/"), "a.zip", "no scenarios.xml"),
        (packed(files()), "-.zip", "is not a valid name"),
    ],
)
def test_invalid_files_are_rejected(content, name, message, rejection):
    assert message in rejection(content, name)


def test_missing_file_is_reported(tmp_path, capsys):
    assert main(["rules", "add", str(tmp_path / "none.zip")]) == 2
    assert "none.zip lässt sich nicht lesen" in capsys.readouterr().err


def test_unwritable_folder_is_reported(file, capsys, rules_folder):
    rules_folder.write_bytes(b"")
    assert main(["rules", "add", str(file(packed(files())))]) == 2
    assert str(rules_folder) in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../test", "a/b", "", ".", "..", ".hidden", "Prüfung", "a" * 65, "a\n"])
def test_invalid_names_are_rejected(name, rejection):
    assert "is not a valid name" in rejection(packed(files()), "test.zip", "--name", name)


def test_name_of_the_bundled_configuration_is_rejected(rejection):
    assert "a shipped configuration or layer" in rejection(
        packed(files()), "test.zip", "--name", "factur-x", "--replace"
    )


def test_match_condition_for_a_configuration_is_rejected(rejection):
    assert "own conditions" in rejection(packed(files()), "test.zip", "--match", "true()")


@pytest.mark.parametrize(
    "namespaces", ["", 'xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100" ' + CBC]
)
def test_single_stylesheet_without_a_clear_syntax_is_rejected(namespaces, rejection):
    assert "--match" in rejection(stylesheet(rule("A"), namespaces=namespaces), "a.xsl")


def test_missing_saxon_is_reported(rejection, monkeypatch):
    monkeypatch.setattr("einvoice.reference.bundles.install.saxon_version", lambda: None)
    assert "XSLT processor" in rejection(packed(files()))


# ---------------------------------------------------------------- archives


@pytest.mark.parametrize("path", ["../x.xsl", "a/../../x", "/etc/x", "C:/x", "a\\..\\x", "a//x", "./x"])
def test_paths_outside_the_archive_are_rejected(path, rejection, tmp_path):
    assert "points outside of it" in rejection(packed(files(others={path: b"x"})))
    assert not [*tmp_path.glob("x*")]


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_special_archive_members_are_rejected(kind, rejection):
    data = io.BytesIO(packed(files()))
    with zipfile.ZipFile(data, "a") as target:
        member = zipfile.ZipInfo("xsl/link.xsl")
        member.external_attr = (kind | 0o777) << 16
        target.writestr(member, "/etc/passwd")
    assert "not a regular file" in rejection(data.getvalue())


def test_zip_bomb_is_rejected(rejection):
    assert "exceeds the unpacking limit" in rejection(packed(files(others={"x": bytes(10_000_000)})))


def test_archive_limits(rejection, monkeypatch):
    monkeypatch.setattr(archive, "MAX_MEMBERS", 5)
    assert "limit of 5." in rejection(packed(files()))
    monkeypatch.setattr(archive, "MAX_MEMBERS", 6)
    monkeypatch.setattr(archive, "MAX_BYTES", 1 << 10)
    assert "exceeds the unpacking limit" in rejection(packed(files()))


def test_forged_archive_sizes_are_rejected(rejection):
    data = packed(files(others={"x": bytes(10_000_000)}))
    forged = data.replace((10_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert forged != data
    assert "cannot be unpacked" in rejection(forged)


def test_encrypted_archive_is_rejected(rejection):
    data = bytearray(packed(files()))
    start = 0
    while (start := data.find(b"PK\x01\x02", start) + 1) > 0:
        data[start + 7] |= 1
    assert "cannot be unpacked" in rejection(bytes(data))


# ---------------------------------------------------------------- scenarios


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<scenarios", "scenarios.xml is invalid"),
        (b"<scenarios/>", "not for the KoSIT validator"),
        (b'<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x">' + scenarios(scenario())[38:], "DOCTYPE"),
        (scenarios(), "has no <scenario>"),
        (scenarios(scenario(name="")), "<scenario> has no <name>"),
        (scenarios(scenario(match=" ")), "<scenario> has no <match>"),
        (scenarios(scenario(stylesheets=(), schemas=())), "has no <validateWith"),
        (scenarios(scenario(stylesheets=("",))), "has no <location>"),
        (scenarios(scenario(match="][")), "XPath of the scenario"),
        (scenarios(scenario(match="/unknown:Invoice")), "XPath of the scenario"),
        (scenarios(scenario(match="nothing()")), "XPath of the scenario"),
        (scenarios(scenario(levels='<customLevel level="bad">A</customLevel>')), "level “bad”"),
        (scenarios(scenario(stylesheets=("xsl/none.xsl",))), "refers to the file xsl/none.xsl"),
        (scenarios(scenario(schemas=("xsd/none.xsd",))), "refers to the file xsd/none.xsd"),
        (scenarios(scenario(stylesheets=("../../../../etc/passwd",))), "not part of the configuration"),
        (scenarios(scenario(stylesheets=("%2e%2e/%2e%2e/%2e%2e/etc/passwd",))), "not part of the configuration"),
        (scenarios(scenario(stylesheets=("/etc/passwd",))), "not part of the configuration"),
        (scenarios(scenario(stylesheets=("file:///etc/passwd",))), "not part of the configuration"),
        (scenarios(scenario(stylesheets=(REMOTE,))), "not part of the configuration"),
    ],
)
def test_invalid_scenarios_are_rejected(content, message, rejection):
    assert message in rejection(packed(files(others={"scenarios.xml": content})))


def test_missing_report_stylesheet_is_rejected(rejection):
    members = files()
    del members["report.xsl"]
    assert "refers to the file report.xsl" in rejection(packed(members))


# ---------------------------------------------------------------- stylesheets


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (bundle(value("1 +")), "cannot be compiled"),
        (bundle(value("$unknown")), "cannot be compiled"),
        (bundle(before='<xsl:template match="x"><xsl:call-template name="none"/></xsl:template>'),
         "cannot be compiled"),
        (bundle('<xsl:result-document href="x.xml"/>'), "cannot be compiled"),
        (packed(files(others={"xsl/de.xsl": b"<x>"})), "not valid XML"),
        (packed(files(others={"xsl/de.xsl": stylesheet()})), "no rules"),
        (bundle(before=f'<xsl:import href="{REMOTE}"/>'), f"accesses {REMOTE}"),
        (bundle(before=f'<xsl:include href="{REMOTE}"/>'), f"accesses {REMOTE}"),
        (bundle(before='<xsl:include href="../../x.xsl"/>'), "accesses ../../x.xsl"),
        (bundle(before='<xsl:include href="none.xsl"/>'), "refers to the file none.xsl"),
        (bundle(value(f"doc('{REMOTE}')")), f"accesses {REMOTE}"),
        (bundle(value(f"document('{REMOTE}')//x")), f"accesses {REMOTE}"),
        (bundle(value("unparsed-text('file:///etc/passwd')")), "accesses file:///etc/passwd"),
        (bundle(value("unparsed-text('/etc/passwd')")), "accesses /etc/passwd"),
        (bundle(value("doc('../../../x.xml')")), "accesses ../../../x.xml"),
        (bundle(value("doc('//127.0.0.1/x')")), "accesses //127.0.0.1/x"),
        (bundle(value("doc(&#10;(: its (: own :) ' :) 'none.xml')")), "refers to the file none.xml"),
        (bundle(value("fn:doc('none.xml')"), namespaces='xmlns:fn="http://www.w3.org/2005/xpath-functions"'),
         "none.xml"),
        (bundle(value("Q{http://www.w3.org/2005/xpath-functions}doc('none.xml')")), "none.xml"),
        (bundle('<a b="{doc(\'none.xml\')}"/>'), "none.xml"),
        (bundle('<a b="&apos;{concat(\'{{\', doc(\'none.xml\'))}&apos;"/>'), "none.xml"),
        (bundle("{doc('none.xml')}", attributes='expand-text="yes"'), "none.xml"),
        (bundle(value("doc('de.xsl')"), value("doc(concat('/etc/', 'passwd'))")), "known only at run time"),
        (bundle(value("doc('de.xsl')"), value("(doc#1)(/a)")), "known only at run time"),
        (bundle(value("doc('de.xsl')"), value("'/etc/passwd' => unparsed-text()")), "known only at run time"),
        (bundle(value("doc('de.xsl')"), value("collection('de.xsl')")), "known only at run time"),
        (bundle(value("doc('de.xsl')"), value("function-lookup($a, 1)('/etc/passwd')")), "known only at run time"),
        (bundle(value("doc('de.xsl')"), '<xsl:evaluate xpath="/a"/>'), "known only at run time"),
        (bundle(value("doc('de.xsl')"), value("doc('de.xsl', /)")), "known only at run time"),
        (bundle('<xsl:value-of _select="{/a}"/>'), "known only at run time"),
        (bundle(f'<a b="{"{" * 9000}"/>', value("doc('')")), "known only at run time"),
        (bundle('<a xml:base="file:///etc/"/>'), "known only at run time"),
    ],
)  # fmt: skip
def test_invalid_stylesheets_are_rejected(data, message, rejection):
    assert message in rejection(data)


@pytest.mark.parametrize(
    ("param", "content"),
    [
        ('<xsl:param name="u" select="/a"/>', value("doc($u)")),
        ('<xsl:param name="u">/etc/passwd</xsl:param>', value("doc($u)")),
        ('<xsl:variable name="u"/>', value("doc($u)")),
        ('<xsl:param name="u"/>', '<xsl:variable name="u" select="/a"/>' + value("doc($u)")),
        ('<xsl:param name="u"/>', value("for $u in /a return doc($u)")),
        ('<xsl:param name="u"/>', value("let $u := /a return doc($u)")),
        ('<xsl:param name="u"/>', value("function($u) {doc($u)}(/a)")),
        ('<xsl:param name="u"/>', "<a b=\"'{for $u in /a return doc($u)}'\"/>"),
        ('<xsl:param name="u"/>', value("doc(($u, /a)[1])")),
    ],
)
def test_variable_document_uris_are_rejected(param, content, rejection):
    """Only unset parameters have a known value."""
    assert "known only at run time" in rejection(bundle(value("doc('')"), content, before=param))


def test_included_stylesheets_are_checked(rejection):
    included = stylesheet(value(f"doc('{REMOTE}')"))
    start = bundle(before='<xsl:include href="../more/included.xsl"/>')
    with zipfile.ZipFile(io.BytesIO(start)) as it:
        members = {name: it.read(name) for name in it.namelist()}
    assert f"included.xsl accesses {REMOTE}" in rejection(packed(members | {"more/included.xsl": included}))


# ---------------------------------------------------------------- schemas


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (schema(REMOTE), f"accesses {REMOTE}"),
        (schema("../../../x.xsd"), "accesses ../../../x.xsd"),
        (schema("none.xsd"), "refers to the file none.xsd"),
        (schema(max_occurs="x"), "cannot be compiled"),
        (b"<x", "not valid XML"),
    ],
)
def test_invalid_schemas_are_rejected(content, message, rejection):
    assert message in rejection(packed(files(others={"xsd/main/invoice.xsd": content})))


def test_schema_import_by_entity_is_rejected(rejection):
    entity = b'<!DOCTYPE x [<!ENTITY e "http://127.0.0.1:9/x">]>' + schema("&e;")
    assert f"accesses {REMOTE}" in rejection(packed(files(others={"xsd/main/invoice.xsd": entity})))


# ---------------------------------------------------------------- messages


def test_rejections_survive_pickling_and_have_both_languages():
    names = "file folder reason limit path element what level scenario name count which version names ruleset"
    values = dict.fromkeys(names.split(), "–")
    for cause in SENTENCES["en"]:
        error = pickle.loads(pickle.dumps(BundleRejected(cause, **values)))
        assert (error.cause, str(error)) == (cause, error.message("en"))
        assert SENTENCES.translations(cause).keys() >= {"de", "en"}
        assert error.message("de") != error.message("en")


def test_namespaces_of_a_single_stylesheet_determine_its_match(add_bundle):
    assert add_bundle(stylesheet(rule("A"), namespaces=UBL), "a.xsl", match="true()").scenarios[0].match == "true()"
    assert "CreditNote" in add_bundle(stylesheet(rule("A"), namespaces=CBC), "b.xsl").scenarios[0].match
