"""The page of an export, and the form of an import."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.bundles.reading import BadBundle
from devui.web.api.bundles import app_of, exchange, wish_of
from devui.web.errors import Unprocessable
from devui.web.links import export_api_url, export_url, session_url
from devui.web.pages.keeping import ExportPage
from devui.web.parts.bundles import KeyChoice, Left
from devui.web.presenters.lists import session_name
from devui.web.services import services
from devui.web.text.figures import plural
from devui.web.text.visible import visible
from devui.web.uploads import form_file
from devui.web.views.lookup import session_of, theme_of


async def show(request: Request) -> Response:
    """What a file of the session would leave out, and the ways to get it."""
    found, session = await session_of(request)
    wish = wish_of(request)
    told = await exchange(found).preview(session.key, wish)
    page = ExportPage(
        theme=theme_of(request),
        name=session_name(session),
        session_href=session_url(session.key),
        action=export_url(session.key),
        download=export_api_url(session.key),
        findings=tuple(
            Left(
                visible(each.kind),
                visible(each.hint),
                plural(each.count, "time"),
                visible(", ".join(each.places or [])),
            )
            for each in told.findings
        ),
        keys=tuple(KeyChoice(key, key in wish.keys) for key in told.keys),
        keep=wish.keep_secrets,
    )
    return found.render.page(page)


async def take(request: Request) -> Response:
    """Make a session of the file of the form, and show it."""
    found = services(request)
    file = await form_file(request, "file")
    try:
        made = await exchange(found).take(file.file, app=app_of(found, request))
    except BadBundle as error:
        raise Unprocessable(f"{visible(file.filename or 'the file')}: {error}") from error
    finally:
        await file.close()
    await found.know_credentials()
    return RedirectResponse(session_url(made.key), status_code=303)
