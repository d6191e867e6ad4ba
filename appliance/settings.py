"""What an operator sets, all of it in environment variables that begin with EINVOICE_."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field


def default_data_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder for what the appliance keeps when none is set: the user's own (XDG Base Directory)."""
    home = environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(home) / "einvoice"


class Settings(BaseModel):
    """The settings of one running appliance; the field `data` is the variable EINVOICE_DATA, and so on.

    Attributes:
        host: address to listen on; only this machine reaches the default.
        port: port to listen on; None takes 8080, or any free one where that is taken.
        data: folder for what outlives a restart, such as the API keys.
        upload_seconds: a request body that takes longer is given up (408).
        workers: so many documents are judged at the same time.
        queue: so many more requests may wait or be uploading; beyond them the answer is 503.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = "127.0.0.1"
    port: int | None = Field(default=None, ge=0, le=65535)
    data: Path = Field(default_factory=default_data_folder)
    upload_seconds: float = Field(default=60, gt=0)
    workers: int = Field(default_factory=lambda: os.cpu_count() or 1, ge=1)
    queue: int = Field(default=32, ge=0)

    @property
    def keys_file(self) -> Path:
        """The file that holds the hashes of the API keys."""
        return self.data / "keys.env"

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """Read the settings; a variable that is missing or empty leaves the default.

        Raises:
            pydantic.ValidationError: a value is not what its field takes.
        """
        named = {field: environ.get(f"EINVOICE_{field.upper()}", "") for field in cls.model_fields}
        return cls.model_validate({field: text for field, text in named.items() if text})
