"""Gates, where a run asks the server before it continues: at agents, model and tool calls (Law 6).

The hooks are those of plugins, so the runtime knows nothing of a debugger. They are removed while
no gate is armed, and then cost nothing; an unarmed gate next to armed ones costs a lookup. What is
held goes to the server as JSON, and the run continues when the server has answered.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from google.genai import types
from pydantic import ValidationError

from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.time_limits import clock_stopped
from devui.wire.framing import FrameTooLarge
from devui.wire.gates import EDITED, REJECTED, SKIPPED, Verdict, WorkerGate
from devui.wire.messages import Gate, GateCancelled
from devui.worker.engines.kit import (
    BaseAgent,
    BaseTool,
    Context,
    Event,
    EventActions,
    Kit,
    LlmRequest,
    LlmResponse,
)
from devui.worker.json_text import apply_effects, as_json
from devui.worker.link import Link
from devui.worker.output import current_run
from devui.worker.tools import schema_of

_OWN_FIELDS = frozenset({"id", "invocation_id", "timestamp", "actions"})


def revise_event(kit: Kit, event: Event, verdict: Verdict) -> None:
    """Change the event in place to what the person wants, since its agent keeps a reference."""
    replacement, author = kit.event.model_validate_json(verdict.value), event.author
    for name in kit.event.model_fields.keys() - _OWN_FIELDS:
        setattr(event, name, getattr(replacement, name))
    event.author = replacement.author or author
    _revise_actions(kit, event.actions, replacement.actions)
    mark(event, [verdict.mark] if verdict.mark else [])


def _revise_actions(kit: Kit, actions: EventActions, target: EventActions) -> None:
    """Change the actions in place, since contexts that are still open write to the same delta."""
    delta = actions.state_delta
    delta.clear()
    delta.update(target.state_delta)
    for name in kit.event_actions.model_fields.keys() - {"state_delta"}:
        setattr(actions, name, getattr(target, name))


def mark(event: Event, marks: list[str]) -> None:
    """Add the marks of people's edits, as JSON texts, to the event's metadata."""
    if marks:
        metadata = dict(event.custom_metadata or {})
        edits = [*metadata.get(EDITED, []), *(json.loads(each) for each in marks)]
        event.custom_metadata = {**metadata, EDITED: edits}


def revise_request(
    kit: Kit, request: LlmRequest, verdict: Verdict, text: str
) -> LlmResponse | None:
    """Change the request in place, or return an answer for the model.

    `text` is the request as the person saw it. What they didn't change is left alone, since not
    everything in a request has a JSON form.
    """
    if verdict.action != "edit":
        return response(kit, verdict)
    before = json.loads(text)
    replacement = {**before, **_object(verdict.value)}
    config, contents = _checked_request(before, replacement)
    if replacement["contents"] != before["contents"]:
        request.contents = contents
    if replacement.get("model") != before.get("model"):
        request.model = replacement["model"]
    for name in config.model_fields_set:
        setattr(request.config, name, getattr(config, name))
    return None


def _checked_request(
    before: Mapping[str, Any], replacement: Mapping[str, Any]
) -> tuple[types.GenerateContentConfig, list[types.Content]]:
    """Return the changed settings, and the contents. Raises ValueError and TypeError."""
    for name, kind, noun in (("config", dict, "an object"), ("contents", list, "a list")):
        if not isinstance(replacement[name], kind):
            raise TypeError(f"{name} must be {noun}, not {as_json(replacement[name])[:60]}")
    settings = {**dict.fromkeys(before["config"]), **replacement["config"]}
    changed = {name: v for name, v in settings.items() if before["config"].get(name) != v}
    contents = [types.Content.model_validate(each) for each in replacement["contents"]]
    return types.GenerateContentConfig.model_validate(changed), contents


def problem_of(kit: Kit, gate: str, action: str, *, value: str, held: str) -> str:
    """Return why a value can't replace what is held at a gate; "" if it can."""
    verdict = Verdict(action="edit" if action == "edit" else "mock", value=value, mark="")
    before = json.loads(held)
    try:
        if gate == "before_commit":
            _check_event(kit, value, before)
        elif gate == "before_model" and action == "edit":
            _checked_request(before, {**before, **_object(value)})
        elif gate in {"before_model", "after_model"}:
            response(kit, verdict)
        elif gate == "before_tool" and action == "edit":
            _object(value)
    except (ValueError, TypeError) as error:
        return what_is_wrong(error)
    return ""


