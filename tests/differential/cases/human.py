"""Users who confirm, choose and provide credentials."""

from functools import partial
from typing import Any

from google.genai import types

from tests.differential.case import Case, add, case
from tests.differential.script import Boom, call, transfer

CONFIRM = "adk_request_confirmation"


def pay(amount: int, tool_context: Any) -> str:
    """Pays."""
    confirmation = tool_context.tool_confirmation
    return f"paid {amount} ({confirmation.payload if confirmation else 'unasked'})"


def look() -> str:
    """Looks."""
    return "ok"


def guarded(stage: Any, requirement: Any = True) -> Any:
    """Return `pay` as a tool that the user must confirm."""
    return stage.ns.FunctionTool(pay, require_confirmation=requirement)


async def _decide(stage, response, resumable):
    answers = call("pay", amount=5), "Done.", "Next."
    await stage.open(stage.agent("agent", *answers, tools=[guarded(stage)]), resumable=resumable)
    await stage.say()
    await stage.say(stage.answer(stage.call(CONFIRM), **response))
    await stage.say("next")


DECISIONS = {
    "confirmed": {"confirmed": True},
    "confirmed with a payload": {"confirmed": True, "payload": {"by": "Ann"}},
    "confirmed as JSON": {"response": '{"confirmed": true}'},
    "rejected": {"confirmed": False},
    "rejected by nothing": {},
}
for _name, _response in DECISIONS.items():
    for _resumable in (False, True):
        add(
            Case(
                f"a call is {_name}{' in a resumable app' if _resumable else ''}",
                partial(_decide, response=_response, resumable=_resumable),
            )
        )


@case()
async def a_confirmation_is_answered_with_text(stage):
    answers = call("pay", amount=5), "As you like.", "Never."
    await stage.open(stage.agent("agent", *answers, tools=[guarded(stage)]))
    await stage.say()
    await stage.say("not now")


@case()
async def a_confirmation_is_answered_twice(stage):
    answers = call("pay", amount=5), "Paid.", "Never."
    await stage.open(stage.agent("agent", *answers, tools=[guarded(stage)]))
    await stage.say()
    answer = stage.answer(stage.call(CONFIRM), confirmed=True)
    await stage.say(answer)
    await stage.say(answer)


@case()
async def one_call_of_a_batch_is_confirmed(stage):
    answers = [call("look"), call("pay", amount=5)], "Paid."
    await stage.open(stage.agent("agent", *answers, tools=[guarded(stage), look]))
    await stage.say()
    await stage.say(stage.answer(stage.call(CONFIRM), confirmed=True))


@case()
async def two_calls_of_a_batch_are_decided(stage):
    answers = [call("pay", amount=5), call("pay", amount=6)], "Paid."
    await stage.open(stage.agent("agent", *answers, tools=[guarded(stage)]))
    await stage.say()
    question = stage.call(CONFIRM)
    parts = [
        *stage.answer(question, 0, confirmed=True).parts,
        *stage.answer(question, 1, confirmed=False).parts,
    ]
    await stage.say(parts)


@case()
async def confirmation_depends_on_the_arguments(stage):
    def above_ten(amount: int, tool_context: Any) -> bool:
        return amount > 10

    answers = call("pay", amount=5), call("pay", amount=50), "Paid."
    await stage.open(stage.agent("agent", *answers, tools=[guarded(stage, above_ten)]))
    await stage.say()
    await stage.say(stage.answer(stage.call(CONFIRM), confirmed=True))


@case()
async def a_tool_asks_for_confirmation_itself(stage):
    def book(days: int, tool_context) -> Any:
        """Books."""
        decision = tool_context.tool_confirmation
        if not decision:
            tool_context.request_confirmation(hint="How many?", payload={"days": 0})
            return {"status": "asked"}
        return {"status": "booked", "days": decision.payload["days"], "ok": decision.confirmed}

    answers = call("book", days=3), "Booked."
    await stage.open(stage.agent("agent", *answers, tools=[book]))
    await stage.say()
    await stage.say(stage.answer(stage.call(CONFIRM), confirmed=True, payload={"days": 2}))


@case()
async def a_sub_agent_asks_for_confirmation(stage):
    child = stage.agent("child", call("pay", amount=5), "Paid.", "More.", tools=[guarded(stage)])
    root = stage.agent("root", transfer("child"), "Root?", sub_agents=[child])
    await stage.open(root)
    await stage.say()
    await stage.say(stage.answer(stage.call(CONFIRM), confirmed=True))
    await stage.say("more")


@case()
async def a_resumable_sequence_asks_for_confirmation(stage):
    agents = [
        stage.agent("a", call("pay", amount=5), "Paid.", tools=[guarded(stage)]),
        stage.agent("b", "B."),
    ]
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=agents), resumable=True)
    await stage.say()
    await stage.say(stage.answer(stage.call(CONFIRM), confirmed=True))


@case()
async def a_confirmed_tool_fails(stage):
    def fall() -> None:
        """Falls."""
        raise Boom("boom")

    tool = stage.ns.FunctionTool(fall, require_confirmation=True)
    await stage.open(stage.agent("agent", call("fall"), "Never.", tools=[tool]))
    await stage.say()
    await stage.say(stage.answer(stage.call(CONFIRM), confirmed=True))


