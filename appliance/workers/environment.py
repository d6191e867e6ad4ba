"""Environment variables of worker processes: only those that they need, and so no keys or passwords."""

from collections.abc import Mapping

TEMPORARY_FOLDER = "EINVOICE_WORKER_TMP"
"""Names the folder that workers may write, if veraPDF needs one."""

_NAMES = frozenset(
    {
        TEMPORARY_FOLDER,
        "EINVOICE_CACHE",
        "EINVOICE_PICTURE",
        "EINVOICE_PLAUSIBILITY",
        "EINVOICE_RULESET",
        "EINVOICE_RULES_COPY",
        "EINVOICE_RULES_DIR",
        "EINVOICE_VERAPDF",
        "HOME",
        "LANG",
        "LD_LIBRARY_PATH",
        "PATH",
        "TMPDIR",
        "TZ",
        "XDG_CACHE_HOME",
        "XDG_DATA_HOME",
    }
)
_PREFIXES = ("FONTCONFIG_", "LC_", "MALLOC_", "PYTHON")


def worker_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a worker inherits."""
    return {name: value for name, value in environ.items() if name in _NAMES or name.startswith(_PREFIXES)}
