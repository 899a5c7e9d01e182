"""Does in a replay what people did in the recorded run while it was held: at the same gates.

The plugins stand where the gates do, so what an answer there keeps from being called is not called
here either. What a person does to the replay itself comes behind it.
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
from devui.worker.replay.comparison import Expected, Ids, differences


class Hands:
    """The edits of one recording that the replay has not come to yet; each is done once."""

    def __init__(
        self, recording: Recording, ids: Ids, expected: Expected, turns: Mapping[str, int]
    ) -> None:
        """`turns`: by agent, how many of its runs and calls the replay has come to."""
        self.edits: list[RecordedEdit] = []
        self._remaining = list(recording.edits)
        self._ids = ids
        self._expected = expected
        self._turns = turns

    def of_model(self, gate: HandGate, context: Context, payload: Any) -> Verdict | None:
        """What was done at this gate of a call of a model."""
        branch = self._ids.recorded(context.branch)
        place = self._expected.place_ahead(context.agent_name, branch)
        return self._take(
            lambda edit: (
                (edit.gate, edit.agent) == (gate, context.agent_name)
                and (edit.place == place if edit.place is not None else self._is(edit, payload))
            )
        )

    def of_tool(self, gate: HandGate, context: Context, payload: Any) -> Verdict | None:
        """What was done at this gate of a call of a tool."""
        call = self._ids.recorded(context.function_call_id)
        return self._take(
            lambda edit: (
                edit.gate == gate
                and (edit.call == call or (edit.place is None and self._is(edit, payload)))
            )
        )

    def of_event(self, committed: int, event: dict[str, Any]) -> Verdict | None:
        """What was done to an event before its commit, when `committed` others are."""

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
        """Whether this was held, and at that turn of its agent; of what no event tells."""
        if edit.turn is not None and edit.turn != self._turns[edit.agent]:
            return False
        return not differences(edit.held, self._ids.recorded_in(json.loads(as_json(payload))))

    def _take(self, is_it: Callable[[RecordedEdit], bool]) -> Verdict | None:
        edit = next((each for each in self._remaining if is_it(each)), None)
        if edit is None:
            return None
        self._remaining.remove(edit)
        self.edits.append(edit)
        return Verdict(
            action=edit.action,
            value=self._ids.actual(json.dumps(edit.value)),
            mark="",
            effects=self._ids.actual(json.dumps(edit.effects)),
        )


Find = Callable[[], Hands | None]
"""Those of the run that goes on; None if it is no replay."""


class HandsBefore(BasePlugin):
    """Comes just before the gate that comes after the app's plugins."""

    def __init__(self, find: Find, kit: Kit) -> None:
        super().__init__("devui_hands_before")
        self._find = find
        self._kit = kit

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """The request is changed as it was, or answered."""
        hands = self._find()
        verdict = hands and hands.of_model("before_model", callback_context, llm_request)
        if not verdict:
            return None
        return revise_request(self._kit, llm_request, verdict, as_json(llm_request))

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context
    ) -> Any:
        """The arguments are changed as they were, or the call is answered."""
        hands = self._find()
        payload = {"name": tool.name, "args": tool_args}
        verdict = hands and hands.of_tool("before_tool", tool_context, payload)
        if not verdict:
            return None
        answer = revise_args(tool_args, verdict)
        apply_effects(self._kit, tool_context, json.loads(verdict.effects))
        return answer


class HandsAfter(BasePlugin):
    """Comes just before the gate that comes before the app's plugins."""

    def __init__(self, find: Find, kit: Kit) -> None:
        super().__init__("devui_hands_after")
        self._find = find
        self._kit = kit

    async def after_model_callback(
        self, *, callback_context: Context, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """The response is what it was made."""
        hands = None if llm_response.partial else self._find()
        verdict = hands and hands.of_model("after_model", callback_context, llm_response)
        return response(self._kit, verdict) if verdict else None

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context, result: Any
    ) -> Any:
        """The result is what it was made."""
        hands = self._find()
        payload = {"name": tool.name, "args": tool_args, "result": result}
        verdict = hands and hands.of_tool("after_tool", tool_context, payload)
        return revised_result(verdict) if verdict else None