@case()
async def callbacks_around_a_confirmation(stage):
    def before(tool, args, tool_context):
        stage.note("before", tool.name, bool(tool_context.tool_confirmation))

    def after(tool, args, tool_context, tool_response):
        stage.note("after", tool.name, bool(tool_context.tool_confirmation))

    agent = stage.agent(
        "agent",
        call("pay", amount=5),
        "Paid.",
        tools=[guarded(stage)],
        before_tool_callback=before,
        after_tool_callback=after,
    )
    await stage.open(agent)
    await stage.say()
    await stage.say(stage.answer(stage.call(CONFIRM), confirmed=True))


@case()
async def a_choice_of_the_user(stage):
    answers = call("get_user_choice", options=["a", "b"]), "You took a."
    await stage.open(stage.agent("agent", *answers, tools=[stage.ns.get_user_choice_tool]))
    await stage.say()
    await stage.say(stage.answer(stage.call("get_user_choice"), result="a"))


# Credentials


def _key_config(stage: Any) -> Any:
    scheme = {"type": "apiKey", "in": "header", "name": "X-Key"}
    config = {
        "auth_scheme": scheme,
        "raw_auth_credential": {"auth_type": "apiKey", "api_key": "raw"},
        "credential_key": "the key",
    }
    return stage.ns.AuthConfig.model_validate(config)


def knocking(stage: Any) -> Any:
    """Return `knock`, which needs a key."""
    config = _key_config(stage)

    def knock(tool_context) -> Any:
        """Knocks."""
        credential = tool_context.get_auth_response(config)
        if credential is None:
            tool_context.request_credential(config)
            return None
        return f"opened with {credential.api_key}"

    return knock


def key_given(stage: Any) -> Any:
    """Return the user's answer to the latest request for the key."""
    question = stage.call("adk_request_credential")
    config = dict(question.get_function_calls()[0].args["authConfig"])
    config["exchangedAuthCredential"] = {"authType": "apiKey", "apiKey": "secret"}
    return stage.answer(question, **config)


async def _credential(stage, resumable):
    answers = call("knock"), "In.", "Next."
    await stage.open(stage.agent("agent", *answers, tools=[knocking(stage)]), resumable=resumable)
    await stage.say()
    await stage.say(key_given(stage))
    await stage.say("next")


for _resumable in (False, True):
    _kind = " in a resumable app" if _resumable else ""
    add(Case(f"a tool asks for a credential{_kind}", partial(_credential, resumable=_resumable)))


@case()
async def a_tool_class_of_ones_own_asks_for_a_confirmation(stage):
    class Pay(stage.ns.BaseTool):
        def _get_declaration(self):
            return types.FunctionDeclaration(name=self.name, description=self.description)

        async def check_require_confirmation(self, args, tool_context):
            return args["amount"] > 1

        async def run_async(self, *, args, tool_context):
            return {"paid": args}

    tool = Pay(name="pay", description="Pays.")
    answers = call("pay", amount=3), "Paid.", call("pay", amount=4), "Not paid."
    await stage.open(stage.agent("agent", *answers, tools=[tool]))
    await stage.say()
    await stage.say(stage.answer(stage.call("adk_request_confirmation"), confirmed=True))
    await stage.say("again")
    await stage.say(stage.answer(stage.call("adk_request_confirmation"), confirmed=False))


@case()
async def a_function_tool_of_ones_own_that_another_tool_calls_asks_for_a_confirmation(stage):
    def pay(amount: int) -> int:
        return amount

    class Pay(stage.ns.FunctionTool):
        async def check_require_confirmation(self, args, tool_context):
            return args["amount"] > 1

    inner = Pay(pay)

    async def shop(amount: int, tool_context: stage.ns.ToolContext):
        return {"paid": await inner.run_async(args={"amount": amount}, tool_context=tool_context)}

    answers = call("shop", amount=3), "Paid.", call("shop", amount=1), "Paid at once."
    await stage.open(stage.agent("agent", *answers, tools=[shop]))
    await stage.say()
    await stage.say(stage.answer(stage.call("adk_request_confirmation"), confirmed=True))
    await stage.say("again")


@case()
async def an_argument_is_missing_where_consent_is_needed(stage):
    def pay(amount: int) -> int:
        return amount

    tool = stage.ns.FunctionTool(pay, require_confirmation=True)
    await stage.open(stage.agent("agent", call("pay"), "Done.", tools=[tool]))
    await stage.say()
    await stage.say(stage.answer(stage.call("adk_request_confirmation"), confirmed=True))


@case()
async def a_question_for_consent_fails(stage):
    def pay(amount: int) -> int:
        return amount

    def asked(amount: int) -> bool:
        raise Boom("boom")

    def told(tool, args, tool_context, error):
        return {"recovered": str(error)}

    tool = stage.ns.FunctionTool(pay, require_confirmation=asked)
    agent = stage.agent(
        "agent", call("pay", amount=1), "Done.", tools=[tool], on_tool_error_callback=told
    )
    await stage.open(agent)
    await stage.say()
