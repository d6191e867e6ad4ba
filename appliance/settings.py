"""Settings of the service, from environment variables that begin with EINVOICE_."""

import contextlib
import difflib
import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

import einvoice
from appliance import capacity
from appliance.contract.values import LANGUAGES, Engine, Language
from einvoice.localization import is_available, languages

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

PREFIX: Final = "EINVOICE_"
_OTHER_VARIABLES: Final = frozenset({"EINVOICE_CACHE", "EINVOICE_VERAPDF", "EINVOICE_VERSION"})
"""Variables of the core library, and of `compose.yaml`."""
_OTHER_PREFIXES: Final = ("EINVOICE_KEY_", "EINVOICE_PLAN_", "EINVOICE_TEST_")
"""Prefixes of API keys, plans, and settings of tests."""
_ELSEWHERE: Final = {
    "EINVOICE_LANG": "answers have the language of the parameter lang; EINVOICE_LANGUAGES offers more languages"
}
"""Variables of the command `einvoice` without effect here, and what takes their place."""

ARTIFACTS_OFF: Final = "off"
ARTIFACTS_FILE: Final = "file"
REDIS_SCHEMES: Final = ("redis://", "rediss://", "unix://")


def default_data_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the default data folder: the user's own (XDG Base Directory)."""
    home = environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(home) / "einvoice"