def _check_event(kit: Kit, value: str, original: Mapping[str, Any]) -> None:
    """Raise ValueError or TypeError for an invalid event, or one with members its class ignores."""
    fields = kit.event.model_fields
    known_names = {*fields, *(field.alias for field in fields.values()), *original}
    if unknown := [name for name in _object(value) if name not in known_names]:
        raise ValueError(f"an event has no member {', '.join(map(repr, unknown))}")
    kit.event.model_validate_json(value)


def response(kit: Kit, verdict: Verdict) -> LlmResponse:
    """Return the person's answer for the model; a plain text becomes a message."""
    value = json.loads(verdict.value)
    if isinstance(value, str):
        content = types.Content(role="model", parts=[types.Part(text=value)])
        return kit.llm_response(content=content)
    return kit.llm_response.model_validate(_object(verdict.value))


def revise_args(args: dict[str, Any], verdict: Verdict) -> Any:
    """Change the arguments in place, or return the person's result."""
    if verdict.action != "edit":
        return revised_result(verdict)
    new_args = _object(verdict.value)
    args.clear()
    args.update(new_args)
    return None


def revised_result(verdict: Verdict) -> Any:
    """Return what replaces the tool's result; never None, which would mean that nothing does."""
    value = json.loads(verdict.value)
    if verdict.action == "reject":
        return {"error": str(value or REJECTED)}
    if verdict.action == "skip":
        return dict(SKIPPED)
    return {"result": None} if value is None else value


def what_is_wrong(error: ValueError | TypeError) -> str:
    """Return why a value doesn't fit, with one line per field."""
    if not isinstance(error, ValidationError):
        return str(error)
    problems = [(".".join(map(str, each["loc"])), each["msg"]) for each in error.errors()]
    return "\n".join(f"{place}: {message}" if place else message for place, message in problems)


