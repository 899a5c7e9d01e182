"""The questions that the framework asks a person in an event, and what each is about."""

from collections.abc import Mapping
from typing import Final

from devui.debugger.events.preview import arguments, one_line
from devui.store.summaries import CallSummary, ResponseSummary
from devui.wire.events import NOTHING, Call, Event, Fields, fields_in

CREDENTIAL: Final = "adk_request_credential"
"""The name of the call by which the framework asks for a credential."""
CONFIRMATION: Final = "adk_request_confirmation"
HUMAN_CALLS: Final[Mapping[str, str]] = {
    CONFIRMATION: "asks for confirmation",
    CREDENTIAL: "asks for a sign-in",
    "adk_request_input": "asks for input",
}
"""The calls by which the framework asks a person (adk-runtime 0), with what they ask for."""
REFUSAL: Final[Fields] = {"error": "This tool call is rejected."}
"""The result that both runtimes give for a tool call that a person refuses to confirm."""
_CHOICE: Final = "get_user_choice"
_ARGUMENTS, _LONGEST = 96, 200
"""How many characters are shown of a call's arguments, and of a question's topic."""


def answered_once(name: str) -> bool:
    """Whether a call takes a single answer; other long-running tools take several results."""
    return name in HUMAN_CALLS or name == _CHOICE


def questions_in(
    event: Event,
    calls: tuple[CallSummary, ...],
    responses: tuple[ResponseSummary, ...],
) -> str:
    """Return the questions of the event as text, grouped by kind, followed by its other calls."""
    questions: dict[str, list[str]] = {}
    for call in calls:
        if what := HUMAN_CALLS.get(call.name):
            questions.setdefault(what, []).append(call.about)
    others = [f"{call.name}({call.args})" for call in calls if call.name not in HUMAN_CALLS]
    return ", ".join([*map(_question, (questions or _requests(event, responses)).items()), *others])


def _question(calls: tuple[str, list[str]]) -> str:
    what, about = calls
    subject = "; ".join(filter(None, about))
    return f"{what}: {subject}" if subject else what


def _requests(event: Event, responses: tuple[ResponseSummary, ...]) -> dict[str, list[str]]:
    """Return what the event's tools ask for before they run, as hints or tool names by kind."""
    tools = {response.id: response.name for response in responses}
    hints = [
        str(fields_in(request).get("hint") or tools.get(call, ""))
        for call, request in event.confirmations.items()
    ]
    topics = {
        CONFIRMATION: list(dict.fromkeys(hints)),
        CREDENTIAL: [tools.get(call, "") for call in event.credentials],
    }
    return {HUMAN_CALLS[name]: about for name, about in topics.items() if about}


def question_of(call: Call, hints: Fields = NOTHING) -> str:
    """Return what a framework question is about: the author's hint, a tool call or a message.

    `hints` are the event's requests for confirmation, by call id.
    """
    if call.name not in HUMAN_CALLS:
        return ""
    original = call.original
    hint = fields_in(hints.get(str(call.id)) or hints.get(str(original and original.id)))
    if hint.get("hint"):
        about = str(hint["hint"])
    elif original:
        about = f"{original.name or '?'}({arguments(original.args, _ARGUMENTS)})"
    else:
        about = str(call.args.get("message") or "")
    return one_line(about, _LONGEST)
