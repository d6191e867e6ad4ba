"""Opens the artifact store selected by EINVOICE_ARTIFACTS."""

from pathlib import Path

from appliance.artifacts.redis_store import RedisStore
from appliance.artifacts.sqlite_store import SQLiteStore
from appliance.artifacts.store import ArtifactStore
from appliance.settings import ARTIFACTS_FILE, ARTIFACTS_OFF, check_artifact_store


def open_store(location: str, folder: Path, megabytes: int) -> ArtifactStore | None:
    """Return the artifact store at `location`; None for "off".

    Args:
        location: "file", "off", or the URL of a Redis server, such as "redis://:password@host:6379/0".
        folder: folder of the file, created with mode 0700.
        megabytes: maximum size of the file. The size of Redis is configured there (`maxmemory`).

    Raises:
        ValueError: invalid location.
        StoreError: the store could not be opened.
    """
    check_artifact_store(location)
    if location == ARTIFACTS_OFF:
        return None
    if location == ARTIFACTS_FILE:
        return SQLiteStore(folder, megabytes << 20)
    return RedisStore(location)
