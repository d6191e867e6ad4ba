"""What is stored of a job, beside its archive and its results."""

import dataclasses
import hashlib
import secrets
from dataclasses import dataclass, field
from typing import Final, Literal, Self, TypeAlias

from appliance.contract.serialization import from_json, to_json
from appliance.contract.values import Engine, Language

Phase: TypeAlias = Literal["files", "causes", "summary", "done"]
VERDICTS: Final = ("valid", "invalid", "unreadable")
PARTS: Final = ("results.jsonl", "results.csv", "findings.csv")
"""Names of the downloads, in the order of the parts of a block of results."""
CAUSE_FILES: Final = 1000
"""Number of files in which causes are searched for; of more, a sample with each combination of codes."""
NO_FINDINGS: Final = {"findings": None, "rule_sets": None, "codes": None, "causes": None}
"""Members of a summary that could not be made."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job; it does not change.

    Attributes:
        id: identifier; later jobs have greater ones.
        holder: name of the key holder.
        key: label of the key.
        filename: name of the archive as it was sent.
        lang: language of the results.
        engine: validation engine.
        base: base URL of the service for links to rules; None if there are none.
        has_facts: whether the tables contain what the invoices say, such as seller and amounts.
        files: number of files.
        created: time of acceptance, in seconds since 1970.
        expires: time at which everything is erased.
    """

    id: str
    holder: str
    key: str
    filename: str
    lang: Language
    engine: Engine
    base: str | None
    has_facts: bool
    files: int
    created: float
    expires: float

    def pack(self) -> bytes:
        """Return the job as bytes."""
        return to_json(dataclasses.asdict(self))

    @classmethod
    def unpack(cls, packed: bytes) -> Self:
        """Return the job that `pack` made bytes."""
        return cls(**from_json(packed))

    @property
    def name(self) -> str:
        """The name in the store."""
        return job_name(self.holder, self.id)


@dataclass(slots=True)
class Progress:
    """How far a job is.

    Attributes:
        phase: what is done at the moment: validate the files, search for causes in a sample, summarize, or nothing.
        blocks: for each block of results the number of its first file, its number of files, and the size of its
            records, then of each of the `PARTS`, in bytes.
        verdicts: number of files by verdict.
        sample: numbers of the files whose causes are searched for; None if they are not known yet.
        sampled: number of those that are done.
        cause_blocks: number of blocks of causes.
        started, finished: times; None before.
    """

    phase: Phase = "files"
    blocks: list[list[int]] = field(default_factory=list)
    verdicts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(VERDICTS, 0))
    sample: list[int] | None = None
    sampled: int = 0
    cause_blocks: int = 0
    started: float | None = None
    finished: float | None = None

    @property
    def done(self) -> int:
        """Number of files that have a result."""
        return sum(self.verdicts.values())

    def sizes(self, part: int) -> list[int]:
        """Return the size of one of the `PARTS` in each block."""
        return [block[3 + part] for block in self.blocks]

    def pack(self) -> bytes:
        """Return the progress as bytes."""
        return to_json(dataclasses.asdict(self))

    @classmethod
    def unpack(cls, packed: bytes) -> Self:
        """Return the progress that `pack` made bytes."""
        return cls(**from_json(packed))


def new_id(now: float) -> str:
    """Return an identifier with 128 random bits."""
    return f"{round(now * 1000):012x}{secrets.token_hex(16)}"


def folder(holder: str) -> str:
    """Return what the names of all jobs of a holder begin with."""
    return f"{hashlib.sha256(holder.encode()).hexdigest()[:32]}/"


def job_name(holder: str, id: str) -> str:
    """Return the name of a job in the store."""
    return folder(holder) + id
