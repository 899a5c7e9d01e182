"""Every pattern of the events seed's catalogue, as real runs produce it."""

from google.genai import types

from devui.runtime.agents import BaseAgent, LlmAgent, LoopAgent
from devui.runtime.code_executors import BaseCodeExecutor, CodeExecutionResult
from devui.runtime.events import Event, EventActions
from devui.runtime.models import Call, Fail, Rule, Say, ScriptedLlm
from devui.runtime.sessions import SqliteSessionService
from devui.runtime.tools import LongRunningFunctionTool
from tests.kit.conversation import STREAMED, Conversation, said


def model(*rules):
    return ScriptedLlm(model="gemini-scripted", rules=list(rules))


def agent(*rules, name="TravelAgent", **fields):
    return LlmAgent(name=name, model=model(*rules), **fields)


def find_airports(city: str) -> list[str]:
    """Find the airports of a city."""
    return ["LHR", "LGW"]


def booking():
    return agent(
        Rule(after="find_airports", then=Say("From where?")),
        Rule(then=Call("find_airports", city="London")),
        tools=[find_airports],
    )


def wire(event):
    """Return the event as clients receive it."""
    return event.model_dump(mode="json", by_alias=True, exclude_none=True)


async def history(conversation):
    return (await conversation.session()).events


async def test_user_input():
    conversation = Conversation(booking())
    await conversation.say("Book a flight to London")

    user = wire((await history(conversation))[0])

    assert user["author"] == "user"
    assert user["content"] == {"role": "user", "parts": [{"text": "Book a flight to London"}]}
    assert not any(user["actions"].values())


async def test_all_events_of_a_run_share_one_invocation_id():
    conversation = Conversation(booking())
    await conversation.say("Book a flight to London")
    await conversation.say("From Rome")

    first, second = (
        {event.invocation_id for event in events}
        for events in ((await history(conversation))[:4], (await history(conversation))[4:])
    )
    assert len(first) == len(second) == 1
    assert first != second


async def test_a_tool_call_its_result_and_the_final_text():
    conversation = Conversation(booking())

    call_event, result, final = await conversation.say("Book a flight to London")

    [call] = call_event.get_function_calls()
    assert (call.name, call.args) == ("find_airports", {"city": "London"})
    assert call_event.author == result.author == final.author == "TravelAgent"
    [response] = result.get_function_responses()
    assert result.content.role == "user"
    assert (response.name, response.response) == ("find_airports", {"result": ["LHR", "LGW"]})
    assert said(final) == "From where?"
    assert [e.is_final_response() for e in (call_event, result, final)] == [False, False, True]


async def test_the_call_the_tool_and_the_result_share_the_id_of_the_call():
    call_ids = []

    def look(tool_context) -> str:
        """Look."""
        call_ids.append(tool_context.function_call_id)
        return "ok"

    both = [Call("look"), Call("look")]
    looking = agent(Rule(after="look", then=Say("Ok.")), Rule(then=both), tools=[look])

    call_event, result, _ = await Conversation(looking).say("Look twice")

    ids = [call.id for call in call_event.get_function_calls()]
    assert len(set(ids)) == 2
    assert all(each.startswith("adk-") for each in ids)
    assert sorted(call_ids) == sorted(ids)
    assert [response.id for response in result.get_function_responses()] == ids


async def test_streamed_text():
    conversation = Conversation(agent(Rule(then=Say("Three main points.", chunks=3))))

    *fragments, whole = await conversation.say("Summarize", STREAMED)

    assert [event.partial for event in fragments] == [True] * 3
    assert "".join(map(said, fragments)) == said(whole) == "Three main points."
    assert not whole.partial
    assert not any(event.is_final_response() for event in fragments)
    assert whole.is_final_response()
    assert {event.id for event in fragments} == {whole.id}
    assert [event.id for event in await history(conversation)][1:] == [whole.id]


async def test_an_event_may_change_only_state_and_artifacts():
    class InternalUpdater(BaseAgent):
        async def _run_async_impl(self, ctx):
            changes = EventActions(
                state_delta={"user_status": "verified"},
                artifact_delta={"verification_doc.pdf": 2},
            )
            yield Event(author=self.name, invocation_id=ctx.invocation_id, actions=changes)

    conversation = Conversation(InternalUpdater(name="InternalUpdater"))

    [event] = await conversation.say("verify")

    body = wire(event)
    assert "content" not in body
    assert body["actions"]["stateDelta"] == {"user_status": "verified"}
    assert body["actions"]["artifactDelta"] == {"verification_doc.pdf": 2}
    assert (await conversation.session()).state == {"user_status": "verified"}


