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

from .made import CBC, UBL, files, packed, rule, scenario, scenarios, schema, stylesheet

pytest.importorskip("saxonche")

REMOTE = "http://127.0.0.1:9/x"


@pytest.fixture
def refusal(file, capsys, rules_folder):
    """Why a file is not taken, by the program as by the command, in both languages; it leaves nothing behind."""

    def refusal(content, name="test.zip", *options):
        path = str(file(content, name))
        told = []
        for lang in ("de", "en"):
            assert main(["rules", "add", path, "--lang", lang, *options]) == 2
            told.append(capsys.readouterr().err)
        assert told[0] != told[1]
        assert str(rules_folder) not in told[1]
        assert configurations() == ()
        assert not rules_folder.exists() or [*rules_folder.iterdir()] == []
        return told[1]

    return refusal


def own(*content, **options):
    """A configuration with a stylesheet of these contents."""
    return packed(files(others={"xsl/de.xsl": stylesheet(rule("A"), *content, **options)}))


def value(expression):
    return f'<xsl:value-of select="{expression}"/>'


# ---------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("content", "name", "why"),
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
def test_files(content, name, why, refusal):
    assert why in refusal(content, name)


def test_a_file_that_is_not_there(tmp_path, capsys):
    assert main(["rules", "add", str(tmp_path / "none.zip")]) == 2
    assert "none.zip lässt sich nicht lesen" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written(file, capsys, rules_folder):
    rules_folder.write_bytes(b"")
    assert main(["rules", "add", str(file(packed(files())))]) == 2
    assert str(rules_folder) in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../test", "a/b", "", ".", "..", ".hidden", "Prüfung", "a" * 65, "a\n"])
def test_names(name, refusal):
    assert "is not a valid name" in refusal(packed(files()), "test.zip", "--name", name)


def test_the_name_of_what_is_bundled(refusal):
    assert "the bundled configuration" in refusal(packed(files()), "test.zip", "--name", "factur-x", "--replace")


def test_a_condition_is_for_a_single_stylesheet(refusal):
    assert "own conditions" in refusal(packed(files()), "test.zip", "--match", "true()")


@pytest.mark.parametrize(
    "namespaces", ["", 'xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100" ' + CBC]
)
def test_a_single_stylesheet_that_may_be_for_anything(namespaces, refusal):
    assert "--match" in refusal(stylesheet(rule("A"), namespaces=namespaces), "a.xsl")


def test_the_engine_is_missing(refusal, monkeypatch):
    monkeypatch.setattr("einvoice.reference.bundles.install.saxon_version", lambda: None)
    assert "XSLT processor" in refusal(packed(files()))


# ---------------------------------------------------------------- archives


@pytest.mark.parametrize("path", ["../x.xsl", "a/../../x", "/etc/x", "C:/x", "a\\..\\x", "a//x", "./x"])
def test_paths_that_leave_the_archive(path, refusal, tmp_path):
    assert "points outside of it" in refusal(packed(files(others={path: b"x"})))
    assert not [*tmp_path.glob("x*")]


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_members_that_are_no_files(kind, refusal):
    data = io.BytesIO(packed(files()))
    with zipfile.ZipFile(data, "a") as target:
        member = zipfile.ZipInfo("xsl/link.xsl")
        member.external_attr = (kind | 0o777) << 16
        target.writestr(member, "/etc/passwd")
    assert "not a regular file" in refusal(data.getvalue())


def test_a_bomb(refusal):
    assert "exceeds the unpacking limit" in refusal(packed(files(others={"x": bytes(10_000_000)})))


def test_too_many_files_and_too_many_bytes(refusal, monkeypatch):
    monkeypatch.setattr(archive, "MAX_MEMBERS", 5)
    assert "limit of 5." in refusal(packed(files()))
    monkeypatch.setattr(archive, "MAX_MEMBERS", 6)
    monkeypatch.setattr(archive, "MAX_BYTES", 1 << 10)
    assert "exceeds the unpacking limit" in refusal(packed(files()))


