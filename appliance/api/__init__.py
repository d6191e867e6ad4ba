"""The routes of the documented interface under `/api/external`, one module per subject."""
