"""`einvoice completion`: scripts that complete commands and options."""

import shutil
import subprocess
import sys

import pytest

from einvoice.cli import main
from einvoice.cli.commands.completion import SHELLS


@pytest.mark.parametrize("shell", SHELLS)
def test_script_completes_commands_and_options(capsys, shell):
    pytest.importorskip("shtab")
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(word in script for word in ("validate", "write-baseline", "sarif", "completion"))


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
def test_bash_completes_a_choice(capsys):
    pytest.importorskip("shtab")
    main(["completion", "bash"])
    words = "COMP_WORDS=(einvoice validate --format ju); COMP_CWORD=3; _shtab_einvoice; echo ${COMPREPLY[@]}"
    script = f"{capsys.readouterr().out}\n{words}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == "junit\n"


def test_missing_library_is_named(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert "einvoice-toolkit[completion]" in capsys.readouterr().err
