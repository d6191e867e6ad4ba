"""A client of the SDK uses each tool of `einvoice mcp`, over the standard streams."""

import json
import sys

import pytest
from mcp import Client, StdioServerParameters

import einvoice
from tests.helpers.paths import SAMPLES

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "files").mkdir()
    for name in ("ubl-invoice.xml", "cii-invoice.xml"):
        (tmp_path / "files" / name).write_bytes((SAMPLES / name).read_bytes())
    wrong = (SAMPLES / "ubl-invoice.xml").read_bytes().replace(b">415.33<", b">415.34<")
    (tmp_path / "files" / "wrong.xml").write_bytes(wrong)
    (tmp_path / "secret.xml").write_bytes(wrong)
    return tmp_path / "files"


def served(folder, *options):
    command = ["-m", "einvoice.cli", "mcp", str(folder), "--lang", "en", *options]
    return Client(StdioServerParameters(command=sys.executable, args=command))


async def called(client, tool, **arguments):
    """Return the answer of a tool, or the text of its error."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        return result.content[0].text
    return result.structured_content.get("result", result.structured_content)


async def test_each_tool(folder):
    async with served(folder) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == {"validate", "causes", "explain", "read", "convert", "generate", "schema"}

        valid = await called(client, "validate", path="ubl-invoice.xml")
        assert (valid["is_valid"], valid["findings"]) == (True, [])
        wrong = await called(client, "validate", path="wrong.xml", lang="de")
        assert not wrong["is_valid"]
        assert "BR-CO-15" in {it["code"] for it in wrong["findings"]}
        content = (folder / "wrong.xml").read_text("utf-8").replace("UTF-8", "ISO-8859-1").replace("Moser", "Möser")
        assert "Möser" in json.dumps(await called(client, "read", content=content), ensure_ascii=False)
        assert not (await called(client, "validate", content=content))["is_valid"]

        causes = await called(client, "causes", path="wrong.xml")
        assert "415.33" in json.dumps(causes)
        explained = await called(client, "explain", code="BR-CO-10", lang="de")
        assert explained["title"] == einvoice.catalog()["BR-CO-10"].title("de")
        assert "LG-2026-0417" in json.dumps(await called(client, "read", path="ubl-invoice.xml"))

        converted = await called(client, "convert", to="CII", path="ubl-invoice.xml")
        assert einvoice.validate(converted["xml"].encode()).is_valid
        await called(client, "convert", to="UBL", path="cii-invoice.xml", output="new.xml")
        assert einvoice.read(folder / "new.xml").syntax == "UBL"

        draft = json.loads((SAMPLES / "draft-full.json").read_bytes())
        made = await called(client, "generate", draft=draft, format="CII")
        assert einvoice.validate(made["xml"].encode()).is_valid is made["is_valid"] is True
        assert "properties" in await called(client, "schema")


REFUSED = [
    ("validate", {"path": "../secret.xml"}, "is not below"),
    ("validate", {"path": "/etc/passwd"}, "is not below"),
    ("validate", {"path": "none.xml"}, "There is no file"),
    ("validate", {}, "either `path` or `content`"),
    ("validate", {"content": "no invoice"}, "XML"),
    ("validate", {"path": "wrong.xml", "lang": "xx"}, "must be one of de"),
    ("explain", {"code": "BR-CO-1"}, "BR-CO-1"),
    ("convert", {"to": "CII", "path": "wrong.xml", "output": "ubl-invoice.xml"}, "exists already"),
    ("convert", {"to": "CII", "path": "wrong.xml", "output": "../new.xml"}, "is not below"),
    ("generate", {"draft": {"nothing": 1}}, "nothing"),
    ("validate", {"path": "link.xml"}, "is not below"),
    ("validate", {"path": "x" * 5_000}, "no valid path"),
    ("validate", {"path": "a\0b"}, "no valid path"),
]


async def test_what_cannot_be_done_is_told(folder):
    (folder / "link.xml").symlink_to(folder.parent / "secret.xml")
    async with served(folder) as client:
        for tool, arguments, reason in REFUSED:
            assert reason in await called(client, tool, **arguments)
