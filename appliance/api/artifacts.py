"""Fetch the PDFs that results link to."""

from typing import Annotated, Any

from fastapi import APIRouter, Path
from starlette.responses import Response

from appliance.api.dependencies import INVALID_LANGUAGE, CurrentCaller
from appliance.api.responses import problem_responses
from appliance.artifacts.links import ARTIFACT_EXPIRED, ARTIFACT_NOT_FOUND, ARTIFACTS_UNAVAILABLE
from appliance.contract.paths import API, ARTIFACT_FILES
from appliance.services import Services
from appliance.workers.pool import BUSY, TOO_COMPLEX
from appliance.workers.reference_time import REFERENCE_LIMIT

_PDF: dict[int | str, dict[str, Any]] = {
    200: {"description": "The PDF.", "content": {"application/pdf": {"schema": {"type": "string", "format": "binary"}}}}
}
_FILE = Path(description="File name of the PDF.", json_schema_extra={"enum": list(ARTIFACT_FILES.values())})
_COMMON = (INVALID_LANGUAGE, ARTIFACT_NOT_FOUND, ARTIFACT_EXPIRED, ARTIFACTS_UNAVAILABLE)
_PROBLEMS = problem_responses(*_COMMON, BUSY, TOO_COMPLEX, REFERENCE_LIMIT)
_DELETE_PROBLEMS = problem_responses(*_COMMON)


def routes(services: Services) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix=API)

    @router.head("/artifacts/{token}/{file}", include_in_schema=False)
    @router.get("/artifacts/{token}/{file}", response_class=Response, responses={**_PDF, **_PROBLEMS})
    async def artifact(token: str, caller: CurrentCaller, file: Annotated[str, _FILE]) -> Response:
        """Return a PDF linked from a result.

        Requires the API key of the original request, or another key of the same holder.
        """
        pdf = await services.links.fetch(token, file, caller.key.name)
        headers = {"Cache-Control": "private, no-store", "Content-Disposition": f'inline; filename="{file}"'}
        return Response(pdf, media_type="application/pdf", headers=headers)

    @router.delete("/artifacts/{token}/{file}", status_code=204, response_class=Response, responses=_DELETE_PROBLEMS)
    async def delete_artifact(token: str, caller: CurrentCaller, file: Annotated[str, _FILE]) -> Response:
        """Erase a document before its links expire: the stored file, and all PDFs that the same result links to."""
        await services.links.delete(token, file, caller.key.name)
        return Response(status_code=204)

    return router
