"""Questions and their answers as JSON, and the checks that an answer must pass."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.debugger.questions.answers import latest_result, open_until
from devui.debugger.questions.open import open_questions
from devui.debugger.questions.questions import answered_once
from devui.debugger.questions.requesters import Requester
from devui.debugger.runs.options import last_options
from devui.debugger.runs.request import RunRequest
from devui.store.errors import RunActive, StaleSession
from devui.store.rows import EventRow, RunRow, SessionRow
from devui.web.adk.bodies import parse
from devui.web.adk.contents import Strict
from devui.web.errors import Conflict, NotFound, Unprocessable
from devui.web.json_answers import answer
from devui.web.lookup import session_of
from devui.web.operation import Refusal, operation
from devui.web.panels.chat.chat import who_asks
from devui.web.panels.questions.parts import FieldKind
from devui.web.panels.questions.questions import CREDENTIAL, answer_of, form_of, sign_in_link
from devui.web.panels.questions.schema_forms import Fields, WrongFields
from devui.web.panels.runs.schemas import PositionJson
from devui.web.restored_secrets import restore_secrets
from devui.web.security.intake import read_json
from devui.web.services import Services

_SECONDS_TO_ASK: Final = 10
"""Seconds that an answer waits for the run to end: a question is visible before that."""
_STILL_ASKING: Final = (
    "the run that asks is still in progress: wait for it to end or stop it, then answer"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A call that a person answers, and the event that makes it."""

    id: str
    name: str
    args: Mapping[str, Any]
    event: EventRow


async def question_at(
    services: Services, session: SessionRow, number: int, call_id: str
) -> Question:
    """Return the question that event `number` asks with this call; raises NotFound."""
    body = await services.journal.events.body(session.key, number)
    calls = body[1].calls if body else ()
    call = next((call for call in calls if call.id == call_id), None)
    if body is None or call is None or not call.name:
        raise NotFound("there is no such question in this session")
    return Question(call_id, call.name, call.args, body[0])


async def answer_question(
    services: Services, session: SessionRow, question: Question, fields: Fields, *, actor: str
) -> RunRow:
    """Answer a question once (R31), and continue its invocation in the run that is returned.

    A long-running tool of the app takes several results, one after another.

    Raises:
        WrongFields: a field has an invalid value.
        Unprocessable: there is no such choice.
        AlreadyAnswered, ForeignQuestion: the question is not open here.
        Conflict: the run that asks is still in progress.
    """
    name = question.name
    response = answer_of(name, question.args, fields)
    if not answered_once(name) and (latest := await _latest(services, session, question)):
        response = await restore_secrets(services, response, latest)
    part = {"functionResponse": {"id": question.id, "name": name, "response": response}}
    message = {"role": "user", "parts": [part]}
    invocation = question.event.invocation_id
    options = await last_options(services.journal, session.key, invocation)
    run_request = RunRequest(message=message, invocation=invocation, actor=actor)
    run_request = run_request.with_options(options)
    last_seen: int | None = None
    while True:
        if answered_once(name):
            last_seen = await open_until(
                services.journal, session.key, question.id, last_seen or question.event.seq
            )
        await services.runs.over(session.key, within=_SECONDS_TO_ASK)
        try:
            return await services.runs.start(session, replace(run_request, last_seen=last_seen))
        except StaleSession:
            continue  # a message sent in the meantime may be the answer
        except RunActive as error:
            raise Conflict(_STILL_ASKING) from error


async def _latest(
    services: Services, session: SessionRow, question: Question
) -> Mapping[str, Any] | None:
    """Return the current response to a question's call."""
    return await latest_result(services.journal, session.key, question.id, question.event.seq)


class ReplyBody(Strict):
    """`POST /api/sessions/{key}/answers`."""

    event: int
    """The number of the event that asks."""
    call: str = Field(min_length=1, max_length=1000)
    fields: dict[str, str] = Field(default_factory=dict)
    """The text of each field of the form, by name; `choice` has the value of a choice."""
    actor: str = Field(default="api", max_length=100)


class QuestionFieldJson(TypedDict):
    """A field of the form."""

    name: str
    label: str
    kind: FieldKind
    value: str
    options: list[str]
    hint: str
    required: bool


class QuestionChoiceJson(TypedDict):
    """A possible answer."""

    value: str
    label: str


class QuestionFormJson(TypedDict):
    """A question from an agent to a person, as a form."""

    event: int
    """The number of the event that asks."""
    call: str
    name: str
    agent: str
    hint: str
    """The question in words."""
    about: str
    """The subject of the decision: a call, a payload."""
    link: str
    """The sign-in page; empty if there is none."""
    fields: list[QuestionFieldJson]
    choices: list[QuestionChoiceJson]


class QuestionsJson(TypedDict):
    """Open questions."""

    questions: list[QuestionFormJson]


@operation(QuestionsJson)
async def every(request: Request) -> Response:
    """List the open questions of the newest invocation, as forms."""
    services, session = await session_of(request)
    run = await services.journal.runs.newest(session.key)
    forms = []
    for each in await open_questions(services.journal, run) if run else ():
        question = await question_at(services, session, each["event"], each["call"])
        asker = Requester(**each["for"]) if each["for"] else None
        latest = await _latest(services, session, question)
        forms.append(_form(question, who_asks(each["agent"], asker), latest))
    return answer({"questions": forms})


@operation(
    PositionJson,
    status=201,
    body=ReplyBody,
    refusals=(
        Refusal(409, "It has been answered, or its run is still active"),
        Refusal(422, "A field has an invalid value"),
    ),
)
async def take(request: Request) -> Response:
    """Answer a question.

    Continues the session's run with the answer.
    """
    services, session = await session_of(request)
    body = parse(ReplyBody, await read_json(request))
    question = await question_at(services, session, body.event, body.call)
    try:
        run = await answer_question(services, session, question, body.fields, actor=body.actor)
    except WrongFields as wrong:
        raise Unprocessable(str(wrong)) from wrong
    return answer(await services.runs.position(run.id), status=201)


def _form(question: Question, who: str, latest: Mapping[str, Any] | None) -> dict[str, Any]:
    form = form_of(question.name, question.args, who, latest)
    return {
        "event": question.event.number,
        "call": question.id,
        "name": question.name,
        "agent": question.event.author,
        "hint": form.hint,
        "about": form.about,
        "link": sign_in_link(question.args) if question.name == CREDENTIAL else "",
        "fields": [_field(asdict(field)) for field in form.fields],
        "choices": [asdict(choice) for choice in form.choices],
    }


def _field(field: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in field.items() if name not in {"error", "type"}}
