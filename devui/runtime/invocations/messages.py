"""What comes in with a run: the user's message, and which calls it answers (adk-runtime 3.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from google.genai import types

from devui.runtime.agents.branches import common_branch
from devui.runtime.agents.invocation_history import live_events_of
from devui.runtime.agents.open_calls import call_around
from devui.runtime.artifacts.base_artifact_service import BaseArtifactService
from devui.runtime.errors.invocation_not_found_error import InvocationNotFoundError
from devui.runtime.events.event import Event
from devui.runtime.events.rewinds import live_events, live_events_backwards
from devui.runtime.invocations.repeats import has_come_of, repeated
from devui.runtime.mistakes import given
from devui.runtime.sessions.session import Session


def user_message(message: types.Content) -> types.Content:
    """The message as the user's, checked.

    Raises ValueError if it has no parts, makes function calls, or mixes answers to function calls
    with text: those go different ways; TypeError if it is no Content.
    """
    if not isinstance(message, types.Content):
        raise TypeError(
            f"new_message is {given(message)}; give a types.Content, such as"
            ' types.UserContent("...").'
        )
    parts = message.parts or []
    if not parts:
        raise ValueError("new_message has no parts; give it at least one, such as a text.")
    if any(part.function_call for part in parts):
        raise ValueError("new_message contains a function call; only agents make those.")
    if any(part.function_response for part in parts) and any(part.text for part in parts):
        raise ValueError(
            "new_message mixes function responses with text; send them as two messages."
        )
    return message if message.role == "user" else message.model_copy(update={"role": "user"})


@dataclass(frozen=True, slots=True)
class Answered:
    """The function calls that a message answers, or the task whose agent it is for."""

    event: Event
    """The event that made the first of them."""
    callers: frozenset[str]
    """The agents that made them, and those whose tools did."""
    branch: str | None = None
    """The branch that the message gets: all who made the calls are on it or below it."""
    scope: str | None = None
    """The isolation scope that the message gets; None if it answers calls of several."""
    in_words: bool = False
    """Whether the message only says something to the agent of an open task."""
    others: tuple[Event, ...] = ()
    """The events that made the other calls."""
    says_nothing: bool = False
    """Whether it repeats answers, and something has come of all of them."""

    @property
    def events(self) -> tuple[Event, ...]:
        """All events that made the calls."""
        return (self.event, *self.others)

    @property
    def invocation_id(self) -> str:
        """The invocation that waits for the answer."""
        return self.event.invocation_id


def answered(message: types.Content | None, history: Sequence[Event]) -> Answered | None:
    """The calls of the history that the message answers; None if it answers none by id.

    Raises ValueError for an id that nobody asked about, and for answers to several invocations.
    """
    parts = (message.parts if message else None) or []
    responses = [response for part in parts if (response := part.function_response)]
    ids = [response.id for response in responses if response.id]
    if not ids:
        return None
    later, asked = _asking_events(set(ids), history)
    if missing := set(ids) - asked.keys():
        made = {call.id for event in history for call in event.get_function_calls()}
        why = "a rewind has taken back" if missing <= made else "the session does not have"
        raise ValueError(
            f"new_message answers function calls that {why}: {sorted(missing)}. Give each function"
            " response the id of a call that is there."
        )
    events = {each: later[index] for each, index in asked.items()}
    if len({event.invocation_id for event in events.values()}) > 1:
        raise ValueError(
            "new_message answers function calls of several invocations; send one each."
        )
    old = repeated(responses, asked, later)
    over = old.issuperset(ids) and _have_come(asked, live_events(history), len(later))
    ids = [each for each in ids if each not in old] or ids
    events = {each: events[each] for each in ids}
    calls = (call_around(history, event) for event in events.values())
    callers = frozenset(event.author for event in (*events.values(), *filter(None, calls)))
    first = events[ids[0]]
    branch = common_branch(event.branch for event in events.values())
    scopes = {event.isolation_scope for event in events.values()}
    others = tuple(event for event in events.values() if event is not first)
    return Answered(
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
    """The events that count from the first call of these on, and where among them each was made.

    Of several calls of one id the last; reads the history backwards and no further than needed.
    """
    newest_first: list[Event] = []
    found: dict[str, int] = {}
    for event in live_events_backwards(history):
        newest_first.append(event)
        for call in event.get_function_calls():
            if call.id in ids:
                found.setdefault(call.id, len(newest_first))
        if len(found) == len(ids):
            break
    end = len(newest_first)
    return newest_first[::-1], {each: end - number for each, number in found.items()}


def _have_come(asked: Mapping[str, int], live: Sequence[Event], later: int) -> bool:
    """Whether something has come of all answers; `asked` counts among so many `later` events."""
    before = len(live) - later
    return all(has_come_of(each, before + index, live) for each, index in asked.items())


def original_message(invocation: Sequence[Event]) -> types.Content | None:
    """The message that began the invocation."""
    for event in invocation:
        if event.author == "user" and event.content and not event.get_function_responses():
            return event.content
    return None


def events_so_far(
    invocation_id: str | None, session: Session, place: int, *, wanted: bool
) -> list[Event]:
    """The events of the invocation, if it has begun; the first of them is at that place.

    Raises:
        InvocationNotFoundError: it has not, but should.
    """
    if invocation_id is None:
        return []
    own = live_events_of(session.events, invocation_id, place)
    if wanted and not own:
        instead = (
            "It was taken back by a rewind; begin a new one with a new_message."
            if any(event.invocation_id == invocation_id for event in session.events)
            else "Give the invocation_id of one of its events, or begin a new one with a"
            " new_message."
        )
        raise InvocationNotFoundError(
            f"Session {session.id!r} has no invocation {invocation_id!r} to resume. {instead}"
        )
    return own


async def with_files_saved(
    message: types.Content, invocation_id: str, session: Session, service: BaseArtifactService
) -> types.Content:
    """The message with its files saved as artifacts and notes in their place (adk-runtime 3.5)."""
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
