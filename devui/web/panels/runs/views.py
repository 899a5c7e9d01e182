"""Runs: start, answer, command and stop one, end its calls, show its tab and its log."""

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from devui.debugger.questions.questions import answered_once
from devui.debugger.recovery.answers import CallDecision, DecisionRequired, opening
from devui.debugger.runs.options import RunOptions, last_options, options_of_run
from devui.debugger.runs.request import RunRequest
from devui.debugger.stepping.commands import (
    CommandRefused,
    InvalidCommand,
    InvalidEdit,
    UnchangedEdit,
)
from devui.debugger.stepping.stepper import Hold
from devui.store.rows import SessionRow
from devui.web.adk.bodies import parse
from devui.web.errors import Conflict, NotFound, Unprocessable
from devui.web.htmx import HtmxRequest, renew
from devui.web.lookup import actor_of, event_of, session_of
from devui.web.panels.chat.attachments import MESSAGE_LIMIT, attached_files, message_in
from devui.web.panels.chat.chat import ask_slot
from devui.web.panels.hold.forms import (
    held_form,
    held_slot,
    json_field,
    json_slot,
    mock_field,
    mock_slot,
    value_of,
)
from devui.web.panels.inspector.inspector import log as log_panel
from devui.web.panels.questions.api import answer_question, question_at
from devui.web.panels.questions.questions import answer_of, form_of
from devui.web.panels.questions.schema_forms import WrongFields
from devui.web.panels.recovery.actions import (
    decisions_for,
    first_guard,
    unsent,
    with_unsent_files,
)
from devui.web.panels.recovery.views import acknowledge, ask_again, call_answers
from devui.web.panels.runs.api import CallBody, CommandBody
from devui.web.panels.runs.output import output_after
from devui.web.panels.runs.panel import (
    activity_of,
    answer_form,
    answer_slot,
    run_panel,
    typed_answer,
    typed_slot,
)
from devui.web.panels.session.page import app_status
from devui.web.panels.settings.panel import agents_of, settings_form
from devui.web.panels.settings.reading import settings_of_form, texts_in
from devui.web.panels.trials.tools import refill, refresh
from devui.web.restored_secrets import restore_held_secrets, restore_secrets
from devui.web.security.intake import parse_json, read_form, read_form_with_files
from devui.web.services import Services, services_of
from devui.web.text.formats import clock
from devui.web.text.numbers import whole_number


async def run_tab(request: Request) -> Response:
    """Return the tab about the run of `?event=NUMBER`, or about the newest run."""
    services, session = await session_of(request)
    row = await event_of(services, session, request.query_params.get("event"))
    activity = await activity_of(services, session, row)
    return services.render.page(await run_panel(services, session, activity))


async def log_tab(request: Request) -> Response:
    """Return the tab with the output of the run of `?event=NUMBER`, or of the newest run."""
    services, session = await session_of(request)
    row = await event_of(services, session, request.query_params.get("event"))
    return services.render.page(await log_panel(services, session, row))


async def end_call(request: Request) -> Response:
    """End or answer a call; an invalid answer is reported at its field."""
    services, run = services_of(request), request.path_params["run"]
    form = await read_form(request)
    if "filled" in form:
        return await _call_form(request, services, run, form)
    try:
        return await _order_call(request, services, run, form, _text_value(form))
    except WrongFields as wrong:
        call = await _call_of(services, run, form)
        slot, fields = typed_slot(call["id"]), (typed_answer(call),)
        return refill(
            request, services.render, slot, fields, entries=_form_fields(form), wrong=wrong
        )


async def _call_form(request: Request, services: Services, run: str, form: FormData) -> Response:
    """Answer a call with the fields of the tool's declared result."""
    call = await _call_of(services, run, form)
    schema_form = answer_form(call["schema"] or "{}")
    try:
        value = schema_form.read(_form_fields(form))
    except WrongFields as wrong:
        slot, fields = answer_slot(call["id"]), schema_form.fields()
        return refill(
            request, services.render, slot, fields, entries=_form_fields(form), wrong=wrong
        )
    return await _order_call(request, services, run, form, value)


async def _order_call(
    request: Request, services: Services, run: str, form: FormData, value: Any
) -> Response:
    order = {name: form[name] for name in ("command", "key") if name in form}
    call = whole_number(str(form.get("call")))
    body = parse(CallBody, {**order, "call": call, "actor": actor_of(form), "value": value})
    try:
        position = await services.runs.end_call(run, body.to_order())
    except InvalidCommand as error:
        raise _misuse(form, f"invalid answer: {error}") from error
    except CommandRefused as error:
        raise Conflict(str(error)) from error
    return acknowledge(request, position["session"])


def _misuse(form: FormData, problem: str) -> Exception:
    """Return the error to raise: at the field for any answer, if the answer came from there."""
    return WrongFields({"value": problem}) if "value" in form else Unprocessable(problem)


