"""Fetch the PDFs that results link to."""

from typing import Annotated, Any

from fastapi import APIRouter, Path
from starlette.responses import Response

from appliance.api.described import problems
from appliance.api.parameters import PREFIX
from appliance.artifacts import ARTIFACT_EXPIRED, ARTIFACT_NOT_FOUND, ARTIFACTS_UNAVAILABLE, FILES
from appliance.services import Services, Who
from appliance.workers import BUSY, TOO_COMPLEX

_PDF: dict[int | str, dict[str, Any]] = {
    200: {"description": "The PDF.", "content": {"application/pdf": {"schema": {"type": "string", "format": "binary"}}}}
}
_FILE = Path(description="Name of the PDF.", json_schema_extra={"enum": list(FILES.values())})


def routes(services: Services) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix=PREFIX)

    @router.head("/artifacts/{token}/{file}", include_in_schema=False)
    @router.get(
        "/artifacts/{token}/{file}",
        response_class=Response,
        responses={**_PDF, **problems(ARTIFACT_NOT_FOUND, ARTIFACT_EXPIRED, ARTIFACTS_UNAVAILABLE, BUSY, TOO_COMPLEX)},
    )
    async def artifact(token: str, who: Who, file: Annotated[str, _FILE]) -> Response:
        """Return a PDF, under the link that an answer has told.

        It takes the key that the answer was for, or the one that is exchanged for it: another of the same name.
        """
        pdf = await services.artifacts.fetch(token, file, who.key.name)
        headers = {"Cache-Control": "private, no-store", "Content-Disposition": f'inline; filename="{file}"'}
        return Response(pdf, media_type="application/pdf", headers=headers)

    return router
