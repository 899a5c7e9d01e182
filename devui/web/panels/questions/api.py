"""Questions and their answers as JSON, and what an answer has to fit."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.debugger.questions.answers import open_until
from devui.debugger.questions.askers import Asker
from devui.debugger.questions.open import open_questions
from devui.debugger.questions.questions import answered_once
from devui.debugger.runs.request import RunRequest
from devui.store.errors import Overtaken, RunActive
from devui.store.rows import EventRow, RunRow, SessionRow
from devui.web.adk.bodies import parse
from devui.web.adk.contents import Strict
from devui.web.errors import Conflict, NotFound, Unprocessable
from devui.web.lookup import session_of
from devui.web.operation import Refusal, operation
from devui.web.panels.chat.chat import who_asks
from devui.web.panels.questions.parts import FieldKind
from devui.web.panels.questions.questions import CREDENTIAL, answer_of, form_of, sign_in_link
from devui.web.panels.questions.schema_forms import Fields, WrongFields
from devui.web.panels.runs.api import answer
from devui.web.panels.runs.schemas import PositionJson
from devui.web.security.intake import read_json
from devui.web.services import Services

_SECONDS_TO_ASK: Final = 10
"""How long an answer waits for the end of the run: a question is seen before that."""
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
    """The question that event `number` asks by this call; raises NotFound."""
    body = await services.journal.events.body(session.key, number)
    calls = body[1].calls if body else ()
    call = next((call for call in calls if call.id == call_id), None)
    if body is None or call is None or not call.name:
        raise NotFound("there is no such question in this session")
    return Question(call_id, call.name, call.args, body[0])


async def answer_question(
    services: Services, session: SessionRow, question: Question, fields: Fields, *, actor: str
) -> RunRow:
    """Answer a question once (R31), and let its invocation go on in the run that is returned.

    A long-running tool of the app takes several results, one after the other.

    Raises:
        WrongFields: a field does not hold what it is for.
        Unprocessable: no such choice.
        AnsweredAlready, ForeignQuestion: nothing is to be answered here.
        Conflict: the run that asks is still under way.
    """
    name = question.name
    response = answer_of(name, question.args, fields)
    part = {"functionResponse": {"id": question.id, "name": name, "response": response}}
    message = {"role": "user", "parts": [part]}
    run_request = RunRequest(message=message, invocation=question.event.invocation_id, actor=actor)
    last_seen: int | None = None
    while True:
        if answered_once(name):
            last_seen = await open_until(
                services.journal, session.key, question.id, last_seen or question.event.seq
            )
        await services.runs.over(session.key, within=_SECONDS_TO_ASK)
        try:
            return await services.runs.start(session, replace(run_request, last_seen=last_seen))
        except Overtaken:
            continue  # what the user has said meanwhile may be the answer
        except RunActive as error:
            raise Conflict(_STILL_ASKING) from error


class ReplyBody(Strict):
    """`POST /api/sessions/{key}/answers`."""

    event: int
    """The number of the event that asks."""
    call: str = Field(min_length=1, max_length=1000)
    fields: dict[str, str] = Field(default_factory=dict)
    """The text of each field of the form by name, and in `choice` the value of a choice."""
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
    """An answer to choose."""

    value: str
    label: str


class QuestionFormJson(TypedDict):
    """What an agent asks a person, as a form."""

    event: int
    """The number of the event that asks."""
    call: str
    name: str
    agent: str
    hint: str
    """The question in words."""
    about: str
    """What to decide on: a call, a payload."""
    link: str
    """The sign-in page; empty for none."""
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
        asker = Asker(**each["for"]) if each["for"] else None
        forms.append(_form(question, who=who_asks(each["agent"], asker)))
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

    The session's run continues with it.
    """
    services, session = await session_of(request)
    body = parse(ReplyBody, await read_json(request))
    question = await question_at(services, session, body.event, body.call)
    try:
        run = await answer_question(services, session, question, body.fields, actor=body.actor)
    except WrongFields as wrong:
        raise Unprocessable(str(wrong)) from wrong
    return answer(await services.runs.position(run.id), status=201)


def _form(question: Question, who: str) -> dict[str, Any]:
    form = form_of(question.name, question.args, who)
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
