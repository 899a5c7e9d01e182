"""Which events of a session an agent's model may see (adk-runtime 5.6, 7.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from google.genai import types

from devui.runtime.agents.agent_tree import is_on_path
from devui.runtime.agents.invocation_events import REQUEST_CONFIRMATION, REQUEST_CREDENTIAL
from devui.runtime.models.quoting import AGENT_PREAMBLE, quote_agent

if TYPE_CHECKING:
    from devui.runtime.events.event import Event


# Quotes what other agents said and did for an agent's model (adk-runtime 7.3).


def quoted(content: types.Content, author: str, *, thoughts: bool) -> types.Content | None:
    """Quote another agent's content as a user content; None if nothing in it is to be shown."""
    parts = [
        quotation
        for part in content.parts or []
        if (quotation := _quoted_part(part, author, thoughts=thoughts))
    ]
    if not parts:
        return None
    return types.Content(role="user", parts=[types.Part(text=AGENT_PREAMBLE), *parts])


def _quoted_part(part: types.Part, author: str, *, thoughts: bool) -> types.Part | None:
    """Quote a part for other agents; media are passed on unchanged."""
    if part.thought:
        return _quotation(f"[{author}] thought:", part.text) if thoughts else None
    if part.text is not None:
        return _quotation(f"[{author}] said:", part.text)
    if call := part.function_call:
        args = dict(sorted((call.args or {}).items()))
        return _quotation(f"[{author}] called the tool `{call.name}` with:", str(args))
    if response := part.function_response:
        introduction = f"[{author}] got this from the tool `{response.name}`:"
        return _quotation(introduction, str(response.response))
    media = (part.inline_data, part.file_data, part.executable_code, part.code_execution_result)
    return part if any(media) else None  # the rest is between the other agent and its model


def _quotation(label: str, text: str | None) -> types.Part | None:
    if not text or not text.strip():
        return None
    return types.Part(text=f"{label}\n{quote_agent(text)}")


USER = "user"
_INTERNAL_CALLS = frozenset({"adk_framework", REQUEST_CREDENTIAL, REQUEST_CONFIRMATION})


class View(NamedTuple):
    """The point of view from which a session is read: an agent on its branch."""

    agent: str
    branch: str | None = None
    scope: str | None = None
    """The isolation scope of a delegated task."""
    foreign_thoughts: bool = False
    """Whether the thoughts of other agents are shown."""
    whole_session: bool = False
    """Whether events that belong to no task are shown, too."""

    def covers(self, scope: str | None) -> bool:
        """Return whether events of that isolation scope may be shown."""
        return scope == self.scope or (scope is None and self.whole_session)


def is_common_answer(event: Event) -> bool:
    """Return whether the user may have answered calls of several tasks with the event."""
    is_common = event.author == USER and event.isolation_scope is None
    return is_common and any(response.id for response in event.get_function_responses())


def is_visible(event: Event, view: View) -> bool:
    """Return whether the event has content that this view may see."""
    branch, content = event.branch, event.content
    return (
        (view.covers(event.isolation_scope) or is_common_answer(event))
        and (
            not branch
            or (is_on_path(branch, view.branch) and not _is_progress(branch, view.branch))
        )
        and content is not None
        and _tells_model(content, thoughts=_shows_thoughts(event, view))
    )


def _shows_thoughts(event: Event, view: View) -> bool:
    return view.foreign_thoughts and event.author not in (USER, view.agent)


def _is_progress(branch: str | None, own: str | None) -> bool:
    """Return whether the event was made within a call by an agent on branch `own`.

    Such events are for the user; the model gets the function response instead (adk-runtime 7.3).
    """
    if not branch or "@" not in branch or branch == own:
        return False
    if own and not branch.startswith(f"{own}."):
        return False
    below = branch[len(own) + 1 if own else 0 :]
    runs = (segment.rpartition("@")[2] for segment in below.split(".") if "@" in segment)
    return any(not run.isdigit() for run in runs)


def says_something(content: types.Content | None) -> bool:
    """Return whether a content holds more than thoughts and whitespace."""
    parts = content.parts if content is not None else None
    return any(map(_says_something, parts or ()))


def _says_something(part: types.Part) -> bool:
    if part.text is not None:
        return not part.thought and bool(part.text.strip())
    return bool(
        part.function_call
        or part.function_response
        or part.inline_data
        or part.file_data
        or part.executable_code
        or part.code_execution_result
    )


def _is_sent(part: types.Part, *, thoughts: bool) -> bool:
    """Return whether a part is sent to a model, including empty ones that the model wants back.

    Those are signatures, which may come alone, and tools that the model ran on its own side.
    """
    if part.thought_signature or part.tool_call or part.tool_response:
        return True
    if part.thought:
        return thoughts and bool(part.text and part.text.strip())
    return _says_something(part)


def _tells_model(content: types.Content, *, thoughts: bool) -> bool:
    """Return whether a content says more than what the runtime and its clients exchange.

    Requests for credentials are such exchanges. A user's answer to one may answer other calls, too.
    """
    if not content.role:
        return False
    says = is_internal = False
    for part in content.parts or ():
        call = part.function_call or part.function_response
        if call is None:
            says = says or _is_sent(part, thoughts=thoughts)
        elif call.name in _INTERNAL_CALLS:
            is_internal = True
        else:
            return True
    return says and not is_internal
