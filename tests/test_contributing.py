"""The files for contributors name files that exist."""

import re

import pytest

from tests.helpers.paths import ROOT

FILES = [".pre-commit-config.yaml", ".github/CONTRIBUTING.md", ".github/workflows/ci.yaml", "tests/run", ".ci/run"]
PATH = r"(?<![\w/.{])(?:tests|rules|einvoice|appliance)(?:/[\w.-]+)+\.(?:py|sh|toml|md|json)\b"


@pytest.mark.parametrize("file", FILES)
def test_named_files_exist(file):
    named = re.findall(PATH, (ROOT / file).read_text(encoding="utf-8"))
    assert not [path for path in named if not (ROOT / path).exists()]
