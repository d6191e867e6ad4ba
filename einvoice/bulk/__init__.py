"""Many files at once: judged by several processes, kept small, compared, and made into tables."""

from einvoice.bulk.baseline import Acceptance, Accepted
from einvoice.bulk.comparison import Change, Comparison
from einvoice.bulk.execution.run import validate_many
from einvoice.bulk.overview import Overview
from einvoice.bulk.record import FileResult
from einvoice.bulk.results import ResultSet

__all__ = [
    "Acceptance",
    "Accepted",
    "Change",
    "Comparison",
    "FileResult",
    "Overview",
    "ResultSet",
    "validate_many",
]
