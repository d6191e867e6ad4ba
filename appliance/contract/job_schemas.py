"""JSON bodies of the responses on jobs."""

from typing import Any, Literal

from pydantic import Field

from appliance.contract.schemas import Response

_TIME = ["2026-11-20T09:30:00Z"]


class JobFiles(Response):
    """How many files have a result, and which."""

    total: int
    done: int
    valid: int
    invalid: int
    unreadable: int


class JobResults(Response):
    """URLs of the results."""

    jsonl: str = Field(description="A line for each file: an item as of a batch, with `sha256`.")
    csv: str = Field(description="A row for each file.")
    findings_csv: str = Field(description="A row for each finding.")
    summary: str = Field(description="Verdicts, codes and common causes.")


class JobResponse(Response):
    """A job: a ZIP of invoices that is validated in the background."""

    id: str
    url: str
    status: Literal["queued", "running", "waiting", "done"] = Field(
        description="`queued`: after another job of the key. `waiting`: the store is full; the job goes on when it has "
        "space. `done`: every file has a result."
    )
    phase: Literal["files", "causes", "summary", "done"] = Field(
        description="What is done: validate the files, search for common causes, summarize."
    )
    message: str | None = Field(description="Why the job waits; null otherwise.")
    filename: str = Field(examples=["invoices.zip"])
    language: str = Field(examples=["de"])
    files: JobFiles
    created_at: str = Field(examples=_TIME)
    started_at: str | None = Field(examples=_TIME)
    finished_at: str | None = Field(examples=_TIME)
    expires_at: str = Field(description="When the job is erased with its results.", examples=_TIME)
    results: JobResults | None = Field(description="Null until the job is done.")


class JobList(Response):
    """The jobs of the key, the latest first."""

    status: Literal["ok"]
    count: int
    items: list[JobResponse]


class JobCode(Response):
    """A code and how often it was found."""

    code: str = Field(examples=["BR-CO-10"])
    severity: Literal["fatal", "warning", "information"]
    files: int
    findings: int
    example: str = Field(description="Name of a file.")
    title: str


class JobCause(Response):
    """A cause that several files share: the same change, whatever the values."""

    text: str = Field(description="What to change; what is wrong if no change is known.")
    terms: list[str]
    codes: list[str]
    is_question: bool = Field(
        description="Whether, in one of the files at least, only the issuer can know which change is right, or whether "
        "the only one is."
    )
    files: int = Field(description="Number of files with it.")
    findings: int
    explains_errors: int = Field(description="Number of files all of whose errors it explains.")
    valid: int = Field(description="Number of files that are valid with the change alone.")
    example: str = Field(description="Name of a file.")


class JobCauses(Response):
    """The common causes, first those that explain all errors of the most files."""

    examined: int = Field(
        description="Number of files in which causes were searched for: all invalid ones, of more than 1,000 a sample "
        "with each combination of codes."
    )
    invalid: int
    solvable: int = Field(description="Number of examined files all of whose errors the first ten causes explain.")
    incomplete: int = Field(description="Number of examined files in which the search ended at a limit.")
    items: list[JobCause]
    items_left_out: int


class JobSummary(Response):
    """What the files of a job have in common."""

    status: Literal["done"]
    files: int
    verdicts: dict[str, int]
    findings: int | None = Field(description="Number of findings. Null, as codes and causes, if they are too many.")
    rule_sets: list[str] | None = Field(description="Releases that were applied, the one of most files first.")
    codes: list[JobCode] | None
    causes: JobCauses | None = Field(description="Null if they are not searched for (EINVOICE_CAUSES_SECONDS).")


JOB_EXAMPLE: dict[str, Any] = {
    "id": "019a9fe1c3a00123456789abcdef0123456789abcdef",
    "status": "running",
    "phase": "files",
    "message": None,
    "filename": "invoices.zip",
    "language": "en",
    "files": {"total": 20000, "done": 1216, "valid": 1102, "invalid": 112, "unreadable": 2},
    "created_at": "2026-11-20T09:30:00Z",
    "started_at": "2026-11-20T09:30:01Z",
    "finished_at": None,
    "expires_at": "2026-11-21T09:30:00Z",
    "results": None,
}
"""A job without its URL, for the OpenAPI document."""
