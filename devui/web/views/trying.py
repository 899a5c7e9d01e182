"""One call by itself, from the page: a tool with a form, a model with an edited request."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.guard.effects import SAID, UNKNOWN
from devui.debugger.spans import request_and_answers, sent_and_result
from devui.debugger.trials import Ground
from devui.store.rows import EventRow, SessionRow, SpanRow
from devui.store.trials import TrialRow
from devui.web.actor import actor_of
from devui.web.errors import BadRequest, EdgeError, NotFound, Unprocessable
from devui.web.htmx import HtmxRequest
from devui.web.links import app_url, tool_url, tools_url, try_call_url
from devui.web.parts import every as parts
from devui.web.presence import while_there
from devui.web.presenters.content import mapping
from devui.web.presenters.modeltrials import model_form, model_trial, request_of
from devui.web.presenters.schemaforms import SchemaForm, WrongFields
from devui.web.presenters.tooltrials import (
    AT,
    ToolAsked,
    silent_toolset,
    tool_form,
    tool_item,
    tool_trial,
)
from devui.web.security.intake import parse_json, read_form
from devui.web.services import Services, services
from devui.web.trying import known_tools, listed_tools, tools_of, try_model, try_tool
from devui.web.views.lookup import event_of, session_of

_SHOWN = 5
"""Trials that a form lists."""


# --- tools --------------------------------------------------------------------------------------


async def tools(request: Request) -> Response:
    """The tools of an app, as a piece of its page."""
    found, app = services(request), request.path_params["app"]
    try:
        listed = await listed_tools(found, app)
        known = await known_tools(found, app, listed["tools"])
    except EdgeError as error:
        return found.render.page(parts.ToolList((), note=str(error)))
    items = tuple(tool_item(app, *each) for each in known)
    silent = tuple(silent_toolset(each) for each in listed["silent"])
    return found.render.page(parts.ToolList(items, silent=silent, again_href=tools_url(app)))


async def effect(request: Request) -> Response:
    """Say what a tool does to the world; nothing chosen takes it back."""
    found, app = services(request), request.path_params["app"]
    found.apps.require(app)
    form = await read_form(request)
    said = str(form.get("effect") or "") or None
    if said is not None and said not in SAID:
        raise Unprocessable(f"a tool is one of {', '.join(sorted(SAID))}")
    tool, actor = request.path_params["tool"], actor_of(form)
    await found.journal.tool_effects.set(app, tool, said, actor)
    if HtmxRequest.read(request.headers):
        return await tools(request)
    return RedirectResponse(app_url(app), status_code=303)


async def tool(request: Request) -> Response:
    """A tool of an app over an empty state: its form, or what came of it."""
    found, app, name = services(request), request.path_params["app"], request.path_params["tool"]
    asked = await _asked(found, app, name, action=tool_url(app, name))
    return await _tool(request, found, asked, Ground(app=app))


async def tool_call(request: Request) -> Response:
    """The tool of a call that is in an event, or whose result is, over the state as of then."""
    found, session = await session_of(request)
    row = await event_of(found, session, request.path_params["number"])
    if row is None:
        raise NotFound("there is no such event")
    call_id = request.path_params["call"]
    name, agent, args, event = await _call_of(found, session, row, call_id)
    asked = await _asked(
        found,
        session.app,
        name,
        action=try_call_url(session.key, row.number, call_id),
        agent=agent,
        args=args,
        event=event,
        has_session=True,
    )
    return await _tool(request, found, asked, Ground(app=session.app, session=session, event=event))


async def _call_of(
    found: Services, session: SessionRow, row: EventRow, call_id: str
) -> tuple[str, str, Mapping[str, Any], int]:
    """Tool, agent and arguments of a call, and the event before which it had no effect."""
    body = await found.journal.events.body(session.key, row.number)
    content = mapping(json.loads(body[1]).get("content")) if body else {}
    for part in content.get("parts") or []:
        made = mapping(part.get("functionCall"))
        if made and str(made.get("id")) == call_id:
            return str(made["name"]), row.author, mapping(made.get("args")), row.number
    for span in await found.journal.spans.of_event(session.key, row.number):
        if span.call == call_id:
            args, _ = await sent_and_result(found.journal, span)
            return span.name, span.agent, mapping(args), row.number - 1
    raise NotFound(f"event #{row.number} has no call {call_id!r}")


async def _asked(
    found: Services,
    app: str,
    name: str,
    *,
    action: str,
    agent: str | None = None,
    args: Mapping[str, Any] | None = None,
    event: int | None = None,
    has_session: bool = False,
) -> ToolAsked:
    declared = await tools_of(found, app)
    known = {tool: (of, does) for tool, of, does in await known_tools(found, app, declared)}
    owners, does = known.get(name, ([], UNKNOWN))
    if not owners:
        raise NotFound(f"{app} has no tool {name!r} now")
    owner = next((each for each in owners if each["agent"] == agent), owners[0])
    return ToolAsked(
        action=action,
        declared=owner,
        effect=does,
        event=event,
        has_session=has_session,
        args=args or {},
    )


async def _tool(request: Request, found: Services, asked: ToolAsked, ground: Ground) -> Response:
    """The form; after a post with what came of it, or with what is wrong."""
    trials: list[TrialRow] = []
    if request.method == "POST":
        form = await read_form(request)
        asked, args = _read(asked, form)
        if args is not None:
            try:
                trials = [
                    await while_there(
                        request,
                        try_tool(
                            found,
                            ground,
                            agent=asked.declared["agent"],
                            tool=asked.declared["name"],
                            args=args,
                            sure=form.get("sure") is not None,
                            actor=actor_of(form),
                        ),
                    )
                ]
            except EdgeError as error:
                asked = replace(asked, note=str(error))
    if ground.session is not None:
        listed = await found.journal.trials.list(ground.session.key)
        name = asked.declared["name"]
        trials = [each for each in listed if each.span is None and each.name == name][:_SHOWN]
    return found.render.page(tool_form(asked, [await _shown(found, row, ground) for row in trials]))


def _read(asked: ToolAsked, form: FormData) -> tuple[ToolAsked, Mapping[str, Any] | None]:
    """The arguments, and the form with them; None with what is wrong."""
    given = {name: str(value) for name, value in form.multi_items()}
    if "filled" in given and asked.schema is not None:
        try:
            args = SchemaForm(asked.schema, AT).read(given)
        except WrongFields as wrong:
            return replace(asked, given=given, errors=wrong.errors), None
        return replace(asked, args=args), args
    try:
        value = parse_json((given.get("value") or "{}").encode())
    except BadRequest as error:
        return replace(asked, note=str(error)), None
    if not isinstance(value, dict):
        return replace(asked, note="the arguments have to be a JSON object"), None
    return replace(asked, args=value), value


async def _shown(found: Services, row: TrialRow, ground: Ground) -> parts.ToolTrial:
    if ground.session is None:
        return tool_trial(row, ())
    key, journal = ground.session.key, found.journal
    seq = None if row.event is None else await journal.state.moment(key, row.event)
    return tool_trial(row, await journal.state.at(key, seq))


# --- models -------------------------------------------------------------------------------------


async def again(request: Request) -> Response:
    """A model call once more: the form, or after a post with what the model answered."""
    found, session = await session_of(request)
    wanted = request.path_params["span"]
    span = await found.journal.spans.get(session.key, int(wanted)) if wanted.isdecimal() else None
    if span is None or span.type != "model":
        raise NotFound(f"session {session.key} has no model call {wanted}")
    sent, answers = await request_and_answers(found.journal, span)
    if sent is None:
        raise NotFound("the request was not kept: it was too large to be told")
    recorded = sent.parsed()
    shown: Mapping[str, Any] = recorded
    note = ""
    if request.method == "POST":
        shown, note = await _posted(request, found, session, span, recorded)
    trials = await found.journal.trials.list(session.key, span=span.id)
    told = json.loads(answers or "[]", parse_constant=str)
    listed = [model_trial(row, recorded, told) for row in trials[:_SHOWN]]
    return found.render.page(model_form(span, shown, listed, note=note))


async def _posted(
    request: Request,
    found: Services,
    session: SessionRow,
    span: SpanRow,
    recorded: Mapping[str, Any],
) -> tuple[Mapping[str, Any], str]:
    """The request as it was edited, and what is wrong with it."""
    form = await read_form(request)
    given = {name: str(value) for name, value in form.multi_items()}
    try:
        wanted = request_of(given, recorded)
    except BadRequest as error:
        return recorded, str(error)
    try:
        trial = try_model(found, session, span, wanted, actor=actor_of(form))
        await while_there(request, trial)
    except EdgeError as error:
        return wanted, str(error)
    return wanted, ""
