"""Having PDFs made by the processes that judge documents, within the same bounds."""

from appliance.artifacts import Kind, Recipe, Render
from appliance.wire import Message
from appliance.workers import JobFailed, TooComplex, Workers


def renderer(workers: Workers) -> Render:
    """Return what makes PDFs by means of `workers`.

    It raises a `Problem` where there is no process for it or where it takes too much, and `JobFailed`.
    """

    async def render(kind: Kind, recipe: Recipe) -> bytes:
        asked = {"lang": recipe.lang, "mode": recipe.mode, "engine": recipe.engine}
        facts = {**asked, "name": recipe.filename, "judged_at": recipe.judged_at}
        with workers.place():
            try:
                outcome = await workers.run(Message({"do": kind, **facts}, (recipe.document,)))
            except TooComplex:
                raise workers.too_complex() from None
        if not outcome.parts:  # a file that has been judged can no longer be read
            raise JobFailed
        return outcome.parts[0]

    return render
