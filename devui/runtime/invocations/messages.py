"""The input of a run: the user's message, and which calls it answers (adk-runtime 3.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from google.genai import types

from devui.runtime.agents.agent_tree import common_branch
from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.invocation_events import (
    call_around,
    calls_around,
    is_request,
    live_events_of,
    subjects,
)
from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.artifacts.base_artifact_service import BaseArtifactService
from devui.runtime.errors import InvocationNotFoundError
from devui.runtime.events.event import Event
from devui.runtime.events.rewinds import live_events, live_events_backwards
from devui.runtime.mistakes import brief
from devui.runtime.sessions.session import Session
from devui.runtime.workflow.base_node import BaseNode

# Repeated answers of the user to questions that have been answered.
#
# A client may send its message again, for example after a lost connection. If the answer has taken
# effect, the result is in the history, and nothing is left to do.


def repeated(
    responses: Sequence[types.FunctionResponse], places: Mapping[str, int], history: Sequence[Event]
) -> set[str | None]:
    """Return the questions that have been answered; an answer to a call for a job may change.

    `places` has the index in the history where each was last asked: an id may be used again.
    """
    questions = {each.id: places[each.id] for each in responses if each.id and _asks(each)}
    return {each for each, index in questions.items() if _answer(each, index, history) is not None}


def has_come_of(question: str, place: int, history: Sequence[Event]) -> bool:
    """Return whether the answer has taken effect: a call has a result, or a node has continued."""
    answer = _answer(question, place, history)
    if answer is None:
        return False
    asking = history[place]
    about = set(subjects([call for call in asking.get_function_calls() if call.id == question]))
    later = [event for event in history[answer + 1 :] if event.author != "user"]
    ids: set[str | None] = set()
    for event in later:
        ids.update(response.id for response in event.get_function_responses())
        ids.difference_update(event.actions.requested_auth_configs)  # it failed: asked again
    if not ids.isdisjoint(about | calls_around(asking)):
        return True
    call_ids = {call.id for event in history[:place] for call in event.get_function_calls()}
    if not call_ids.isdisjoint(about):
        return False
    return any(_place(event) == _place(asking) and not event.error_code for event in later)


def _asks(response: types.FunctionResponse) -> bool:
    return is_request(response.name)


def _answer(question: str, place: int, history: Sequence[Event]) -> int | None:
    """Return the index in the history of the question's first answer."""
    for index in range(place + 1, len(history)):
        event = history[index]
        if event.author == "user" and any(
            response.id == question for response in event.get_function_responses()
        ):
            return index
    return None


def _place(event: Event) -> tuple[str, str, str | None]:
    return event.author, event.node_info.path, event.branch


def user_message(message: types.Content) -> types.Content:
    """Check the message, and return it as the user's.

    Raises ValueError if it has no parts, makes function calls, or mixes answers to function calls
    with text, which is processed differently; TypeError if it isn't a Content.
    """
    if not isinstance(message, types.Content):
        raise TypeError(
            f"new_message is {brief(message)}; pass a types.Content, such as"
            ' types.UserContent("...").'
        )
    parts = message.parts or []
    if not parts:
        raise ValueError("new_message has no parts; pass at least one, such as text.")
    if any(part.function_call for part in parts):
        raise ValueError("new_message contains a function call; only agents make those.")
    if any(part.function_response for part in parts) and any(part.text for part in parts):
        raise ValueError(
            "new_message mixes function responses with text; send them as two messages."
        )
    return message if message.role == "user" else message.model_copy(update={"role": "user"})


def check_speaks(root: BaseNode) -> None:
    """Raise ValueError for a root that has nothing to do without a message.

    An LlmAgent continues from the history alone, and a graph begins without an input.
    """
    if isinstance(root, BaseAgent) and not isinstance(root, LlmAgent):
        need = "needs a new_message, or the invocation_id of an invocation to resume"
        raise ValueError(f"The {type(root).__name__} {root.name!r} {need}.")  # noqa: TRY004


@dataclass(frozen=True, slots=True)
class AnsweredCalls:
    """The function calls that a message answers, or the task whose agent it is for."""

    event: Event
    """The event that made the first of these calls."""
    callers: frozenset[str]
    """The agents that made the calls, and those whose tools did."""
    branch: str | None = None
    """The branch that the message gets: all callers are on it or below it."""
    scope: str | None = None
    """The isolation scope that the message gets; None if it answers calls of several scopes."""
    in_words: bool = False
    """Whether the message is only text for the agent of an open task."""
    begun_in: str | None = None
    """The invocation in which the task began; None for that of the call."""
    others: tuple[Event, ...] = ()
    """The events that made the other calls."""
    says_nothing: bool = False
    """Whether it repeats answers that have all taken effect."""

    @property
    def events(self) -> tuple[Event, ...]:
        """All events that made the calls."""
        return (self.event, *self.others)

    @property
    def invocation_id(self) -> str:
        """The invocation that waits for the answer."""
        return self.begun_in or self.event.invocation_id


