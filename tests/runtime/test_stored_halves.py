"""Lone surrogates in stored events: none is lost, and none ends a turn."""

import pytest
from google.genai import types

from devui.runtime.events import Event, EventActions
from devui.runtime.events.event_actions import ToolConfirmation

WHERE = {"app_name": "app", "user_id": "u"}


async def test_lone_surrogates_in_texts_are_escaped(service):
    session = await service.create_session(**WHERE, session_id="s")
    half = "half \ud83d"
    response = types.FunctionResponse(name="t", response={"said": half})
    code = types.ExecutableCode(code=half, language="PYTHON")
    result = types.CodeExecutionResult(outcome="OUTCOME_OK", output=half)
    message = [
        half,
        types.Part(function_response=response),
        types.Part(executable_code=code),
        types.Part(code_execution_result=result),
    ]
    event = Event(author="a", message=message, state={"k": half})
    event.output = [half]
    await service.append_event(session, event)

    read = await service.get_session(**WHERE, session_id="s")
    spelled = "half \\ud83d"
    assert read.events == session.events
    assert read.state == session.state == {"k": spelled}
    [text, response_part, run, result_part] = read.events[0].content.parts
    assert (
        text.text == run.executable_code.code == result_part.code_execution_result.output == spelled
    )
    assert response_part.function_response.response == {"said": spelled}
    assert read.events[0].output == [spelled]


HALF = "a\ud83d"


@pytest.mark.parametrize(
    "parts",
    [
        types.Part(function_call=types.FunctionCall(name=HALF, id=HALF, args={HALF: [HALF]})),
        types.Part(function_response=types.FunctionResponse(name=HALF, id=HALF, response={})),
        types.Part(file_data=types.FileData(file_uri=HALF, mime_type=HALF)),
        types.Part(inline_data=types.Blob(data=b"\xff", mime_type=HALF, display_name=HALF)),
        types.Part(text="x", part_metadata={HALF: HALF}),
    ],
    ids=["call", "response", "file", "blob", "metadata"],
)
async def test_lone_surrogates_are_escaped_in_all_kinds_of_parts(service, parts):
    session = await service.create_session(**WHERE, session_id="s")
    await service.append_event(session, Event(author="a", message=types.Content(parts=[parts])))

    read = await service.get_session(**WHERE, session_id="s")
    assert read.events == session.events
    [part] = read.events[0].content.parts
    assert repr(part) == repr(parts).replace(repr(HALF), repr("a\\ud83d"))


async def test_lone_surrogates_are_escaped_in_the_rest_of_an_event(service):
    session = await service.create_session(**WHERE, session_id="s")
    actions = EventActions(
        state_delta={HALF: 1, "temp:live": object()},
        artifact_delta={HALF: 2},
        transfer_to_agent=HALF,
        agent_state={"at": [HALF]},
        requested_tool_confirmations={"1": ToolConfirmation(hint=HALF)},
    )
    event = Event(author="a", actions=actions, long_running_tool_ids={HALF}, model_version=HALF)
    event.grounding_metadata = types.GroundingMetadata(web_search_queries=[HALF])
    await service.append_event(session, event)

    [event_read] = (await service.get_session(**WHERE, session_id="s")).events
    whole = "a\\ud83d"
    assert event_read.actions.state_delta == {whole: 1}
    assert event_read.actions.artifact_delta == {whole: 2}
    assert event_read.actions.transfer_to_agent == event_read.model_version == whole
    assert event_read.actions.agent_state == {"at": [whole]}
    assert event_read.actions.requested_tool_confirmations["1"].hint == whole
    assert event_read.long_running_tool_ids == {whole}
    assert event_read.grounding_metadata.web_search_queries == [whole]
