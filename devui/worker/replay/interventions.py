"""Repeats recorded edits in a replay, at the gates where people made them.

The plugins precede the gates, so a call that an edit answered isn't made here either. Edits that a
person makes to the replay itself follow.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from devui.runtime.plugins.base_plugin import BasePlugin
from devui.wire.gates import HandGate, Verdict
from devui.wire.recordings import RecordedEdit, Recording
from devui.worker.engines.kit import BaseTool, Context, Kit, LlmRequest, LlmResponse
from devui.worker.instruments.gates import response, revise_args, revise_request, revised_result
from devui.worker.json_text import apply_effects, as_json
from devui.worker.replay.comparison import ExpectedEvents, Ids, differences


class RecordedEdits:
    """The edits of a recording, each of which the replay makes once."""

    def __init__(
        self, recording: Recording, ids: Ids, expected: ExpectedEvents, turns: Mapping[str, int]
    ) -> None:
        """`turns`: by agent, how many of its runs and calls the replay has reached."""
        self.repeated: list[RecordedEdit] = []
        """Those that the replay has made."""
        self._remaining = list(recording.edits)
        self._ids = ids
        self._expected = expected
        self._turns = turns

    def of_model(self, gate: HandGate, context: Context, payload: Any) -> Verdict | None:
        """Return the edit at this gate of a model call, as a verdict."""
        branch = self._ids.recorded(context.branch)
        place = self._expected.place_ahead(context.agent_name, branch)
        return self._take(
            lambda edit: (
                (edit.gate, edit.agent) == (gate, context.agent_name)
                and (edit.place == place if edit.place is not None else self._is(edit, payload))
            )
        )

    def of_tool(self, gate: HandGate, context: Context, payload: Any) -> Verdict | None:
        """Return the edit at this gate of a tool call, as a verdict."""
        call = self._ids.recorded(context.function_call_id)
        return self._take(
            lambda edit: (
                edit.gate == gate
                and (edit.call == call or (edit.place is None and self._is(edit, payload)))
            )
        )

    def of_event(self, committed: int, event: dict[str, Any]) -> Verdict | None:
        """Return the edit of an event that is about to follow `committed` others, as a verdict."""

        def is_it(edit: RecordedEdit) -> bool:
            if edit.gate != "before_commit" or edit.place is None:
                return False
            is_due = edit.place <= committed if edit.action == "drop" else edit.place == committed
            if not is_due or edit.held.get("author") != event.get("author"):
                return False
            self._ids.learn(event, edit.held)
            return not self._expected.differences(edit.held, event)

        return self._take(is_it)

    def _is(self, edit: RecordedEdit, payload: Any) -> bool:
        """Match an edit that has no event by what was held, and by the turn of its agent."""
        if edit.turn is not None and edit.turn != self._turns[edit.agent]:
            return False
        return not differences(edit.held, self._ids.recorded_in(json.loads(as_json(payload))))

    def _take(self, is_it: Callable[[RecordedEdit], bool]) -> Verdict | None:
        edit = next((each for each in self._remaining if is_it(each)), None)
        if edit is None:
            return None
        self._remaining.remove(edit)
        self.repeated.append(edit)
        return Verdict(
            action=edit.action,
            value=self._ids.actual(json.dumps(edit.value)),
            mark="",
            effects=self._ids.actual(json.dumps(edit.effects)),
        )


Find = Callable[[], RecordedEdits | None]
"""Returns the edits for the current run; None if it isn't a replay."""


class RecordedEditsBefore(BasePlugin):
    """Repeats edits just before the gate that follows the app's plugins."""

    def __init__(self, find: Find, kit: Kit) -> None:
        super().__init__("devui_recorded_edits_before")
        self._find = find
        self._kit = kit

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Change or answer the request as recorded."""
        edits = self._find()
        verdict = edits and edits.of_model("before_model", callback_context, llm_request)
        if not verdict:
            return None
        return revise_request(self._kit, llm_request, verdict, as_json(llm_request))

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context
    ) -> Any:
        """Change the arguments or answer the call as recorded."""
        edits = self._find()
        payload = {"name": tool.name, "args": tool_args}
        verdict = edits and edits.of_tool("before_tool", tool_context, payload)
        if not verdict:
            return None
        answer = revise_args(tool_args, verdict)
        apply_effects(self._kit, tool_context, json.loads(verdict.effects))
        return answer


class RecordedEditsAfter(BasePlugin):
    """Repeats edits just before the gate that precedes the app's plugins."""

    def __init__(self, find: Find, kit: Kit) -> None:
        super().__init__("devui_recorded_edits_after")
        self._find = find
        self._kit = kit

    async def after_model_callback(
        self, *, callback_context: Context, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """Change the response as recorded."""
        edits = None if llm_response.partial else self._find()
        verdict = edits and edits.of_model("after_model", callback_context, llm_response)
        return response(self._kit, verdict) if verdict else None

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context, result: Any
    ) -> Any:
        """Change the result as recorded."""
        edits = self._find()
        payload = {"name": tool.name, "args": tool_args, "result": result}
        verdict = edits and edits.of_tool("after_tool", tool_context, payload)
        return revised_result(verdict) if verdict else None