async def test_changes_made_by_a_tool_are_on_its_result():
    async def keep(tool_context) -> str:
        """Keep a file."""
        tool_context.state["kept"] = True
        await tool_context.save_artifact("f.txt", types.Part(text="t"))
        return "kept"

    keeping = agent(Rule(after="keep", then=Say("Ok.")), Rule(then=Call("keep")), tools=[keep])

    call_event, result, final = await Conversation(keeping).say("Keep it")

    assert result.actions.state_delta == {"kept": True}
    assert result.actions.artifact_delta == {"f.txt": 0}
    assert not call_event.actions.state_delta
    assert not final.actions.state_delta


async def test_state_is_scoped_by_prefix(tmp_path):
    def note(tool_context) -> str:
        """Note something in all scopes."""
        for key in ("mine", "user:mine", "app:mine", "temp:mine"):
            tool_context.state[key] = 1
        return str(tool_context.state["temp:mine"])

    noting = agent(Rule(after="note", then=Say("Ok.")), Rule(then=Call("note")), tools=[note])
    conversation = Conversation(noting)
    service = SqliteSessionService(str(tmp_path / "sessions.db"))
    conversation.runner.session_service = service

    await conversation.say("Note it")

    assert (await conversation.session()).state == {"mine": 1, "user:mine": 1, "app:mine": 1}
    [result] = [e for e in await history(conversation) if e.get_function_responses()]
    assert "temp:mine" not in result.actions.state_delta
    others = await service.create_session(app_name="app", user_id="user")
    assert others.state == {"user:mine": 1, "app:mine": 1}
    strangers = await service.create_session(app_name="app", user_id="other")
    assert strangers.state == {"app:mine": 1}


async def test_transfer():
    billing = agent(Rule(then=Say("Billing here.")), name="BillingAgent")
    root = agent(
        Rule(then=Call("transfer_to_agent", agent_name="BillingAgent")),
        name="OrchestratorAgent",
        sub_agents=[billing],
    )

    call_event, transfer, final = await Conversation(root).say("My bill")

    [call] = call_event.get_function_calls()
    assert (call.name, call.args) == ("transfer_to_agent", {"agent_name": "BillingAgent"})
    assert transfer.actions.transfer_to_agent == "BillingAgent"
    assert (transfer.author, final.author) == ("OrchestratorAgent", "BillingAgent")


async def test_escalation():
    class CheckerAgent(BaseAgent):
        async def _run_async_impl(self, ctx):
            yield Event(
                author=self.name,
                content=types.ModelContent("Too many attempts."),
                actions=EventActions(escalate=True),
            )

    worker = agent(Rule(then=Say("Working.")), name="Worker")
    loop = LoopAgent(name="loop", sub_agents=[worker, CheckerAgent(name="CheckerAgent")])

    *_, last = events = await Conversation(loop).say("go")

    assert [event.author for event in events] == ["Worker", "CheckerAgent"]
    assert last.actions.escalate is True
    assert said(last) == "Too many attempts."


async def test_an_error_of_the_model():
    failing = agent(Rule(then=Fail(code="SAFETY", message="Blocked.")), name="LLMAgent")
    conversation = Conversation(failing)

    [event] = await conversation.say("something bad")

    body = wire(event)
    assert (body["author"], body["errorCode"], body["errorMessage"]) == (
        "LLMAgent",
        "SAFETY",
        "Blocked.",
    )
    assert "content" not in body
    assert event.is_final_response()


async def test_a_result_that_skips_the_summary_is_final():
    def show(tool_context) -> dict[str, int]:
        """Show as it is."""
        tool_context.actions.skip_summarization = True
        return {"rows": 3}

    showing = agent(Rule(then=Call("show")), tools=[show])

    _, result = await Conversation(showing).say("Show")

    assert result.actions.skip_summarization is True
    assert result.is_final_response()
    assert result.get_function_responses()[0].response == {"rows": 3}


async def test_a_long_running_call_is_final_and_listed():
    def wait() -> None:
        """Answer later."""

    waiting = agent(Rule(then=Call("wait")), tools=[LongRunningFunctionTool(wait)])

    [call_event] = await Conversation(waiting).say("Wait")

    [call] = call_event.get_function_calls()
    assert call_event.long_running_tool_ids == {call.id}
    assert wire(call_event)["longRunningToolIds"] == [call.id]
    assert call_event.is_final_response()


async def test_a_code_execution_result_is_not_final():
    class Calculator(BaseCodeExecutor):
        def execute_code(self, invocation_context, code_execution_input):
            return CodeExecutionResult(stdout="42")

    counting = agent(
        Rule(user="tool_output", then=Say("It is 42.")),
        Rule(then=Say("```python\nprint(6 * 7)\n```")),
        code_executor=Calculator(),
    )

    code, result, final = await Conversation(counting).say("6 * 7?")

    assert code.content.parts[-1].executable_code.code == "print(6 * 7)"
    assert result.has_trailing_code_execution_result()
    assert [event.is_final_response() for event in (result, final)] == [False, True]