class Settings(BaseSettings):
    """The settings. Each field is named after its variable: `data` is EINVOICE_DATA, and so on."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="forbid")

    host: str = Field(default="127.0.0.1", description="Address to listen on. The default accepts local clients only.")
    port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description="Port to listen on. Default: 8080, or a free port if 8080 is in use.",
    )
    data: Path = Field(
        default_factory=default_data_folder, description="Folder for persistent data, such as the API keys."
    )
    keys: Path | None = Field(
        default=None, description="File of API keys and plans. Default: keys.env in the data folder."
    )
    public_url: str = Field(default="", description="Public base URL, such as https://example.org/einvoice.")
    trusted_proxies: Annotated[tuple[Network, ...], NoDecode] = Field(
        default=(), description="Addresses or networks whose X-Forwarded-* headers are trusted, separated by commas."
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Origins allowed to call from a browser (CORS), separated by commas."
    )

    languages: Annotated[tuple[Language, ...], NoDecode] = Field(
        default=LANGUAGES, description="Languages of responses, separated by commas; de and en are always among them."
    )

    ruleset: str = Field(
        default="", description="Rule set to apply, such as xrechnung-3.0.2. Default: the newest of this version."
    )

    plausibility: Literal["on", "off"] = Field(
        default="on",
        description="Information on what the official rules do not check, such as wrong check digits: on or off.",
    )

    picture: Literal["on", "off"] = Field(
        default="on", description="Comparison of the pages of a hybrid PDF with its XML, as warnings: on or off."
    )

    engine: Engine = Field(
        default="native",
        description="Validation engine: native (einvoice), reference (official Schematron), or both, compared.",
    )
    reference_seconds: float = Field(
        default=20,
        gt=0,
        description="Worker time per minute that a key may spend on the reference engine where it is not the default "
        "(seconds); beyond that 429.",
    )
    rules_dir: Path | None = Field(
        default=None, description="Folder of official Schematron configurations added with `einvoice rules add`."
    )

    connections: int = Field(default=500, ge=1, description="Maximum number of open connections; beyond that 503.")
    address_connections: int = Field(
        default=100, ge=1, description="Maximum number of connections per client address, trusted proxies excepted."
    )
    head_seconds: float = Field(default=10, gt=0, description="Maximum time to receive request headers; then 408.")
    response_seconds: float = Field(
        default=60, gt=0, description="Maximum time for a client to take a response (seconds); then it is cut off."
    )

    workers: int = Field(
        default_factory=capacity.default_workers,
        ge=1,
        description="Number of worker processes. Default: one for each processor, as far as memory suffices.",
    )
    queue: int = Field(default=32, ge=0, description="Additional requests that may wait or upload; beyond that 503.")
    upload_seconds: float = Field(default=60, gt=0, description="Maximum time to receive a body (seconds); then 408.")
    upload_megabytes: int = Field(
        default_factory=capacity.default_uploads,
        ge=capacity.MIN_UPLOADS,
        description="Memory for all uploads together; beyond that 503. Default: an eighth of the memory, at most 512.",
    )
    document_seconds: float = Field(default=30, gt=0, description="Maximum time per document (seconds); then 422.")
    queue_seconds: float = Field(
        default_factory=lambda settings: settings["document_seconds"] + 15,
        gt=0,
        description="Maximum wait for a worker (seconds); then 503. Default: 15 more than EINVOICE_DOCUMENT_SECONDS.",
    )
    causes_seconds: float = Field(
        default=5, ge=0, description="Maximum time to search for the causes of findings (seconds); 0 states none."
    )
    worker_megabytes: int = Field(
        default_factory=lambda settings: capacity.default_worker(settings["workers"], settings["upload_megabytes"]),
        ge=capacity.MIN_WORKER,
        description="Memory limit of a worker process; beyond that 422. Default: what the memory allows, at most 2048.",
    )
    pdf_lines: int = Field(
        default=1000,
        ge=1,
        description="Maximum number of invoice lines of a PDF; beyond that no link, and 422 for ZUGFERD.",
    )
    worker_documents: int = Field(default=10_000, ge=1, description="Documents after which a worker is replaced.")
    worker_idle_seconds: float = Field(
        default=5,
        gt=0,
        description="Time without documents after which a used worker is replaced, which erases its memory (seconds).",
    )
    drain_seconds: float = Field(
        default=0,
        ge=0,
        description="Time at shutdown during which /readyz answers 503 but requests are still accepted (seconds).",
    )
    keep_alive_seconds: int = Field(
        default=20,
        ge=1,
        description="Time after which an idle connection is closed; longer than clients keep one (seconds).",
    )
    shutdown_seconds: int = Field(
        default=30, ge=0, description="Maximum wait for running requests at shutdown (seconds)."
    )

    artifacts: str = Field(
        default="file",
        repr=False,
        description="Store of artifacts: file (in the data folder), off, or redis://… to share them between replicas.",
    )
    artifact_seconds: int = Field(default=3600, ge=1, description="Lifetime of links to PDFs (seconds).")
    artifact_megabytes: int = Field(
        default=1024,
        ge=16,
        description="Maximum size of the artifact file with its log, or of a Redis without maxmemory.",
    )
    job_megabytes: int = Field(
        default=100, ge=0, description="Maximum size of the ZIP of a job; beyond that 413. 0: jobs are not offered."
    )
    job_files: int = Field(default=25_000, ge=1, description="Maximum number of files of a job; beyond that 422.")
    job_seconds: int = Field(
        default=86_400, ge=60, description="Time after which a job is erased with its results (seconds)."
    )
    job_store_megabytes: int = Field(
        default_factory=lambda settings: max(16, 10 * settings["job_megabytes"]),
        ge=16,
        description="Maximum size of the file with all jobs. Default: ten times EINVOICE_JOB_MEGABYTES.",
    )
    page: bool = Field(default=True, description="Serve the web app at /.")
    docs: bool = Field(
        default=True, description="Serve the interface documentation at /docs; requires EINVOICE_OPENAPI."
    )
    openapi: bool = Field(default=True, description="Serve the OpenAPI document at /openapi.json.")
    catalog_pages: bool = Field(default=True, description="Serve a page for each rule at /catalog/CODE.")
    kosit_daemon: str = Field(
        default="off",
        pattern="^[a-z0-9][a-z0-9-]{0,39}$",
        description="Answer XML posted to / as KoSIT's validator in daemon mode does: off, on (requests need a key), "
        "or the name of a key that requests without one use.",
    )
    metrics: bool = Field(default=False, description="Serve Prometheus metrics at /metrics.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="Minimum level to log.")

    @property
    def keys_file(self) -> Path:
        """The file of API keys and plans."""
        return self.keys or self.data / "keys.env"

    def check_capacity(self) -> None:
        """Raise ValueError if the memory of this machine or container does not suffice for these settings."""
        capacity.check(self.workers, self.worker_megabytes, self.upload_megabytes)

    @property
    def path_prefix(self) -> str:
        """The path of the public URL, such as "/einvoice", or ""."""
        return urlsplit(self.public_url).path

    @field_validator("trusted_proxies", "cors_origins", "languages", mode="before")
    @classmethod
    def _split_list(cls, value: object) -> object:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @field_validator("languages")
    @classmethod
    def _check_languages(cls, value: tuple[Language, ...]) -> tuple[Language, ...]:
        for lang in value:
            if not is_available(lang):
                raise ValueError(f"must be of {', '.join(languages())}, not {lang}")
        return tuple(dict.fromkeys((*LANGUAGES, *value)))

    @field_validator("artifacts")
    @classmethod
    def _check_artifacts(cls, value: str) -> str:
        check_artifact_store(value)
        return value

    @field_validator("job_store_megabytes")
    @classmethod
    def _check_job_store(cls, value: int, info: ValidationInfo) -> int:
        least = 4 * info.data.get("job_megabytes", 0)  # a single key may use half of it, also for results
        if value < least:
            raise ValueError(f"must be at least {least}, four times EINVOICE_JOB_MEGABYTES")
        return value

    @field_validator("ruleset")
    @classmethod
    def _check_ruleset(cls, value: str) -> str:
        with contextlib.suppress(einvoice.UnreadableDocument):  # the rule set is resolved before the document is read
            einvoice.validate(b"", ruleset=value or None)
        return value

    @field_validator("public_url")
    @classmethod
    def _check_public_url(cls, value: str) -> str:
        url = value.rstrip("/")
        parts = urlsplit(url)
        if url and (parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment):
            raise ValueError("must be an address such as https://example.org/einvoice, without query or fragment")
        if parts.path.startswith("/api"):
            raise ValueError("the path of the address must not begin with /api, which the interface uses")
        return url


def check_artifact_store(value: str) -> None:
    """Raise ValueError unless `value` names an artifact store. The message omits it: it may contain a password."""
    if value not in (ARTIFACTS_OFF, ARTIFACTS_FILE) and not value.startswith(REDIS_SCHEMES):
        raise ValueError(f"must be {ARTIFACTS_FILE}, {ARTIFACTS_OFF}, redis://…, rediss://… or unix://…")


def check_variables(environ: Mapping[str, str] = os.environ) -> None:
    """Raise ValueError if a variable that begins with EINVOICE_ has an unknown name, which is probably misspelled."""
    known = {*map(variable_name, Settings.model_fields), *_OTHER_VARIABLES}
    for name in sorted(environ):
        if name.startswith(PREFIX) and name.upper() not in known and not name.startswith(_OTHER_PREFIXES):
            (nearest,) = difflib.get_close_matches(name, known, n=1, cutoff=0)
            raise ValueError(f"unknown setting {name}; {_ELSEWHERE.get(name, f'the nearest known one is {nearest}')}")


def variable_name(field: str) -> str:
    """Return the environment variable of a setting."""
    return f"{PREFIX}{field.upper()}"
