"""The disk cache of what is derived from files, and what it saves the start."""

import os
import subprocess
import sys

import pytest

from einvoice import cache


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A cache folder of its own."""
    monkeypatch.setenv("EINVOICE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def settled(monkeypatch):
    """Treat files as unchanged for long."""
    monkeypatch.setattr(cache, "_SETTLED", -(10**12))


def overwrite(path, text):
    """Replace a file by one of another inode, with the time of the last change of the old one."""
    before = path.stat()
    new = path.with_suffix(".new")
    new.write_text(text, "utf-8")
    os.utime(new, ns=(before.st_atime_ns, before.st_mtime_ns))
    new.replace(path)


@pytest.mark.parametrize("change", ["b = 2222", "a = 2"])
def test_changed_file_is_noticed(tmp_path, folder, settled, change):
    path = tmp_path / "x.toml"
    path.write_text("a = 1", "utf-8")
    assert cache.toml(path) == {"a": 1}
    assert len(list(folder.iterdir())) == 1
    overwrite(path, change)
    name, value = change.split(" = ")
    assert cache.toml(path) == {name: int(value)}


@pytest.mark.usefixtures("settled")
def test_stored_content_is_read_instead_of_the_file(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    path.write_text('code,name\nA,"one, ""two"""\n', "utf-8")
    rows = [["code", "name"], ["A", 'one, "two"']]
    assert cache.table(path) == rows
    monkeypatch.setattr(cache, "_table", None)
    assert cache.table(path) == rows


@pytest.mark.usefixtures("settled")
def test_digest_depends_on_names_and_contents(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("1", "utf-8")
    second.write_text("1", "utf-8")
    digests = {cache.digest([first]), cache.digest([second]), cache.digest([first, second])}
    overwrite(first, "2")
    assert cache.digest([first]) not in digests
    overwrite(first, "1")
    assert cache.digest([first]) in digests


def test_file_that_has_just_changed_is_not_stored(tmp_path, folder):
    """It could change again within the resolution of its times."""
    path = tmp_path / "x.toml"
    path.write_text("a = 1", "utf-8")
    assert cache.toml(path) == {"a": 1}
    assert not folder.exists()


@pytest.mark.usefixtures("settled")
def test_content_that_cannot_be_stored_is_returned(tmp_path, folder):
    path = tmp_path / "x.toml"
    path.write_text("day = 2026-01-01", "utf-8")
    assert cache.toml(path)["day"].year == 2026
    assert not folder.exists()


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("content", [b"a = ", b"\xff"])
def test_invalid_file_is_an_error_each_time(tmp_path, content):
    path = tmp_path / "x.toml"
    path.write_bytes(content)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"Invalid|decode"):
            cache.toml(path)


# ---------------------------------------------------------------- content of the wheel


@pytest.fixture
def built(tmp_path, monkeypatch):
    """Build what `derive` returns for a file of a release into a wheel; return the file of an installation of it."""
    monkeypatch.setattr(cache, "_BUILT", tmp_path / "built")
    monkeypatch.setattr(cache, "_recorded", None)
    cache._built_names.cache_clear()
    (tmp_path / "built").mkdir()
    for place in ("source/rules", "installed/rules"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "x.toml").write_text("a = 1", "utf-8")
    recorded = cache.record()
    assert cache.derived("numbers", [tmp_path / "source/rules/x.toml"], lambda: (1, "a")) == (1, "a")
    for name, content in recorded.items():
        (tmp_path / "built" / name).write_bytes(content)
    monkeypatch.setattr(cache, "_recorded", None)
    cache._built_names.cache_clear()
    yield tmp_path / "installed/rules/x.toml"
    cache._built_names.cache_clear()


def test_content_of_the_wheel_is_used_for_the_same_files(built):
    assert cache.derived("numbers", [built], lambda: pytest.fail("derived again")) == (1, "a")
    assert cache.derived("others", [built], lambda: 7) == 7


def test_content_of_the_wheel_is_not_used_for_other_rules(built):
    built.write_text("a = 2", "utf-8")
    assert cache.derived("numbers", [built], lambda: 2) == 2


def test_damaged_content_of_the_wheel_is_derived_again(built):
    (stored,) = cache._BUILT.iterdir()
    stored.write_bytes(stored.read_bytes()[:-1] + b"?")
    assert cache.derived("numbers", [built], lambda: 3) == 3


# ---------------------------------------------------------------- the start


def modules(*arguments):
    """Return the modules that Python imports when it runs with the arguments."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *map(str, arguments)],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


def test_import_of_einvoice_loads_neither_lxml_nor_the_model():
    loaded = modules("-c", "import einvoice")
    assert "einvoice" in loaded
    assert not loaded & {"argparse", "csv", "dataclasses", "decimal", "einvoice.model", "logging", "lxml", "tomllib"}


@pytest.mark.slow
def test_validation_loads_no_module_that_presents_or_repairs(sample):
    loaded = modules("-c", f"import einvoice; einvoice.validate({str(sample('ubl-invoice.xml'))!r}).is_valid")
    assert "einvoice.result.validation" in loaded
    upper = ("bulk", "notebook", "render", "causes", "repair", "visualization")
    assert not [name for name in loaded if name.startswith(tuple(f"einvoice.{it}" for it in upper))]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ubl-invoice.xml", "cii-invoice.xml"])
def test_validate_command_loads_only_what_it_needs(sample, name):
    command = ("-m", "einvoice.cli", "validate", sample(name))
    assert "einvoice.rulebook.program.build" in modules(*command)  # nothing is stored yet
    loaded = modules(*command)
    assert {"einvoice.validation.pipeline", "lxml.etree"} <= loaded
    unused = {"einvoice.conversion", "einvoice.generation", "einvoice.pdf.api", "einvoice.pdf.writer.embed"}
    unused |= {"einvoice.rulebook.language", "einvoice.rulebook.program.build", "einvoice.syntax.writer"}
    unused |= {"einvoice.cli.commands.convert", "einvoice.visualization", "facturx", "pydantic", "tomllib"}
    unused |= {"csv", "difflib", "einvoice.syntax.schema.subset", "logging", "pkgutil"}
    assert not loaded & unused