def test_an_archive_that_lies_about_sizes(refusal):
    data = packed(files(others={"x": bytes(10_000_000)}))
    lied = data.replace((10_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert lied != data
    assert "cannot be unpacked" in refusal(lied)


def test_an_encrypted_archive(refusal):
    data = bytearray(packed(files()))
    start = 0
    while (start := data.find(b"PK\x01\x02", start) + 1) > 0:
        data[start + 7] |= 1
    assert "cannot be unpacked" in refusal(bytes(data))


# ---------------------------------------------------------------- scenarios


@pytest.mark.parametrize(
    ("content", "why"),
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
def test_scenarios(content, why, refusal):
    assert why in refusal(packed(files(others={"scenarios.xml": content})))


def test_a_report_that_is_not_there(refusal):
    there = files()
    del there["report.xsl"]
    assert "refers to the file report.xsl" in refusal(packed(there))


# ---------------------------------------------------------------- stylesheets


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (own(value("1 +")), "cannot be compiled"),
        (own(value("$unknown")), "cannot be compiled"),
        (own(before='<xsl:template match="x"><xsl:call-template name="none"/></xsl:template>'), "cannot be compiled"),
        (own('<xsl:result-document href="x.xml"/>'), "cannot be compiled"),
        (packed(files(others={"xsl/de.xsl": b"<x>"})), "not valid XML"),
        (packed(files(others={"xsl/de.xsl": stylesheet()})), "no rules"),
        (own(before=f'<xsl:import href="{REMOTE}"/>'), f"accesses {REMOTE}"),
        (own(before=f'<xsl:include href="{REMOTE}"/>'), f"accesses {REMOTE}"),
        (own(before='<xsl:include href="../../x.xsl"/>'), "accesses ../../x.xsl"),
        (own(before='<xsl:include href="none.xsl"/>'), "refers to the file none.xsl"),
        (own(value(f"doc('{REMOTE}')")), f"accesses {REMOTE}"),
        (own(value(f"document('{REMOTE}')//x")), f"accesses {REMOTE}"),
        (own(value("unparsed-text('file:///etc/passwd')")), "accesses file:///etc/passwd"),
        (own(value("unparsed-text('/etc/passwd')")), "accesses /etc/passwd"),
        (own(value("doc('../../../x.xml')")), "accesses ../../../x.xml"),
        (own(value("doc('//127.0.0.1/x')")), "accesses //127.0.0.1/x"),
        (own(value("doc(&#10;(: its (: own :) ' :) 'none.xml')")), "refers to the file none.xml"),
        (own(value("fn:doc('none.xml')"), namespaces='xmlns:fn="http://www.w3.org/2005/xpath-functions"'), "none.xml"),
        (own(value("Q{http://www.w3.org/2005/xpath-functions}doc('none.xml')")), "none.xml"),
        (own('<a b="{doc(\'none.xml\')}"/>'), "none.xml"),
        (own('<a b="&apos;{concat(\'{{\', doc(\'none.xml\'))}&apos;"/>'), "none.xml"),
        (own("{doc('none.xml')}", attributes='expand-text="yes"'), "none.xml"),
        (own(value("doc('de.xsl')"), value("doc(concat('/etc/', 'passwd'))")), "known only at run time"),
        (own(value("doc('de.xsl')"), value("(doc#1)(/a)")), "known only at run time"),
        (own(value("doc('de.xsl')"), value("'/etc/passwd' => unparsed-text()")), "known only at run time"),
        (own(value("doc('de.xsl')"), value("collection('de.xsl')")), "known only at run time"),
        (own(value("doc('de.xsl')"), value("function-lookup($a, 1)('/etc/passwd')")), "known only at run time"),
        (own(value("doc('de.xsl')"), '<xsl:evaluate xpath="/a"/>'), "known only at run time"),
        (own(value("doc('de.xsl')"), value("doc('de.xsl', /)")), "known only at run time"),
        (own('<xsl:value-of _select="{/a}"/>'), "known only at run time"),
        (own(f'<a b="{"{" * 9000}"/>', value("doc('')")), "known only at run time"),
        (own('<a xml:base="file:///etc/"/>'), "known only at run time"),
    ],
)  # fmt: skip
def test_stylesheets(data, why, refusal):
    assert why in refusal(data)


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
def test_a_name_that_a_variable_may_have(param, content, refusal):
    """Known is what a parameter holds that nobody sets, and nothing else."""
    assert "known only at run time" in refusal(own(value("doc('')"), content, before=param))


def test_what_is_included_is_looked_at_too(refusal):
    included = stylesheet(value(f"doc('{REMOTE}')"))
    start = own(before='<xsl:include href="../more/included.xsl"/>')
    with zipfile.ZipFile(io.BytesIO(start)) as it:
        members = {name: it.read(name) for name in it.namelist()}
    assert f"included.xsl accesses {REMOTE}" in refusal(packed(members | {"more/included.xsl": included}))


# ---------------------------------------------------------------- schemas


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (schema(REMOTE), f"accesses {REMOTE}"),
        (schema("../../../x.xsd"), "accesses ../../../x.xsd"),
        (schema("none.xsd"), "refers to the file none.xsd"),
        (schema(most="x"), "cannot be compiled"),
        (b"<x", "not valid XML"),
    ],
)
def test_schemas(content, why, refusal):
    assert why in refusal(packed(files(others={"xsd/main/invoice.xsd": content})))


def test_a_schema_that_imports_by_an_entity_gets_nothing(refusal):
    entity = b'<!DOCTYPE x [<!ENTITY e "http://127.0.0.1:9/x">]>' + schema("&e;")
    assert f"accesses {REMOTE}" in refusal(packed(files(others={"xsd/main/invoice.xsd": entity})))


# ---------------------------------------------------------------- words


def test_every_refusal_travels_and_speaks_both_languages():
    values = dict.fromkeys(
        ("file", "folder", "reason", "limit", "path", "element", "what", "level", "scenario", "name"), "–"
    )
    for cause, sentences in SENTENCES.items():
        error = pickle.loads(pickle.dumps(BundleRejected(cause, **values)))
        assert (error.cause, str(error)) == (cause, error.message("en"))
        assert sentences.keys() == {"de", "en"}
        assert error.message("de") != error.message("en")


def test_the_namespaces_of_a_single_stylesheet_tell_what_it_is_for(added):
    assert added(stylesheet(rule("A"), namespaces=UBL), "a.xsl", match="true()").scenarios[0].match == "true()"
    assert "CreditNote" in added(stylesheet(rule("A"), namespaces=CBC), "b.xsl").scenarios[0].match
