"""Agents of a real A2A server that runs in its own process."""

from functools import partial
from typing import Any

from google.genai import types

from tests.differential.case import Case, Difference, add, case
from tests.differential.differing_elsewhere import ERRORS, OUTPUTS, THOUGHTS, WHOLE
from tests.differential.script import call, transfer
from tests.kit.a2a import address, card_of

ACTS: dict[str, str] = {
    "greet": "greets",
    "think": "thinks and greets",
    "echo": "tells what it heard",
    "stream": "gives its answer in pieces",
    "several": "gives several answers",
    "files": "gives files and data",
    "ask": "asks the user",
    "login": "asks for a login",
    "approve": "asks by a call",
    "approve_aloud": "asks by a call that it has told of",
    "work": "calls a tool of its own",
    "fail": "fails",
    "fail_aloud": "fails as it has said",
    "reject": "rejects",
    "crash": "crashes",
}
FAILURES = ("fail", "fail_aloud", "reject", "crash")
DIFFERS: dict[tuple[str, str], Difference] = {
    **{(way, act): ERRORS for way in ("stream", "plain") for act in FAILURES},
    **{(way, "think"): THOUGHTS for way in ("stream", "plain")},
    **{(way, "several"): WHOLE for way in ("stream", "plain")},
    ("stream", "stream"): WHOLE,
}


def helper(stage: Any, way: str = "stream", **how: Any) -> Any:
    """Return the agent of the test kit's server."""
    return stage.ns.RemoteA2aAgent("helper", card_of(way), **how)


async def _told(stage, way, says, **how):
    await stage.open(helper(stage, way, **how))
    for words in says:
        await stage.say(words)


for _way, _how in (("stream", "streamed"), ("plain", "at once")):
    for _act, _does in ACTS.items():
        _name = f"an agent of another server {_does}, {_how}"
        _play = partial(_told, way=_way, says=[_act])
        add(Case(_name, _play, differs=DIFFERS.get((_way, _act)), needs="a2a"))

TALKS: dict[str, list[str]] = {
    "in one context": ["greet", "echo"],
    "after a task": ["files", "echo"],
    "answering in words": ["ask", "blue", "echo"],
    "after a question by a call": ["approve", "never mind", "echo"],
}
for _name, _says in TALKS.items():
    _play = partial(_told, way="stream", says=_says)
    add(Case(f"a conversation with an agent of another server {_name}", _play, needs="a2a"))


async def _answered(stage, way, act, name, response):
    await stage.open(helper(stage, way))
    await stage.say(act)
    await stage.say(stage.answer(stage.call(name), **response))


_ASKS = "mock_function_call_for_required_user_input"
ANSWERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a text": ("ask", _ASKS, {"result": "blue"}),
    "data": ("ask", _ASKS, {"color": "blue", "shade": "dark"}),
    "the result of its call": ("approve", "approve", {"approved": True}),
    "the result of a call of its work": ("approve_aloud", "approve", {"approved": True}),
}
for _name, (_act, _call, _response) in ANSWERS.items():
    for _way, _how in (("stream", "streamed"), ("plain", "at once")):
        _play = partial(_answered, way=_way, act=_act, name=_call, response=_response)
        add(Case(f"an agent of another server is answered by {_name}, {_how}", _play, needs="a2a"))


@case(needs="a2a")
async def an_agent_of_another_server_goes_on_behind_a_login(stage):
    await stage.open(helper(stage))
    await stage.say("login")
    question = stage.call("mock_function_call_for_required_user_auth")
    await stage.say(stage.answer(question, result="done"))
    await stage.say("I have signed in.")


@case(needs="a2a")
async def a_callback_adds_to_the_question_of_an_agent_of_another_server(stage):
    def after(callback_context):
        return stage.ns.content("That was a question.")

    await stage.open(helper(stage, after_agent_callback=after))
    await stage.say("ask")
    await stage.say("blue")


@case(needs="a2a")
async def an_agent_of_another_server_gets_files(stage):
    await stage.open(helper(stage))
    picture = types.Blob(data=b"\x89PNG", mime_type="image/png", display_name="dot.png")
    page = types.FileData(file_uri="https://files.example/a.html", mime_type="text/html")
    parts = [types.Part(inline_data=picture), types.Part(file_data=page), types.Part(text="echo")]
    await stage.say(parts)


@case(needs="a2a", differs=OUTPUTS)
async def an_agent_hands_over_to_one_of_another_server(stage):
    stage.words.add("Does what it is told.")
    team = stage.agent("chief", transfer("helper"), sub_agents=[helper(stage)])
    await stage.open(team)
    await stage.say("greet")
    await stage.say("files")


@case(needs="a2a")
async def agents_of_other_servers_come_after_others(stage):
    team = stage.ns.SequentialAgent(
        name="team", sub_agents=[stage.speaker("first", "Look."), helper(stage)]
    )
    await stage.open(team)
    await stage.say("greet")


@case(needs="a2a")
async def an_agent_of_another_server_has_nothing_to_answer(stage):
    loop = stage.ns.LoopAgent(name="loop", max_iterations=2, sub_agents=[helper(stage)])
    await stage.open(loop)
    await stage.say("greet")


@case(needs="a2a")
async def callbacks_see_an_agent_of_another_server(stage):
    def before(callback_context):
        stage.note("before", callback_context.agent_name)
        callback_context.state["asked"] = True

    def after(callback_context):
        stage.note("after", callback_context.agent_name)
        return stage.ns.content("That was it.")

    agent = helper(stage, before_agent_callback=before, after_agent_callback=after)
    await stage.open(agent)
    await stage.say("greet")


@case(needs="a2a")
async def an_agent_of_another_server_is_a_tool(stage):
    agent = helper(stage, description="Helps.")
    tool = stage.ns.AgentTool(agent)
    await stage.open(stage.agent("chief", call("helper", request="greet"), "Done.", tools=[tool]))
    await stage.say("go")


@case(needs="a2a")
async def an_agent_of_another_server_is_a_node(stage):
    def shout(node_input: str) -> str:
        return node_input.upper()

    graph = stage.ns.Workflow(
        name="graph", edges=[(stage.ns.START, helper(stage), stage.ns.FunctionNode(func=shout))]
    )
    await stage.open(graph)
    await stage.say("files")


@case(needs="a2a")
async def metadata_go_with_a_message_to_another_server(stage):
    def metadata(ctx, message):
        stage.note(ctx.agent.name, len(message.parts))
        return {"tenant": "a"}

    await stage.open(helper(stage, a2a_request_meta_provider=metadata))
    await stage.say("echo")


@case(needs="a2a", differs=ERRORS)
async def an_agent_of_another_server_has_no_card(stage):
    agent = stage.ns.RemoteA2aAgent("helper", f"{address()}/nowhere.json")
    await stage.open(agent)
    await stage.say("go")


@case(needs="a2a", differs=ERRORS)
async def the_card_of_an_agent_names_another_server(stage):
    await stage.open(helper(stage, "other"))
    await stage.say("go")
