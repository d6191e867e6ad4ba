"""What an operator sets, all of it in environment variables that begin with EINVOICE_."""

import contextlib
import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

import einvoice
from appliance.schemas import Engine
from appliance.stores import check_store

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

PREFIX = "EINVOICE_"


def default_data_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder for what the appliance keeps when none is set: the user's own (XDG Base Directory)."""
    home = environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(home) / "einvoice"


def default_workers() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Settings(BaseSettings):
    """The settings of one running appliance; the field `data` is the variable EINVOICE_DATA, and so on."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="forbid")

    host: str = Field(default="127.0.0.1", description="Address to listen on; only this machine reaches the default.")
    port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description="Port to listen on; without one 8080, or any free one where that is taken.",
    )
    data: Path = Field(
        default_factory=default_data_folder, description="Folder for what outlives a restart, such as the API keys."
    )
    keys: Path | None = Field(
        default=None, description="File of the API keys and plans; without one keys.env in the data."
    )
    public_url: str = Field(default="", description="Address that callers know, such as https://example.org/einvoice.")
    trusted_proxies: Annotated[tuple[Network, ...], NoDecode] = Field(
        default=(), description="Addresses or networks whose X-Forwarded-* headers are believed, separated by commas."
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Origins whose pages in a browser may call, separated by commas."
    )

    ruleset: str = Field(
        default="", description="Rules to judge by, such as xrechnung-3.0.2; without it the newest of this version."
    )

    engine: Engine = Field(
        default="native",
        description="Who judges: native (our rules), reference (the official artefacts), or both, which are compared.",
    )
    rules_dir: Path | None = Field(
        default=None, description="Folder of artefacts that `einvoice rules add` has added; read by what runs them."
    )

    workers: int = Field(default_factory=default_workers, ge=1, description="Processes that judge documents.")
    queue: int = Field(default=32, ge=0, description="Requests more that may wait or be uploading; beyond them 503.")
    queue_seconds: float = Field(
        default=15, gt=0, description="How long a document waits for a process at most; then 503."
    )
    upload_seconds: float = Field(
        default=60, gt=0, description="How long the body of a request may take to arrive; then 408."
    )
    upload_megabytes: int = Field(default=512, ge=110, description="Memory for all uploads together; beyond it 503.")
    document_seconds: float = Field(default=30, gt=0, description="How long one document may be worked on; then 422.")
    worker_megabytes: int = Field(default=2048, ge=256, description="Memory of a process that judges documents.")
    worker_documents: int = Field(default=10_000, ge=1, description="Documents after which a process is replaced.")
    shutdown_seconds: int = Field(default=30, ge=0, description="How long a stop waits for requests that are running.")

    artifacts: str = Field(
        default="file",
        repr=False,
        description="Where artifacts are kept: file (in the data), off, or redis://… for replicas to share them.",
    )
    artifact_seconds: int = Field(default=3600, ge=1, description="How long links to PDFs work.")
    artifact_megabytes: int = Field(default=1024, ge=1, description="How large their file may become.")
    page: bool = Field(default=True, description="Whether there is a page at / to check invoices in a browser.")
    docs: bool = Field(default=True, description="Whether there is a page at /docs; it needs the next one.")
    openapi: bool = Field(default=True, description="Whether there is a description of the interface at /openapi.json.")
    catalog_pages: bool = Field(default=True, description="Whether rules are described at /catalog/CODE.")
    metrics: bool = Field(default=False, description="Whether there are figures for Prometheus at /metrics.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="What is logged.")

    @property
    def keys_file(self) -> Path:
        """The file that holds the hashes of the API keys."""
        return self.keys or self.data / "keys.env"

    @property
    def path_prefix(self) -> str:
        """The path of the public address, such as "/einvoice"; mostly ""."""
        return urlsplit(self.public_url).path

    @field_validator("trusted_proxies", "cors_origins", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @field_validator("artifacts")
    @classmethod
    def _store(cls, value: str) -> str:
        check_store(value)
        return value

    @field_validator("ruleset")
    @classmethod
    def _rules(cls, value: str) -> str:
        with contextlib.suppress(einvoice.UnreadableDocument):  # that there is no file is found after the name is
            einvoice.validate(b"", ruleset=value or None)
        return value

    @field_validator("public_url")
    @classmethod
    def _address(cls, value: str) -> str:
        address = value.rstrip("/")
        parts = urlsplit(address)
        if address and (parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment):
            raise ValueError("an address such as https://example.org/einvoice is expected")
        if parts.path.startswith("/api"):
            raise ValueError("the path of the address must not begin with /api, like the paths of the interface")
        return address


def variable(field: str) -> str:
    """Return the environment variable of a setting."""
    return f"{PREFIX}{field.upper()}"
