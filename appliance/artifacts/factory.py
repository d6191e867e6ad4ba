"""Opens the artifact store selected by EINVOICE_ARTIFACTS."""

import logging
from pathlib import Path

from appliance.artifacts.redis_store import RedisStore
from appliance.artifacts.sqlite_store import SQLiteStore, erase_files
from appliance.artifacts.store import ArtifactStore, StoreError
from appliance.settings import ARTIFACTS_FILE, ARTIFACTS_OFF, check_artifact_store

log = logging.getLogger(__name__)


def open_store(location: str, folder: Path, megabytes: int) -> ArtifactStore | None:
    """Return the artifact store at `location`; None for "off". Erase a file of an earlier setting, as it is not used.

    Args:
        location: "file", "off", or the URL of a Redis server, such as "redis://:password@host:6379/0".
        folder: folder of the file, created with mode 0700.
        megabytes: maximum size of the file, or of the store in a Redis server without `maxmemory`.

    Raises:
        ValueError: invalid location.
        StoreError: the store could not be opened, or the file of an earlier setting not be erased.
    """
    check_artifact_store(location)
    if location == ARTIFACTS_FILE:
        return SQLiteStore(folder, megabytes << 20)
    _erase_file(folder)
    return None if location == ARTIFACTS_OFF else RedisStore(location, megabytes << 20)


def _erase_file(folder: Path) -> None:
    try:
        if erase_files(folder):
            log.info("The artifact file of an earlier setting of EINVOICE_ARTIFACTS was erased")
    except OSError as error:
        raise StoreError(f"cannot erase the artifact store in {folder}: {error}") from error
