"""Trials on the page: a tool with a form, a model with an edited request."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.events.spans import request_and_answers, sent_and_result
from devui.debugger.guard.effects import EFFECT_CHOICES, UNKNOWN
from devui.debugger.workers.trials import TrialContext
from devui.store.rows import EventRow, SessionRow, SpanRow
from devui.store.runs.trials import TrialRow
from devui.web.errors import BadRequest, EdgeError, NotFound, Unprocessable
from devui.web.htmx import HtmxRequest
from devui.web.links import app_url, tool_url, tools_url, try_call_url
from devui.web.lookup import actor_of, existing_event, session_of
from devui.web.panels.apps.piece import shown_of_app
from devui.web.panels.questions.schema_forms import WrongFields
from devui.web.panels.trials.actions import known_tools, listed_tools, tools_of, try_model, try_tool
from devui.web.panels.trials.models import model_form, model_trial, request_of
from devui.web.panels.trials.parts import ToolList, ToolTrial
from devui.web.panels.trials.tools import (
    ToolDraft,
    arguments_form,
    silent_toolset,
    tool_form,
    tool_item,
    tool_trial,
)
from devui.web.security.intake import parse_typed, read_form
from devui.web.services import Services, services_of
from devui.web.sse import while_there
from devui.wire.events import fields_in

_LISTED = 5
"""Maximum number of trials listed in a form."""


# --- tools --------------------------------------------------------------------------------------


async def tools(request: Request) -> Response:
    """Return the tools of an app, as a piece of its page."""
    services, app = services_of(request), request.path_params["app"]
    try:
        listing = await listed_tools(services, app)
        entries = await known_tools(services, app, listing["tools"])
    except EdgeError as error:
        return shown_of_app(request, app, "Tools", ToolList((), note=str(error)))
    items = tuple(tool_item(app, *each) for each in entries)
    silent = tuple(silent_toolset(each) for each in listing["silent"])
    unknown = tuple(name for name, _, effect in entries if effect == UNKNOWN)
    action = tools_url(app) if len(unknown) > 1 else ""
    again = tools_url(app)
    listed = ToolList(
        items, silent=silent, again_href=again, unknown=unknown, unknown_action=action
    )
    return shown_of_app(request, app, "Tools", listed)


async def unknown_effects(request: Request) -> Response:
    """Set the effect class of the tools that the form listed as unknown.

    Tools classified in the meantime stay as they are, and so do all if nothing is chosen.
    """
    services, app = services_of(request), request.path_params["app"]
    form = await read_form(request)
    choice, actor = _effect_in(form), actor_of(form)
    names = {str(name) for name in form.getlist("tool")}
    for name, _, effect in await known_tools(services, app, await tools_of(services, app)):
        if effect == UNKNOWN and name in names:
            await services.journal.tool_effects.set(app, name, choice, actor)
    if HtmxRequest.read(request.headers):
        return await tools(request)
    return RedirectResponse(app_url(app), status_code=303)


async def effect(request: Request) -> Response:
    """Set a tool's effect class; an empty choice removes it."""
    services, app = services_of(request), request.path_params["app"]
    services.apps.require(app)
    form = await read_form(request)
    choice = _effect_in(form)
    tool, actor = request.path_params["tool"], actor_of(form)
    await services.journal.tool_effects.set(app, tool, choice, actor)
    if HtmxRequest.read(request.headers):
        return await tools(request)
    return RedirectResponse(app_url(app), status_code=303)


def _effect_in(form: FormData) -> str | None:
    choice = str(form.get("effect") or "") or None
    if choice is not None and choice not in EFFECT_CHOICES:
        raise Unprocessable(f"the effect must be one of {', '.join(sorted(EFFECT_CHOICES))}")
    return choice


async def tool(request: Request) -> Response:
    """Return the form for an app's tool with an empty state; after a post, with the result."""
    services, app, name = (
        services_of(request),
        request.path_params["app"],
        request.path_params["tool"],
    )
    draft = await _tool_draft(services, app, name, action=tool_url(app, name))
    return await _tool(request, services, draft, TrialContext(app=app))


async def tool_call(request: Request) -> Response:
    """Return the form for a call or a result in an event, with the state as of then."""
    services, session = await session_of(request)
    row = await existing_event(services, session, request.path_params["number"])
    call_id = request.path_params["call"]
    name, agent, args, event = await _call_of(services, session, row, call_id)
    draft = await _tool_draft(
        services,
        session.app,
        name,
        action=try_call_url(session.key, row.number, call_id),
        agent=agent,
        args=args,
        event=event,
        has_session=True,
    )
    return await _tool(
        request, services, draft, TrialContext(app=session.app, session=session, event=event)
    )


async def _call_of(
    services: Services, session: SessionRow, row: EventRow, call_id: str
) -> tuple[str, str, Mapping[str, Any], int]:
    """Return a call's tool, agent and arguments, and an event as of which it had no effect yet.

    The arguments of a result come from its span or, without one, from the event with the call.
    """
    body = await services.journal.events.body(session.key, row.number)
    for call in body[1].calls if body else ():
        if str(call.id) == call_id:
            return call.name, row.author, call.args, row.number
    for span in await services.journal.spans.of_event(session.key, row.number):
        if span.call == call_id:
            args, _ = await sent_and_result(services.journal, span)
            return span.name, span.agent, fields_in(args), row.number - 1
    if body and any(str(each.id) == call_id for each in body[1].responses):
        rows = await services.journal.events.asking(session.key, call_id)
        numbers = [each.number for each, _ in rows if each.seq < row.seq]
        for each, event in await services.journal.events.bodies(session.key, numbers):
            if asking := next((call for call in event.calls if str(call.id) == call_id), None):
                return asking.name, each.author, asking.args, row.number - 1
    raise NotFound(f"event #{row.number} has no call {call_id!r}")


