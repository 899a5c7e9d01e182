"""Stamped function calls, and sessions in which someone changed them."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.differential.case import Case, add, case
from tests.differential.script import Say, call

KEY = b"key of the tests"
STAMPS = "__adk_internal_fc_hmac"


@dataclass
class Context:
    """The part of an invocation context that the plugin reads."""

    session: Any


def pay(amount: Any, to: str = "me") -> str:
    """Pays."""
    return f"{amount} to {to}"


async def _opened(stage, answers, key=KEY, **how):
    plugin = stage.ns.ToolCallIntegrityPlugin(key, **how)
    tool = stage.ns.FunctionTool(pay, require_confirmation=True)
    await stage.open(stage.agent("agent", *answers, tools=[tool]), plugins=[plugin], resumable=True)


def _stored(stage) -> list[Any]:
    """Return the stored events with function calls."""
    service = stage.runner.session_service
    session = service.sessions["app"]["u"]["s"]
    return [event for event in session.events if event.get_function_calls()]


async def _answered(stage):
    question = stage.call("adk_request_confirmation")
    await stage.say(stage.answer(question, confirmed=True))


async def _tampered(stage, change, **how):
    await _opened(stage, [call("pay", amount=1, to="me"), "Paid.", "Bye."], **how)
    await stage.say()
    change(_stored(stage)[0])
    await _answered(stage)


def _more(event):
    event.content.parts[0].function_call.args["amount"] = 1000


def _as_float(event):
    event.content.parts[0].function_call.args["amount"] = 1.0


def _renamed(event):
    event.content.parts[0].function_call.name = "give"


def _moved(event):
    event.author = "other"


def _unstamped(event):
    event.custom_metadata = {
        key: value for key, value in event.custom_metadata.items() if key != STAMPS
    }


def _forged(event):
    stamps = event.custom_metadata[STAMPS]
    event.custom_metadata = {STAMPS: dict.fromkeys(stamps, "v1:" + "0" * 64)}


def _malformed(event):
    event.custom_metadata = {STAMPS: "é"}


def _nothing(event):
    """Leave the event unchanged."""


CHANGES = {
    "nothing": _nothing,
    "an argument": _more,
    "the form of a number": _as_float,
    "the tool": _renamed,
    "the author": _moved,
    "the stamp, taken away": _unstamped,
    "the stamp, forged": _forged,
    "the stamp, something else": _malformed,
}
for _name, _change in CHANGES.items():
    for _allowed in (False, True):
        _play = partial(_tampered, change=_change, allow_unstamped_calls=_allowed)
        _word = "allowed" if _allowed else "refused"
        add(Case(f"changed in a stamped call: {_name}; unstamped calls are {_word}", _play))
_play = partial(_tampered, change=_nothing, key=[KEY, b"old"])
add(Case("stamps are made with the first of two keys", _play))


@case()
async def stamps_of_several_calls_and_a_stream(stage):
    batch = [Say("I pay.", chunks=2), call("look", a=1), call("look", a=2)]

    def look(a: int) -> int:
        """Looks."""
        return a

    plugin = stage.ns.ToolCallIntegrityPlugin(KEY)
    agent = stage.agent("agent", batch, "Done.", "Bye.", tools=[look])
    await stage.open(agent, plugins=[plugin])
    await stage.stream()
    await stage.say("more")


@case()
async def stamps_are_the_same_wherever_they_are_made(stage):
    await _opened(stage, ["Hi."])
    where = {"app_name": "app", "user_id": "u", "session_id": "s"}
    session = await stage.runner.session_service.get_session(**where)
    plugin = stage.ns.ToolCallIntegrityPlugin([KEY, b"old"])
    for args in ({}, {"a": 1.0, "é": [None, {"b": 2.5}]}, {"b": "x", "a": True}):
        function_call = stage.ns.types.FunctionCall(id="c", name="pay", args=args)
        event = stage.ns.event("agent", None, invocation_id="i0", branch="a.b")
        event.content = stage.ns.content("x")
        event.content.parts = [stage.ns.types.Part(function_call=function_call)]
        await plugin.on_event_callback(invocation_context=Context(session), event=event)
        stage.note(event.custom_metadata)


@case()
async def keys_for_stamps_that_make_no_sense(stage):
    for key in (b"", [], [b"a", b""], "text"):
        try:
            stage.ns.ToolCallIntegrityPlugin(key)
        except ValueError as error:
            stage.note(type(error).__name__)


@case()
async def a_callback_changes_what_a_stamped_call_is_run_with(stage):
    class Generous(stage.ns.BasePlugin):
        async def before_tool_callback(self, *, tool, tool_args, tool_context):
            tool_args["amount"] = 1000

    plugins = [Generous(name="generous"), stage.ns.ToolCallIntegrityPlugin(KEY)]
    await stage.open(
        stage.agent("agent", call("pay", amount=1), "Paid.", tools=[pay]), plugins=plugins
    )
    await stage.say()


@case()
async def history_of_another_session_has_no_stamps(stage):
    await _opened(stage, ["Hi.", "Bye."])
    event = stage.ns.event("agent", None, invocation_id="i0")
    event.content = stage.ns.content("x")
    event.content.parts = [
        stage.ns.types.Part(function_call={"id": "c", "name": "pay", "args": {"amount": 1}})
    ]
    service = stage.runner.session_service
    where = {"app_name": "app", "user_id": "u", "session_id": "s"}
    restored = stage.ns.ToolCallIntegrityPlugin.prepare_restored_event(event)
    await service.append_event(await service.get_session(**where), restored)
    await stage.say()
    await service.append_event(
        await service.get_session(**where), event.model_copy(update={"id": "again"})
    )
    await stage.say("more")