def _object(text: str) -> dict[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise TypeError(f"must be an object, not {text[:60]}")
    return value


Apply = Callable[[Verdict, str], Any]

_UNARMED: frozenset[WorkerGate] = frozenset()


class Gates:
    """The armed gates of each run, and the requests made at them."""

    def __init__(self, link: Link, kit: Kit) -> None:
        self._link = link
        self.kit = kit
        self._armed: dict[str, frozenset[WorkerGate]] = {}
        self._asking: Counter[str] = Counter()
        self._marks: dict[str, dict[str, list[str]]] = {}
        """The marks for the next event, by run, then by call, or agent and branch."""

    def arm(self, run: str, gates: Iterable[WorkerGate]) -> None:
        """Make the run ask at these gates, and at no others."""
        self._armed[run] = frozenset(gates)

    @property
    def armed(self) -> bool:
        """Whether any gate is armed in any run."""
        return any(self._armed.values())

    def forget(self, run: str) -> None:
        """Discard the data of a run that has ended."""
        self._armed.pop(run, None)
        self._marks.pop(run, None)
        del self._asking[run]

    def asks(self, run: str) -> bool:
        """Return whether the run is waiting at a gate."""
        return self._asking[run] > 0

    def marks(self, run: str | None, event: Event) -> list[str]:
        """Return the marks of people's edits that led to this event, and remove them."""
        marks = self._marks.get(run or "")
        if not marks:
            return []
        if event.get_function_responses():
            keys = [str(each.id) for each in event.get_function_responses()]
        else:
            keys = [model_key(event.author, event.branch)]
        return [each for key in keys for each in marks.pop(key, [])]

    def mark_next(self, run: str, place: str, mark: str) -> None:
        """Mark the next event from a place; `place` is a key from `place_of_marks`."""
        self._marks.setdefault(run, {}).setdefault(place, []).append(mark)

    def stops(self, gate: WorkerGate) -> bool:
        """Return whether the current run must wait at the gate; asked before preparing anything."""
        run = current_run.get()
        return run is not None and gate in self._armed.get(run, _UNARMED)

    async def pass_by(
        self,
        gate: WorkerGate,
        context: Context,
        payload: Any,
        apply: Apply | None = None,
        *,
        agent: str | None = None,
        tool: BaseTool | None = None,
    ) -> Any:
        """Hold the current run at the gate until the server answers.

        `apply` carries out a person's decision, given the verdict and the text they saw; its result
        is returned. If it raises, the person sees the error and the run stays held.
        """
        run = current_run.get() or ""
        text = as_json(payload)
        place = _Place(run, gate, context, agent, tool)
        problem = None
        while True:
            reply = await self._ask(place, text, problem)
            if reply is None or apply is None:
                return None
            verdict = Verdict(**reply["verdict"])
            try:
                result = apply(verdict, text)
            except (ValueError, TypeError) as error:
                problem = what_is_wrong(error)
            else:
                self.mark_next(run, place_of_marks(context), verdict.mark)
                return result

    async def _ask(self, place: "_Place", original_text: str, problem: str | None) -> Any:
        gate_number = 0

        def make(number: int, text: str = original_text) -> Gate:
            nonlocal gate_number
            gate_number = number
            return place.question(number, text, problem)

        self._asking[place.run] += 1
        try:
            return await self._request(make)
        except FrameTooLarge as error:
            note = as_json({"tooLarge": str(error)})
            return await self._request(lambda number: make(number, note))
        except asyncio.CancelledError:
            self._link.send(GateCancelled(run=place.run, gate=gate_number))
            raise
        finally:
            self._asking[place.run] -= 1

    async def _request(self, make: Callable[[int], Gate]) -> Any:
        with clock_stopped():  # time that a person takes doesn't count towards time limits
            return await self._link.request(make)


@dataclass(frozen=True, slots=True)
class _Place:
    """A gate of a run, and what waits there."""

    run: str
    gate: WorkerGate
    context: Context
    agent: str | None
    tool: BaseTool | None

    def question(self, number: int, payload: str, problem: str | None) -> Gate:
        """Build the request to the server."""
        context = self.context
        return Gate(
            id=number,
            run=self.run,
            gate=self.gate,
            agent=self.agent or context.agent_name,
            branch=context.branch,
            held=payload,
            call=context.function_call_id or f"model-{id(context):x}",
            tool=self.tool.name if self.tool else None,
            schema=schema_of(self.tool) if self.gate == "before_tool" else None,
            problem=problem,
        )


def place_of_marks(context: Context) -> str:
    """Return the key for the marks of the event that a call will produce."""
    return context.function_call_id or model_key(context.agent_name, context.branch)


def model_key(agent: str, branch: str | None) -> str:
    """Return the key for a model's next event: on a branch, an agent calls one model at a time."""
    return f"{agent} on {branch}"


class GatesBefore(BasePlugin):
    """The gates before calls, after the app's plugins, so that calls they answer aren't held."""

    def __init__(self, gates: Gates) -> None:
        super().__init__("devui_gates_before")
        self._gates = gates

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: Context) -> None:
        """Wait at `enter_agent` if it is armed."""
        if not self._gates.stops("enter_agent"):
            return
        about = {"name": agent.name, "type": type(agent).__name__}
        await self._gates.pass_by("enter_agent", callback_context, about, agent=agent.name)

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Wait at `before_model` if it is armed."""
        if not self._gates.stops("before_model"):
            return None

        def apply(verdict: Verdict, text: str) -> LlmResponse | None:
            return revise_request(self._gates.kit, llm_request, verdict, text)

        answer: LlmResponse | None = await self._gates.pass_by(
            "before_model", callback_context, llm_request, apply
        )
        return answer

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context
    ) -> dict[str, Any] | None:
        """Wait at `before_tool` if it is armed."""
        if not self._gates.stops("before_tool"):
            return None

        def apply(verdict: Verdict, _: str) -> Any:
            answer = revise_args(tool_args, verdict)
            apply_effects(self._gates.kit, tool_context, json.loads(verdict.effects))
            return answer

        about = {"name": tool.name, "args": tool_args}
        result: dict[str, Any] | None = await self._gates.pass_by(
            "before_tool", tool_context, about, apply, tool=tool
        )
        return result


class GatesAfter(BasePlugin):
    """The gates after calls, before the app's plugins, so that results are held as they arrived."""

    def __init__(self, gates: Gates) -> None:
        super().__init__("devui_gates_after")
        self._gates = gates

    async def after_model_callback(
        self, *, callback_context: Context, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """Wait at `after_model` if armed; fragments pass, as a stopped stream looks frozen."""
        if llm_response.partial or not self._gates.stops("after_model"):
            return None
        answer: LlmResponse | None = await self._gates.pass_by(
            "after_model",
            callback_context,
            llm_response,
            lambda verdict, _: response(self._gates.kit, verdict),
        )
        return answer

    async def after_tool_callback(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: Context,
        result: dict[str, Any],
    ) -> dict[str, Any] | None:
        """Wait at `after_tool` if it is armed."""
        if not self._gates.stops("after_tool"):
            return None
        about = {"name": tool.name, "args": tool_args, "result": result}
        replacement: dict[str, Any] | None = await self._gates.pass_by(
            "after_tool", tool_context, about, lambda verdict, _: revised_result(verdict), tool=tool
        )
        return replacement

    async def after_agent_callback(self, *, agent: BaseAgent, callback_context: Context) -> None:
        """Wait at `leave_agent` if it is armed."""
        if not self._gates.stops("leave_agent"):
            return
        about = {"name": agent.name, "type": type(agent).__name__}
        await self._gates.pass_by("leave_agent", callback_context, about, agent=agent.name)