async def _tool_draft(
    services: Services,
    app: str,
    name: str,
    *,
    action: str,
    agent: str | None = None,
    args: Mapping[str, Any] | None = None,
    event: int | None = None,
    has_session: bool = False,
) -> ToolDraft:
    declarations = await tools_of(services, app)
    tools = {tool: (of, does) for tool, of, does in await known_tools(services, app, declarations)}
    owners, does = tools.get(name, ([], UNKNOWN))
    if not owners:
        raise NotFound(f"{app} has no tool {name!r} now")
    owner = next((each for each in owners if each["agent"] == agent), owners[0])
    return ToolDraft(
        action=action,
        declared=owner,
        effect=does,
        event=event,
        has_session=has_session,
        args=args or {},
    )


async def _tool(
    request: Request, services: Services, draft: ToolDraft, context: TrialContext
) -> Response:
    """Return the form; after a post, with the result or with the errors."""
    trials: list[TrialRow] = []
    if request.method == "POST":
        form = await read_form(request)
        draft, args = _read(draft, form)
        if "effect" in form:
            draft = await _with_effect(services, draft, context, form)
        elif args is not None:
            try:
                trials = [
                    await while_there(
                        request,
                        try_tool(
                            services,
                            context,
                            agent=draft.declared["agent"],
                            tool=draft.declared["name"],
                            args=args,
                            confirm=form.get("confirm") is not None,
                            actor=actor_of(form),
                        ),
                    )
                ]
            except EdgeError as error:
                draft = replace(draft, note=str(error))
    if context.session is not None:
        rows = await services.journal.trials.list(context.session.key)
        name = draft.declared["name"]
        trials = [each for each in rows if each.span is None and each.name == name][:_LISTED]
    return services.render.page(
        tool_form(draft, [await _tool_trial(services, row, context) for row in trials])
    )


async def _with_effect(
    services: Services, draft: ToolDraft, context: TrialContext, form: FormData
) -> ToolDraft:
    """Set the tool's effect class, without running the tool."""
    name = draft.declared["name"]
    await services.journal.tool_effects.set(context.app, name, _effect_in(form), actor_of(form))
    tools = await known_tools(services, context.app, await tools_of(services, context.app))
    return replace(draft, effect=next((does for tool, _, does in tools if tool == name), UNKNOWN))


def _read(draft: ToolDraft, form: FormData) -> tuple[ToolDraft, Mapping[str, Any] | None]:
    """Return the form with the arguments, and the arguments; None if they are invalid."""
    entries = {name: str(value) for name, value in form.multi_items()}
    if "filled" in entries and draft.schema is not None:
        try:
            args = arguments_form(draft.schema).read(entries)
        except WrongFields as wrong:
            return replace(draft, entries=entries, errors=wrong.errors), None
        return replace(draft, args=args), args
    try:
        value = parse_typed(entries.get("value") or "{}")
    except BadRequest as error:
        return replace(draft, note=str(error)), None
    if not isinstance(value, dict):
        return replace(draft, note="the arguments must be a JSON object"), None
    return replace(draft, args=value), value


async def _tool_trial(services: Services, row: TrialRow, context: TrialContext) -> ToolTrial:
    if context.session is None:
        return tool_trial(row, ())
    key, journal = context.session.key, services.journal
    seq = None if row.event is None else await journal.state.moment(key, row.event)
    return tool_trial(row, await journal.state.at(key, seq))


# --- models -------------------------------------------------------------------------------------


async def again(request: Request) -> Response:
    """Return the form to repeat a model call; after a post, with the model's answer."""
    services, session = await session_of(request)
    number = request.path_params["span"]
    span = (
        await services.journal.spans.get(session.key, int(number)) if number.isdecimal() else None
    )
    if span is None or span.type != "model":
        raise NotFound(f"session {session.key} has no model call {number}")
    body, answers = await request_and_answers(services.journal, span)
    if body is None:
        raise NotFound("the request was too large to record")
    original = body.as_json()
    current: Mapping[str, Any] = original
    note = ""
    if request.method == "POST":
        current, note = await _post(request, services, session, span, original)
    trials = await services.journal.trials.list(session.key, span=span.id)
    responses = json.loads(answers or "[]", parse_constant=str)
    items = [model_trial(row, original, responses) for row in trials[:_LISTED]]
    return services.render.page(model_form(span, current, items, note=note))


async def _post(
    request: Request,
    services: Services,
    session: SessionRow,
    span: SpanRow,
    original: Mapping[str, Any],
) -> tuple[Mapping[str, Any], str]:
    """Return the edited request, and an error message or ""."""
    form = await read_form(request)
    entries = {name: str(value) for name, value in form.multi_items()}
    try:
        edit = request_of(entries, original)
    except BadRequest as error:
        return original, str(error)
    try:
        trial = try_model(services, session, span, edit, actor=actor_of(form))
        await while_there(request, trial)
    except EdgeError as error:
        return edit, str(error)
    return edit, ""