def _form_fields(form: FormData) -> dict[str, str]:
    return {name: str(value) for name, value in form.items()}


async def _call_of(services: Services, run: str, form: FormData) -> Mapping[str, Any]:
    """Return the call in its current state. Raises Conflict if it has ended."""
    number = whole_number(str(form.get("call")))
    calls = (await services.runs.activity(run))["calls"]
    call = next((each for each in calls if each["id"] == number), None)
    if call is None:
        raise Conflict("the call has already ended")
    return dict(call)


def _text_value(form: FormData) -> Any:
    """Return the text field's value: JSON, or a text. Raises WrongFields if it is empty."""
    if form.get("command") != "answer":
        return None
    text = str(form.get("value") or "").strip()
    if not text:
        raise WrongFields({"value": "write the answer first"})
    return value_of("mock", text)


_HELD_NO_LONGER = "the run is no longer paused here; the page shows its current state"


async def start(request: Request) -> Response:
    """Send a message, or resume an invocation; the results arrive on the stream."""
    services, session = await session_of(request)
    form = await read_form_with_files(request, MESSAGE_LIMIT)
    message, save_files = await _message(services, session, form)
    invocation = str(form.get("invocation") or "") or None
    if message is None and invocation is None:
        raise Unprocessable("write a message or attach a file first")
    decisions: tuple[CallDecision, ...] = ()
    if message is None and invocation is not None:
        try:
            decisions = await decisions_for(
                services, session, invocation, call_answers(form), actor=actor_of(form)
            )
        except WrongFields as wrong:
            return ask_again(request, form, wrong)
        except DecisionRequired as error:
            raise Conflict(str(error)) from error
    try:
        options = await _options(services, session, form, invocation if message is None else None)
    except WrongFields as wrong:
        return _settings_again(request, services, session, texts_in(form), wrong)
    run_request = RunRequest(
        opening=opening(decisions),
        message=message,
        save_files=save_files,
        invocation=invocation,
        pause=form.get("pause") is not None,
        actor=actor_of(form),
        guard=await first_guard(services, session, invocation=invocation, decisions=decisions),
    ).with_options(options)
    if "queue" in form and services.runs.live(session.key) is not None:
        await services.queue.add(session, run_request)
    else:
        await services.runs.start(session, run_request)
    return acknowledge(request, session.key)


async def _message(
    services: Services, session: SessionRow, form: FormData
) -> tuple[dict[str, Any] | None, bool]:
    """Return the composer's message, and whether its files are to be saved as artifacts."""
    message = await message_in(form)
    save_files = "save_files" in form and bool(attached_files(form))
    if message is None or not (before := await unsent(services, session)):
        return message, save_files
    message = await restore_secrets(services, message, {"parts": [{"text": before}]})
    complete = await with_unsent_files(services, session, message)
    return complete, save_files or complete != message


async def _options(
    services: Services, session: SessionRow, form: FormData, invocation: str | None
) -> RunOptions:
    """Return the options of the run that `repeat` names or of the invocation being resumed;
    otherwise those of the form. Raises WrongFields."""
    if repeat := str(form.get("repeat") or ""):
        run = await services.journal.runs.get(repeat)
        if run is None or run.session != session.key:
            raise NotFound("this session has no such run to repeat")
        return await options_of_run(services.journal, repeat)
    if invocation is not None:
        return await last_options(services.journal, session.key, invocation)
    streaming = form.get("streaming") is not None
    return RunOptions(streaming, await settings_of_form(services, session, texts_in(form)))


def _settings_again(
    request: Request,
    services: Services,
    session: SessionRow,
    texts: Mapping[str, str],
    wrong: WrongFields,
) -> Response:
    """Return the settings as they were filled in, with the error at each field.

    Raises Unprocessable if the page has no script to show them.
    """
    if not HtmxRequest.read(request.headers):
        raise Unprocessable(str(wrong)) from wrong
    form = settings_form(agents_of(app_status(services, session.app)), texts, wrong.errors)
    html = renew("#run-settings", services.render.part(form))
    return HTMLResponse(html, status_code=Unprocessable.status)


async def answer(request: Request) -> Response:
    """Answer an agent's question and continue its invocation."""
    services, session = await session_of(request)
    form = await read_form(request)
    fields = {name: str(value) for name, value in form.multi_items()}
    number = whole_number(fields.get("event")) or 0
    question = await question_at(services, session, number, fields.get("call", ""))
    form_fields = form_of(question.name, question.args, question.event.author).fields
    try:
        await answer_question(services, session, question, fields, actor=actor_of(form))
    except WrongFields as wrong:
        slot = ask_slot(question.id)
        return refill(request, services.render, slot, form_fields, entries=fields, wrong=wrong)
    if answered_once(question.name) or not HtmxRequest.read(request.headers):
        return acknowledge(request, session.key)
    latest = answer_of(question.name, question.args, fields)
    form_fields = form_of(question.name, question.args, question.event.author, latest).fields
    return refresh(services.render, ask_slot(question.id), form_fields)


