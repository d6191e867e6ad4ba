"""Builds the programs and tables of the current releases into a wheel: the first validation need not compile them.

    python .ci/build_hook.py FOLDER     # writes the files that a wheel has in einvoice/built
    python .ci/build_hook.py            # stores the same in the cache of the user, for a checkout

They carry the digest of what they were compiled from and are never used for anything else. hatchling runs this, in an
environment with the dependencies of einvoice.
"""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_ROOT = Path(__file__).resolve().parent.parent
_SAMPLES = _ROOT / "einvoice" / "sample_invoices"
_CREDIT_NOTE = b'<CreditNote xmlns="urn:oasis:names:specification:ubl:schema:xsd:CreditNote-2"/>'


class BuildHook(BuildHookInterface):
    """Adds the folder to a wheel; an editable installation has none, since its rules change."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the files."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory(prefix="einvoice-built-")
        # A process without cache, and with the same order of sets each time: the wheel is reproducible.
        environ = os.environ | {"EINVOICE_CACHE": "", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run([sys.executable, __file__, self._folder.name], env=environ, check=True)
        build_data["force_include"][self._folder.name] = "einvoice/built"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the files."""
        if version != "editable":
            self._folder.cleanup()


def main(folder: Path | None = None) -> None:
    """Validate documents of every syntax against the current release of every rule set; write what was compiled."""
    sys.path.insert(0, str(_ROOT))
    import einvoice
    from einvoice import cache
    from einvoice.cli import main as command
    from einvoice.localization import languages

    files = cache.record() if folder else {}
    documents = [path.read_bytes() for path in sorted(_SAMPLES.glob("*.xml"))]
    for ruleset in einvoice.catalog().rule_sets:
        for document in (*documents, _CREDIT_NOTE):
            if ruleset.kind != "profile":
                for lang in ("de", "en"):
                    einvoice.validate(document, profile=ruleset.name, lang=lang).to_dict()
    with contextlib.redirect_stdout(io.StringIO()):  # the texts of findings and causes, as the command prints them
        for lang in languages():
            command(["validate", "--lang", lang, str(_SAMPLES / "xrechnung-cii-wrong-total.xml")])
    for name, content in files.items():
        Path(folder or "", name).write_bytes(content)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
