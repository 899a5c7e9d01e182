"""Tools that return content parts, and the plugin that shows them to the model."""

from functools import partial
from typing import Any

from google.genai import types

from tests.differential.case import Case, Difference, add, case
from tests.differential.script import Say, call

CALLBACKS_BESIDE_PARTS = Difference(
    "MultimodalToolResultsPlugin and other callbacks",
    here="The plugin leaves results without parts to the callbacks and plugins after it.",
    there="It gives them as its own answer, so that no other `after_tool` is asked.",
    why="A plugin that has nothing to say should not silence the others.",
)


def _without_nulls(value: Any) -> Any:
    """Return the record without null fields."""
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


KEPT_PARTS = Difference(
    "Parts that MultimodalToolResultsPlugin keeps for the session",
    here="The state holds the fields that they have.",
    there="It holds every field of a part, most of them null.",
    why="State is sent to clients and written down with every change; both read the other's.",
    without=_without_nulls,
)

TEXT = types.Part(text="seen")
PICTURE = types.Part(inline_data=types.Blob(data=b"\x01\x02", mime_type="image/png"))
FILE = types.Part(file_data=types.FileData(file_uri="gs://b/f", mime_type="text/plain"))
UNTYPED = types.Part(file_data=types.FileData(file_uri="gs://b/g"))
RESULTS: dict[str, Any] = {
    "a text": TEXT,
    "a picture": PICTURE,
    "a file": FILE,
    "a file of no type": UNTYPED,
    "several": [TEXT, PICTURE, FILE, UNTYPED],
    "two texts": [TEXT, types.Part(text="more")],
    "no part": {"a": 1},
    "an empty list": [],
    "a list of other things": ["a", TEXT],
}

LASTING = ("a text", "a file", "a file of no type", "several", "two texts")
"""Results without bytes, which are kept."""


def _tool(result):
    def show() -> Any:
        """Shows."""
        return result

    return show


def _in_order(result):
    """Return an async tool, so that parallel calls end in order.

    Plain functions run in threads on devui.runtime, where either may write the state last.
    """

    async def show() -> Any:
        """Shows."""
        return result

    return show


async def _shown(stage, result, answers, play="say", tool=_tool, **how):
    plugin = stage.ns.MultimodalToolResultsPlugin(**how)
    agent = stage.agent("agent", *answers, tools=[tool(result)])
    await stage.open(agent, plugins=[plugin])
    await getattr(stage, play)("one")
    await getattr(stage, play)("two")


for _retention in ("next_model_call", "session"):
    for _name, _result in RESULTS.items():
        _play = partial(
            _shown, result=_result, answers=[call("show"), "A.", "B."], retention=_retention
        )
        _differs = KEPT_PARTS if _retention == "session" and _name in LASTING else None
        add(Case(f"a tool returns {_name}, shown for {_retention}", _play, _differs))
    _answers = [[call("show"), call("show")], "A.", call("show"), "B."]
    _play = partial(_shown, result=TEXT, answers=_answers, tool=_in_order, retention=_retention)
    _differs = KEPT_PARTS if _retention == "session" else None
    add(Case(f"tools return parts again and again, shown for {_retention}", _play, _differs))
    _answers = [[Say("I look.", chunks=2), call("show")], "A.", "B."]
    _play = partial(_shown, result=TEXT, answers=_answers, play="stream", retention=_retention)
    add(Case(f"a tool returns parts in a stream, shown for {_retention}", _play, _differs))


@case(differs=CALLBACKS_BESIDE_PARTS)
async def callbacks_beside_the_plugin_for_parts(stage):
    def after(tool, args, tool_context, tool_response):
        stage.note("after", tool.name)

    plugin = stage.ns.MultimodalToolResultsPlugin()
    agent = stage.agent(
        "agent", call("show"), "Done.", tools=[_tool({"a": 1})], after_tool_callback=after
    )
    await stage.open(agent, plugins=[plugin])
    await stage.say()


@case()
async def parts_kept_for_no_known_time(stage):
    try:
        stage.ns.MultimodalToolResultsPlugin(retention="forever")
    except ValueError as error:
        stage.note(type(error).__name__)


# Calls and responses without ids, as other clients write them


def _asked(name: str, call_id: str | None = None) -> types.Content:
    function_call = types.FunctionCall(id=call_id, name=name, args={})
    return types.Content(role="model", parts=[types.Part(function_call=function_call)])


def _told(name: str, *parts: types.Part) -> types.Content:
    function_response = types.FunctionResponse(name=name, response={"a": 1})
    return types.Content(
        role="user", parts=[*parts, types.Part(function_response=function_response)]
    )


UNSIGNED = {
    "a response to nothing": [("user", _told("f"))],
    "a response beside a text": [("user", _told("f", types.Part(text="words")))],
    "a call and its response": [("agent", _asked("f")), ("agent", _told("f"))],
    "a response to another call": [("agent", _asked("g")), ("agent", _told("f"))],
    "a response to a call with an id": [("agent", _asked("f", "1")), ("agent", _told("f"))],
    "a call without response": [("agent", _asked("f"))],
}


async def _unsigned(stage, events):
    await stage.open(stage.agent("agent", "One.", "Two."))
    sessions = stage.runner.session_service
    session = await sessions.get_session(app_name="app", user_id="u", session_id="s")
    for author, content in events:
        event = stage.ns.Event(author=author, invocation_id="e-before", content=content)
        await sessions.append_event(session, event)
    await stage.say()
    await stage.say("next")


for _name, _events in UNSIGNED.items():
    add(Case(f"without an id, {_name}", partial(_unsigned, events=_events)))
