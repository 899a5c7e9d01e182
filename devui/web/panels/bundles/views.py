"""The page of an export, and the import form."""

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.background.jobs import Job, JobStopped
from devui.debugger.bundles.importing import ImportOptions
from devui.store.errors import SessionExists
from devui.store.rows import SessionRow
from devui.web.errors import Unprocessable
from devui.web.links import app_url, apps_url, export_api_url, export_url, import_url, session_url
from devui.web.lookup import session_of, theme_of
from devui.web.panels.apps.lists import session_name
from devui.web.panels.bundles.api import app_of, exchange, export_options, goes_on, ids_of
from devui.web.panels.bundles.imports import Arrivals, is_database, take_database, take_file
from devui.web.panels.bundles.parts import (
    ExportPage,
    ImportedPage,
    ImportedSession,
    KeyChoice,
    Omission,
)
from devui.web.panels.jobs.panel import job_list
from devui.web.services import services_of
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import plural
from devui.web.uploads import form_file, size_of


async def show(request: Request) -> Response:
    """Show what an export of the session would leave out, and offer the export."""
    services, session = await session_of(request)
    options = export_options(request)
    result = await exchange(services).preview(session.key, options)
    page = ExportPage(
        theme=theme_of(request),
        name=session_name(session),
        session_href=session_url(session.key),
        action=export_url(session.key),
        download=export_api_url(session.key),
        findings=tuple(
            Omission(
                visible(each.kind),
                visible(each.hint),
                plural(each.count, "time"),
                visible(", ".join(each.places or [])),
            )
            for each in result.findings
        ),
        keys=tuple(KeyChoice(key, key in options.keys) for key in result.keys),
        keep=options.keep_secrets,
        format=request.query_params.get("format", "json"),
        jobs=job_list(services.jobs, session.key),
    )
    return services.render.page(page)


async def take(request: Request) -> Response:
    """Import the session or sessions in the form's file, and show them."""
    services = services_of(request)
    app = app_of(services, request)
    try:
        with services.jobs.begin("import", "a file") as job:
            if size := size_of(request):
                job.begin(3 * size)  # the file is received, checked, and written to the journal
            return await _import(request, job, ImportOptions(app, goes_on=goes_on(request)))
    except JobStopped:
        return RedirectResponse(app_url(app) if app else apps_url(), status_code=303)


async def _import(request: Request, job: Job, options: ImportOptions) -> Response:
    services = services_of(request)
    file = await form_file(request, "file", progress=job)
    name = job.name = visible(file.filename or "the file")
    as_copy = ids_of(request) == "new"
    try:
        if is_database(file.file):
            database_options = replace(options, keeps_id=not as_copy)
            arrivals = await take_database(services, file.file, name, job, options=database_options)
            return await _outcome(request, arrivals, name)
        session = await take_file(services, file.file, options, job, new_id=as_copy)
    except SessionExists as error:
        row = await services.journal.sessions.get(error.key)
        return await _outcome(request, Arrivals(present=[row] if row else []), name)
    except Unprocessable as error:
        raise Unprocessable(f"{name}: {str(error).removeprefix(f'{name}: ')}") from error
    finally:
        await file.close()
    return RedirectResponse(session_url(session.key), status_code=303)


async def _outcome(request: Request, arrivals: Arrivals, name: str) -> Response:
    """Go to the session if only one was imported, else show the outcome for all."""
    if len(arrivals.new) == 1 and not (arrivals.present or arrivals.problems):
        return RedirectResponse(session_url(arrivals.new[0].key), status_code=303)
    services = services_of(request)
    page = ImportedPage(
        theme=theme_of(request),
        name=name,
        new=tuple(map(_imported, arrivals.new)),
        present=tuple(map(_imported, arrivals.present)),
        problems=tuple(visible(each) for each in arrivals.problems),
        copy_action=import_url(as_copy=True, goes_on=goes_on(request)),
    )
    return services.render.page(page, status=409 if page.present and not page.new else 200)


def _imported(row: SessionRow) -> ImportedSession:
    return ImportedSession(
        session_url(row.key),
        session_name(row),
        visible(row.app),
        visible(row.user),
        plural(row.events, "event"),
    )
