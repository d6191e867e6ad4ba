"""The routes: what can be asked of the appliance."""

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse

import einvoice
from appliance.edge import KeyGate, LastResort, Linger
from appliance.keys import KeyRing
from appliance.problems import Language, Problem, ProblemKind, Words, answer_problems
from appliance.schemas import Health, ProblemAnswer, ValidationAnswer
from appliance.settings import Settings
from appliance.upload import read_form
from appliance.workers import Workers

Mode = Literal["current", "compatibility"]

LANGUAGES: dict[str, Language] = {"de": "de", "en": "en"}
MODES: dict[str, Mode] = {"current": "current", "compatibility": "compatibility"}

INVALID_LANGUAGE = ProblemKind(
    "invalid_lang",
    422,
    de=Words("Unbekannte Sprache", "Der Parameter lang ist de oder en, nicht „{value}“."),
    en=Words("Unknown language", "The parameter lang is de or en, not “{value}”."),
)
INVALID_MODE = ProblemKind(
    "invalid_validation_mode",
    422,
    de=Words("Unbekannter Prüfmodus", "Das Feld validation_mode ist current oder compatibility, nicht „{value}“."),
    en=Words("Unknown validation mode", "The field validation_mode is current or compatibility, not “{value}”."),
)


def query_language(lang: str = "de") -> Language:
    """Return the language that the query asks for.

    Raises:
        Problem: it asks for one that there is none of.
    """
    if lang not in LANGUAGES:
        raise Problem(INVALID_LANGUAGE, value=lang)
    return LANGUAGES[lang]


def form_mode(fields: dict[str, str]) -> Mode:
    """Return the validation mode that a form asks for.

    Raises:
        Problem: it asks for one that there is none of.
    """
    value = fields.get("validation_mode", "current")
    if value not in MODES:
        raise Problem(INVALID_MODE, value=value)
    return MODES[value]


def judge(content: bytes, mode: Mode, language: Language) -> dict[str, Any]:
    """Return the verdict on a file in the shape of `ValidationAnswer`.

    Raises:
        einvoice.UnreadableDocument: nobody can read it as an invoice.
    """
    return einvoice.validate(content, lang=language, mode=mode).to_dict(language)


def create_app(settings: Settings, keys: KeyRing) -> FastAPI:
    """Return the appliance as an ASGI application that `keys` open."""
    app = FastAPI(title="einvoice", docs_url=None, redoc_url=None, openapi_url=None)
    workers = Workers(settings.workers, settings.queue)

    @app.get("/healthz")
    async def health() -> Health:
        """Say that the process is alive; it needs no key."""
        return Health(status="ok")

    @app.post("/api/external/validate", responses={200: {"model": ValidationAnswer}, 422: {"model": ProblemAnswer}})
    async def validate(request: Request, language: Annotated[Language, Depends(query_language)]) -> JSONResponse:
        """Judge one file."""
        with workers.place():
            form = await read_form(
                request.stream(),
                request.headers.get("content-type", ""),
                file_field="file",
                seconds=settings.upload_seconds,
            )
            work = partial(judge, form.files[0].content, form_mode(form.fields), language)
            return JSONResponse(await workers.run(work), headers={"Cache-Control": "no-store"})

    answer_problems(app)
    # The last one added is the outermost.
    app.add_middleware(KeyGate, keys=keys)
    app.add_middleware(LastResort)
    app.add_middleware(Linger)
    return app
