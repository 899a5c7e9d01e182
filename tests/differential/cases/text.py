"""Turns with text only: whole, streamed, empty, failing."""

from functools import partial

from google.genai import types

from tests.differential.case import Case, add, case
from tests.differential.differing import BLANK_TEXT, EMPTY_MESSAGE
from tests.differential.differing_state import EMPTY_LAST_TEXT
from tests.differential.script import Error, Raise, Raw, Say, call

CONTENTS = {
    "one text": "Hello.",
    "two texts": ["Hello.", Say("Bye.")],
    "an empty text": "",
    "a blank text": "  \n",
    "no parts": [],
    "a thought and a text": [Say("Hm.", thought=True), "Hello."],
    "a thought only": Say("Hm.", thought=True),
    "a text then a thought": ["Hello.", Say("Hm.", thought=True)],
    "three chunks": Say("One two three", chunks=3),
    "a streamed thought": [Say("Let me see", chunks=2, thought=True), Say("Done now", chunks=2)],
    "an error response": Error(),
    "an error after some text": ["Hello", Error("SAFETY")],
    "an exception": Raise(),
    "an exception after some text": ["Hello", Raise("boom late")],
}


async def _answer(stage, answer, streamed):
    await stage.open(stage.agent("agent", answer, "Again.", output_key="said"))
    say = stage.stream if streamed else stage.say
    await say("Hi")
    await say("And now?")


for _name, _answer_ in CONTENTS.items():
    for _streamed in (False, True):
        add(
            Case(
                f"a model answers with {_name}{', streamed' if _streamed else ''}",
                partial(_answer, answer=_answer_, streamed=_streamed),
                differs=BLANK_TEXT if _name == "a blank text" else None,
            )
        )

FIELDS = {
    "a finish reason other than STOP": {
        "content": types.Content(role="model", parts=[types.Part(text="cut o")]),
        "finish_reason": types.FinishReason.MAX_TOKENS,
    },
    "token counts": {
        "content": types.Content(role="model", parts=[types.Part(text="ok")]),
        "usage_metadata": types.GenerateContentResponseUsageMetadata(
            prompt_token_count=3, candidates_token_count=5, total_token_count=8
        ),
        "model_version": "scripted-1",
    },
    "labels of its own": {
        "content": types.Content(role="model", parts=[types.Part(text="ok")]),
        "custom_metadata": {"mine": 1, "both": "model"},
    },
    "nothing at all": {},
    "no content but STOP": {"finish_reason": types.FinishReason.STOP},
    "a content without role": {"content": types.Content(parts=[types.Part(text="ok")])},
    "an image": {
        "content": types.Content(
            role="model",
            parts=[types.Part(inline_data=types.Blob(data=b"\xfb\xef", mime_type="image/png"))],
        ),
        "finish_reason": types.FinishReason.STOP,
    },
    "interrupted": {"interrupted": True},
    "grounding only": {"grounding_metadata": types.GroundingMetadata(web_search_queries=["q"])},
    "a code execution result at the end": {
        "content": types.Content(
            role="model",
            parts=[
                types.Part(executable_code=types.ExecutableCode(code="1+1", language="PYTHON")),
                types.Part(
                    code_execution_result=types.CodeExecutionResult(
                        outcome="OUTCOME_OK", output="2"
                    )
                ),
            ],
        ),
        "finish_reason": types.FinishReason.STOP,
    },
    "an error with a content": {
        "content": types.Content(role="model", parts=[types.Part(text="half")]),
        "error_code": "RECITATION",
        "error_message": "boom",
    },
}


async def _fields(stage, fields):
    config = stage.ns.RunConfig(custom_metadata={"run": True, "both": "run"})
    await stage.open(stage.agent("agent", Raw(fields), "Next.", output_key="said"))
    await stage.say("Hi", run_config=config)
    await stage.say("And now?")


for _name, _fields_ in FIELDS.items():
    add(Case(f"a response has {_name}", partial(_fields, fields=_fields_)))


@case()
async def several_turns_share_one_history(stage):
    await stage.open(stage.agent("agent", "One.", "Two.", "Three."))
    for text in ("a", "b", "c"):
        await stage.say(text)


@case()
async def streamed_and_whole_turns_alternate(stage):
    await stage.open(stage.agent("agent", Say("One two", chunks=2), "Two.", Say("x y", chunks=2)))
    await stage.stream("a")
    await stage.say("b")
    await stage.stream("c")


@case()
async def a_stream_that_ends_with_a_fragment_ends_the_turn(stage):
    fields = {
        "content": types.Content(role="model", parts=[types.Part(text="half")]),
        "partial": True,
    }
    await stage.open(stage.agent("agent", Raw(fields), "Next."))
    await stage.stream("Hi")
    await stage.say("And now?")


@case()
async def a_message_with_a_file_is_handed_on(stage):
    blob = types.Part(inline_data=types.Blob(data=b"\x00\xff", mime_type="image/png"))
    await stage.open(stage.agent("agent", "Nice."))
    await stage.say([types.Part(text="Look"), blob])


@case()
async def the_role_of_a_message_becomes_user(stage):
    await stage.open(stage.agent("agent", "Ok."))
    await stage.say(types.Content(role="model", parts=[types.Part(text="Hi")]))
    await stage.say(types.Content(parts=[types.Part(text="Hi again")]))


