"""Jupyter's programs, started without a part that takes most of their start and that nothing here uses."""

import sys

from einvoice import cache

UNUSED = "rfc3987_syntax"
"""Checks the format `iri` of JSON Schemas, which Jupyter's do not have. Its import builds a parser: 1.5 s."""

#: Command that runs a module; its name and its arguments follow.
RUN_MODULE = (
    sys.executable,
    "-c",
    f"import runpy, sys; sys.modules[{UNUSED!r}] = None; del sys.argv[0]; "
    "runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)",
)

sys.modules.setdefault(UNUSED, None)  # tests import parts of Jupyter, too

CACHE = {"EINVOICE_CACHE": str(cache.folder() or "")}
"""Setting of programs with another home folder: what this user's programs have compiled."""
