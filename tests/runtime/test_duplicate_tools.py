"""Two tools with the same name in one agent are an error that says where both are defined."""

import json

import pytest

from devui.runtime.agents import LlmAgent
from devui.runtime.models import Call, LlmRequest, Rule, Say, ScriptedLlm
from devui.runtime.tools import AgentTool, BaseTool, FunctionTool, google_search
from devui.runtime.tools.base_toolset import BaseToolset
from devui.runtime.tools.openapi_tool import OpenAPIToolset
from devui.runtime.workflow import FunctionNode
from tests.kit.conversation import Conversation, said


class Bmw:
    @staticmethod
    def price() -> int:
        return 6000


class Mercedes:
    @staticmethod
    def price() -> int:
        return 5000


class Own(BaseTool):
    def __init__(self):
        super().__init__(name="price", description="")

    def _get_declaration(self):
        return FunctionTool(Bmw.price)._get_declaration()


class Later(BaseToolset):
    """A toolset whose tools are known only in a run."""

    async def get_tools(self, readonly_context=None):
        return [FunctionTool(Mercedes.price)]

    async def close(self):
        pass


def agent(name="a", **fields):
    rules = [Rule(after="price", then=Say("{result}")), Rule(then=Call("price"))]
    return LlmAgent(name=name, model=ScriptedLlm(rules=rules), **fields)


def service(prefix=None):
    path = {"get": {"operationId": "price", "responses": {}}}
    spec = {
        "openapi": "3.0.0",
        "info": {"title": "x", "version": "1"},
        "servers": [{"url": "http://x"}],
        "paths": {"/price": path},
    }
    return OpenAPIToolset(spec_str=json.dumps(spec), spec_str_type="json", tool_name_prefix=prefix)


HERE = "test_duplicate_tools.py:"


@pytest.mark.parametrize(
    ("other", "origin"),
    [
        (lambda: Mercedes.price, f"price .*{HERE}"),
        (lambda: FunctionTool(Mercedes.price), f"price .*{HERE}"),
        (Own, f"Own .*{HERE}"),
        (lambda: AgentTool(agent("price")), "agent 'price'"),
        (lambda: FunctionNode(func=Mercedes.price, name="price"), "node 'price'"),
        (service, "RestApiTool"),
    ],
)
def test_two_tools_of_the_same_name_are_refused_when_the_agent_is_created(other, origin):
    with pytest.raises(ValueError, match=f"Two tools are named 'price': price .*{HERE}.*{origin}"):
        agent(tools=[Bmw.price, other()])


def test_a_tool_and_a_sub_agent_of_the_same_name_are_refused():
    below = LlmAgent(name="price", mode="single_turn")

    with pytest.raises(ValueError, match=r"price .*:\d+\) and agent 'price'"):
        agent(tools=[Bmw.price], sub_agents=[below])


def test_a_function_that_is_listed_twice_is_refused():
    with pytest.raises(ValueError, match=f"'price' is listed twice: price .*{HERE}"):
        agent(tools=[Bmw.price, Bmw.price])


@pytest.mark.parametrize("late", ["a toolset", "an append"])
async def test_duplicates_that_appear_only_in_a_run_raise_the_same_error(late):
    root = agent(tools=[Bmw.price, *([Later()] if late == "a toolset" else [])])
    if late == "an append":
        root.tools.append(Mercedes.price)
    conversation = Conversation(root)

    with pytest.raises(ValueError, match=f"Two tools are named 'price': price .*{HERE}.*{HERE}"):
        await conversation.say("go")

    assert conversation.heard[-1].error_code == "DuplicateToolError"
    assert root.model.requests == []


async def test_a_function_from_two_sources_is_declared_once():
    class Same(Later):
        async def get_tools(self, readonly_context=None):
            return [FunctionTool(Bmw.price)]

    root = agent(tools=[Bmw.price, Same()])

    *_, answer = await Conversation(root).say("go")

    assert said(answer) == "6000"
    (tool,) = root.model.requests[0].config.tools
    assert [each.name for each in tool.function_declarations] == ["price"]


def test_names_that_do_not_collide_are_accepted():
    def search() -> None: ...

    agent(tools=[Bmw.price, service("shop"), Later(), search, google_search])
    agent(tools=[Bmw.price], sub_agents=[LlmAgent(name="price", description="talks")])


def test_a_request_refuses_a_second_tool_of_the_same_name():
    request = LlmRequest()
    request.append_tools([FunctionTool(Bmw.price)])

    with pytest.raises(ValueError, match="Two tools are named 'price'"):
        request.append_tools([FunctionTool(Mercedes.price)])