@case()
async def too_many_model_calls_end_the_run(stage):
    def ping() -> str:
        return "pong"

    answers = [call("ping") for _ in range(5)]
    await stage.open(stage.agent("agent", *answers, tools=[ping]))
    await stage.say("go", run_config=stage.ns.RunConfig(max_llm_calls=2))


@case()
async def labels_of_a_run_are_on_every_event(stage):
    await stage.open(stage.agent("agent", "Ok."))
    labels = {"run": 7, "__adk_internal_x": "hidden"}
    await stage.say("go", run_config=stage.ns.RunConfig(custom_metadata=labels))


@case()
async def the_user_message_is_yielded_on_demand(stage):
    await stage.open(stage.agent("agent", "Ok."))
    await stage.say("go", yield_user_message=True)


@case()
async def a_session_that_does_not_exist_is_refused(stage):
    await stage.open(stage.agent("agent", "Ok."))
    await stage.say("go", session="other")


@case(differs=EMPTY_MESSAGE)
async def a_message_without_parts(stage):
    await stage.open(stage.agent("agent", "Ok."))
    await stage.say([])


@case()
async def a_message_that_mixes_answers_and_text_is_refused(stage):
    response = types.FunctionResponse(id="x", name="f", response={"a": 1})
    await stage.open(stage.agent("agent", "Ok."))
    await stage.say([types.Part(function_response=response), types.Part(text="and")])


@case()
async def an_answer_to_an_unknown_call_is_refused(stage):
    response = types.FunctionResponse(id="x", name="f", response={"a": 1})
    await stage.open(stage.agent("agent", "Ok."))
    await stage.say([types.Part(function_response=response)])


@case()
async def a_message_with_a_function_call_is_refused(stage):
    await stage.open(stage.agent("agent", "Ok."))
    await stage.say([types.Part(function_call=types.FunctionCall(name="f", args={}))])


@case()
async def only_recent_events_are_read_when_asked(stage):
    await stage.open(stage.agent("agent", "One.", "Two.", "Three."))
    await stage.say("a")
    await stage.say("b")
    recent = stage.ns.GetSessionConfig(num_recent_events=2)
    await stage.say("c", run_config=stage.ns.RunConfig(get_session_config=recent))


@case()
async def context_of_a_run_is_put_before_the_message(stage):
    await stage.open(stage.agent("agent", "One.", "Two."))
    await stage.say("a")
    context = [stage.ns.content("Case: background", "user")]
    await stage.say("b", run_config=stage.ns.RunConfig(model_input_context=context))
    await stage.say("c")


@case()
async def a_lone_state_change_is_a_user_event(stage):
    await stage.open(stage.agent("agent", "One."))
    await stage.say("a", state_delta={"x": 1, "user:y": 2, "app:z": 3, "temp:t": 4})


@case(differs=EMPTY_LAST_TEXT)
async def the_last_text_of_a_run_is_empty(stage):
    def look() -> str:
        return "ok"

    content = types.Content(role="model", parts=[types.Part(text="")])
    answers = [[Say("Let me see."), call("look")], Raw({"content": content})]
    await stage.open(stage.agent("agent", *answers, tools=[look], output_key="said"))
    await stage.say()


SEARCH = types.ToolCall(id="t", tool_type=types.ToolType.GOOGLE_SEARCH_WEB, args={"q": "trees"})
FOUND = types.ToolResponse(id="t", tool_type=types.ToolType.GOOGLE_SEARCH_WEB, response={"n": 1})
SIGNED = {"thought_signature": b"sign"}
WANTED_BACK = {
    "a signed thought": [types.Part(text="Hm.", thought=True, **SIGNED)],
    "a signed empty text": [types.Part(text="", **SIGNED)],
    "a signature alone": [types.Part(**SIGNED)],
    "a thought and a signature": [types.Part(text="Hm.", thought=True), types.Part(**SIGNED)],
    "a tool of its own": [types.Part(tool_call=SEARCH), types.Part(tool_response=FOUND)],
    "words around a tool of its own": [
        types.Part(text="Let me see.", **SIGNED),
        types.Part(tool_call=SEARCH),
        types.Part(tool_response=FOUND),
        types.Part(text="It is a tree."),
    ],
    "an unsigned thought": [types.Part(text="Hm.", thought=True)],
    "a picture in thoughts": [
        types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png"), thought=True)
    ],
}
"""Parts that a model needs back in later requests, whether or not other agents see them."""


async def _wanted_back(stage, parts, reason):
    answer = Raw({"content": types.Content(role="model", parts=parts), "finish_reason": reason})
    agents = [
        stage.agent("a", answer, "A2.", "A3."),
        stage.agent("b", "B1.", "B2.", "B3."),
        stage.agent("c", "C1.", "C2.", [Say("Hm.", thought=True), "C3."]),
        stage.agent("d", "D1.", "D2.", "D3.", include_contents="none"),
    ]
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=agents))
    await stage.say()
    await stage.say([types.Part(text="Hm.", thought=True)])
    config = stage.ns.RunConfig(include_thoughts_from_other_agents=True)
    await stage.say("thoughts", run_config=config)


for _name, _parts in WANTED_BACK.items():
    for _reason in (None, types.FinishReason.STOP):
        _play = partial(_wanted_back, parts=_parts, reason=_reason)
        _ended = "" if _reason is None else " and ends"
        add(Case(f"a model wants {_name} back{_ended}", _play))