def find_answer(message: types.Content | None, history: Sequence[Event]) -> AnsweredCalls | None:
    """Find the calls in the history that the message answers; None if it answers none by id.

    Raises ValueError for an id that nobody asked about, and for answers to several invocations.
    """
    parts = (message.parts if message else None) or []
    responses = [response for part in parts if (response := part.function_response)]
    ids = [response.id for response in responses if response.id]
    if not ids:
        return None
    later, places = _asking_events(set(ids), history)
    if missing := set(ids) - places.keys():
        call_ids = {call.id for event in history for call in event.get_function_calls()}
        why = "were rewound" if missing <= call_ids else "are not in the session"
        raise ValueError(
            f"new_message answers function calls that {why}: {sorted(missing)}. Give each function"
            " response the id of an existing call."
        )
    events = {each: later[index] for each, index in places.items()}
    if len({event.invocation_id for event in events.values()}) > 1:
        raise ValueError(
            "new_message answers function calls of several invocations; send one message for each."
        )
    old = repeated(responses, places, later)
    over = old.issuperset(ids) and _have_come(places, live_events(history), len(later))
    ids = [each for each in ids if each not in old] or ids
    events = {each: events[each] for each in ids}
    calls = (call_around(history, event) for event in events.values())
    callers = frozenset(event.author for event in (*events.values(), *filter(None, calls)))
    first = events[ids[0]]
    branch = common_branch(event.branch for event in events.values())
    scopes = {event.isolation_scope for event in events.values()}
    others = tuple(event for event in events.values() if event is not first)
    return AnsweredCalls(
        first,
        callers,
        branch,
        scopes.pop() if len(scopes) == 1 else None,
        others=others,
        says_nothing=over,
    )


def _asking_events(
    ids: set[str], history: Sequence[Event]
) -> tuple[Sequence[Event], dict[str, int]]:
    """Return the events that count since the first of these calls, and each call's index in them.

    Of several calls with one id, the last counts; reads the history backwards and no further than
    needed.
    """
    newest_first: list[Event] = []
    numbers: dict[str, int] = {}
    for event in live_events_backwards(history):
        newest_first.append(event)
        for call in event.get_function_calls():
            if call.id in ids:
                numbers.setdefault(call.id, len(newest_first))
        if len(numbers) == len(ids):
            break
    end = len(newest_first)
    return newest_first[::-1], {each: end - number for each, number in numbers.items()}


def _have_come(questions: Mapping[str, int], live: Sequence[Event], later: int) -> bool:
    """Return whether all answers have taken effect.

    `questions` has their indexes among the last `later` events.
    """
    before = len(live) - later
    return all(has_come_of(each, before + index, live) for each, index in questions.items())


def original_message(invocation: Sequence[Event]) -> types.Content | None:
    """Return the message that began the invocation."""
    for event in invocation:
        if event.author == "user" and event.content and not event.get_function_responses():
            return event.content
    return None


def events_so_far(
    invocation_id: str | None, session: Session, place: int, *, is_needed: bool
) -> list[Event]:
    """Return the events of the invocation, if it has begun; the first of them is at `place`.

    Raises:
        InvocationNotFoundError: It is needed, but hasn't begun.
    """
    if invocation_id is None:
        return []
    own = live_events_of(session.events, invocation_id, place)
    if is_needed and not own:
        instead = (
            "It was rewound; start a new one by passing a new_message."
            if any(event.invocation_id == invocation_id for event in session.events)
            else "Pass the invocation_id of one of its events, or start a new one by passing a"
            " new_message."
        )
        raise InvocationNotFoundError(
            f"Session {session.id!r} has no invocation {invocation_id!r} to resume. {instead}"
        )
    return own


async def with_files_saved(
    message: types.Content, invocation_id: str, session: Session, service: BaseArtifactService
) -> types.Content:
    """Save the message's files as artifacts, and replace them with notes (adk-runtime 3.5)."""
    parts = []
    for index, part in enumerate(message.parts or []):
        if part.inline_data is None:
            parts.append(part)
            continue
        name = f"artifact_{invocation_id}_{index}"
        await service.save_artifact(
            app_name=session.app_name,
            user_id=session.user_id,
            session_id=session.id,
            filename=name,
            artifact=part,
        )
        parts.append(types.Part(text=f"The uploaded file was saved as artifact {name}."))
    return types.Content(role="user", parts=parts)