async def command(request: Request) -> Response:
    """Send a command to a held run; its new position arrives on the stream."""
    services, run = services_of(request), request.path_params["run"]
    form = await read_form(request)
    if "filled" in form:
        return await _filled_in(request, services, run, form)
    try:
        return await _carry_out(request, services, run, _command(form))
    except WrongFields as wrong:
        hold = _hold(services, run, form)
        is_mock, entries = form.get("command") == "mock", {"value": str(form.get("value"))}
        slot = mock_slot(hold) if is_mock else json_slot(hold)
        field = mock_field(hold) if is_mock else json_field(hold)
        return refill(request, services.render, slot, (field,), entries=entries, wrong=wrong)


async def _carry_out(
    request: Request, services: Services, run: str, order: dict[str, Any], field: str = "value"
) -> Response:
    """Carry out a command, and after it the command in `then`.

    Raises WrongFields at `field` for a value that doesn't fit or isn't new.
    """
    then, alone = order.pop("then", None), order.pop("alone", None)
    like = order.pop("like", None) if then is not None else None
    body = parse(CommandBody, order)
    if body.value is not None:
        body.value = await restore_held_secrets(services, run, body.value)
    try:
        position = await _apply(services, run, body, optional=then is not None)
        if then is not None:
            following = {"command": then, "key": f"{body.key}-then", "actor": body.actor}
            following |= {"position": position["position"], "hold": body.hold if alone else None}
            following["like"] = like
            next_body = parse(CommandBody, following)
            position = await services.runs.command(run, next_body.to_command())
    except InvalidEdit as error:
        raise WrongFields({field: str(error)}) from error
    except CommandRefused as error:
        raise Conflict(f"{error}; the page shows the current state of the run") from error
    return acknowledge(request, position["session"])


async def _apply(
    services: Services, run: str, body: CommandBody, *, optional: bool
) -> dict[str, Any]:
    """Return the position after the command; if `optional`, an edit may change nothing."""
    try:
        return await services.runs.command(run, body.to_command())
    except UnchangedEdit as error:
        if not optional:
            raise
        return error.position


def _hold(services: Services, run: str, form: FormData) -> Hold:
    """Return the hold that the form is about. Raises Conflict if it has been released."""
    live = services.runs.under_way(run)
    holds = live.stepper.holds if live else ()
    hold = next((hold for hold in holds if str(hold.id) == form.get("hold")), None)
    if hold is None:
        raise Conflict(_HELD_NO_LONGER)
    return hold


async def _filled_in(request: Request, services: Services, run: str, form: FormData) -> Response:
    """Edit what is held with the form's fields; an invalid value is reported at its field."""
    entries = {name: str(value).replace("\r\n", "\n") for name, value in form.items()}
    hold = _hold(services, run, form)
    hold_form = held_form(hold)
    if hold_form is None:
        raise Conflict(_HELD_NO_LONGER)
    fields = hold_form.fields()
    names = ("key", "position", "hold", "command", "then", "alone")
    order = {name: entries[name] for name in names if name in entries} | _like(form)
    try:
        order |= {"actor": actor_of(form), "value": hold_form.read(entries)}
        return await _carry_out(request, services, run, order, field=fields[0].name)
    except WrongFields as wrong:
        slot = held_slot(hold)
        return refill(request, services.render, slot, fields, entries=entries, wrong=wrong)


def _command(form: FormData) -> dict[str, Any]:
    """Return the members of a command; a button with `like` stands for `run_to`."""
    members: dict[str, Any] = {**form, "actor": actor_of(form)}
    reason = members.pop("reason", "")
    if members.get("command") == "reject":
        members["value"] = reason
    elif "value" in members:
        members["value"] = value_of(str(members.get("command")), str(members["value"]))
    return {"command": "run_to", **members, **_like(form)} if "like" in members else members


def _like(form: FormData) -> dict[str, Any]:
    """Return where `run_to` stops, if the form has it."""
    return {"like": parse_json(str(form["like"]).encode())} if "like" in form else {}


async def stop(request: Request) -> Response:
    """Stop a run; one that has already ended stays as it is."""
    form = await read_form(request)
    run = await services_of(request).runs.stop(request.path_params["run"], actor_of(form))
    return acknowledge(request, run.session)


async def log(request: Request) -> Response:
    """Return everything that the run printed and logged, as text."""
    services = services_of(request)
    name = request.path_params["run"]
    run = await services.journal.runs.get(name)
    if run is None:
        raise NotFound("there is no such run")
    lines = await output_after(services, run)
    text = "".join(f"{clock(line.at)} {line.stream:<8} {line.text}\n" for _, line in lines)
    return PlainTextResponse(text)
