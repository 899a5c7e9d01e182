"""Changes in place by callbacks around a model are committed (adk-runtime 2.2, 7.4)."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.genai import types

from devui.runtime.agents import LlmAgent
from devui.runtime.models import BaseLlm, LlmRequest, LlmResponse
from devui.runtime.runners import InMemoryRunner


class Polite(BaseLlm):
    """A model that says hello, or fails."""

    fails: bool = False

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        if self.fails:
            raise ConnectionError("no time")
        yield LlmResponse(content=types.ModelContent("hello"))


def _count(callback_context: Any, **_rest: Any) -> None:
    files = callback_context.state.get("files", {})
    files["seen"] = files.get("seen", 0) + 1


def _count_error(callback_context: Any, **_rest: Any) -> LlmResponse:
    _count(callback_context)
    return LlmResponse(content=types.ModelContent("sorry"))


@pytest.mark.parametrize(
    ("fails", "callbacks"),
    [
        (False, {"before_model_callback": _count}),
        (False, {"after_model_callback": _count}),
        (True, {"on_model_error_callback": _count_error}),
    ],
)
async def test_a_change_in_place_by_a_model_callback_is_committed(
    fails: bool, callbacks: dict[str, Any]
) -> None:
    agent = LlmAgent(name="counter", model=Polite(model="polite", fails=fails), **callbacks)
    runner = InMemoryRunner(agent=agent, app_name="app")
    service = runner.session_service
    session = await service.create_session(app_name="app", user_id="u", state={"files": {}})
    for _turn in range(2):
        async for _event in runner.run_async(
            user_id="u", session_id=session.id, new_message=types.UserContent("hi")
        ):
            pass
    stored_session = await service.get_session(app_name="app", user_id="u", session_id=session.id)
    assert stored_session is not None
    assert stored_session.state == {"files": {"seen": 2}}
