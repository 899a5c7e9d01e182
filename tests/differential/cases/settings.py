"""What comes with the Runner: settings of runs, `run_debug`, examples and memory."""

from functools import partial
from typing import Any

from google.genai import types
from pydantic import BaseModel

from tests.differential.case import Case, Difference, add, case
from tests.differential.differing_files import MARKED_LETTERS
from tests.differential.script import Call, Say, call


def look() -> str:
    """Looks."""
    return "ok"


# RunConfig


async def _calls(stage, limit, streamed):
    agent = stage.agent("agent", *[call("look")] * 5, "Done.", tools=[look])
    await stage.open(agent)
    mode = stage.ns.StreamingMode.SSE if streamed else stage.ns.StreamingMode.NONE
    config = stage.ns.RunConfig(max_llm_calls=limit, streaming_mode=mode)
    await stage.say(run_config=config)
    await stage.say("next", run_config=config)


for _limit in (-1, 0, 1, 3, 6):
    for _streamed in (False, True):
        _how = ", streamed" if _streamed else ""
        add(
            Case(
                f"a run of at most {_limit} model calls{_how}",
                partial(_calls, limit=_limit, streamed=_streamed),
            )
        )

SETTINGS: dict[str, dict[str, Any]] = {
    "response modalities": {"response_modalities": [types.Modality.AUDIO]},
    "a voice": {"speech_config": types.SpeechConfig(language_code="de-DE")},
    "labels": {"labels": {"team": "a"}},
    "a service tier": {"service_tier": "flex"},
    "http options": {"http_options": types.HttpOptions(headers={"x-a": "1"}, timeout=9)},
    "retries": {
        "http_options": types.HttpOptions(retry_options=types.HttpRetryOptions(attempts=2))
    },
    "custom metadata": {"custom_metadata": {"job": 7}},
    "metadata of the runtime": {"custom_metadata": {"__adk_internal_x": 1, "job": 7}},
    "no history": {"get_session_config": {"num_recent_events": 0}},
    "a little history": {"get_session_config": {"num_recent_events": 2}},
    "context": {
        "model_input_context": [types.Content(role="user", parts=[types.Part(text="Case: know")])]
    },
    "a thread pool": {"tool_thread_pool_config": {"max_workers": 2}},
    "code of its own": {"support_cfc": False},
    "two modalities": {"response_modalities": [types.Modality.TEXT, types.Modality.IMAGE]},
}


async def _setting(stage, setting):
    agents = [
        stage.agent("child", "I am the child.", "Still me."),
    ]
    answers = [call("look")], call("transfer_to_agent", agent_name="child")
    await stage.open(stage.agent("root", *answers, tools=[look], sub_agents=agents))
    await stage.say("first", run_config=stage.ns.RunConfig(**setting))
    await stage.say("second", run_config=stage.ns.RunConfig(**setting))


for _name, _setting_ in SETTINGS.items():
    add(Case(f"a run with {_name}", partial(_setting, setting=_setting_)))


WRONG: dict[str, dict[str, Any]] = {
    "an unknown setting": {"nonsense": 1},
    "too many calls": {"max_llm_calls": 2**63 - 1},
    "a deferred tier that streams": {"service_tier": "deferred", "streaming_mode": "sse"},
    "a negative history": {"get_session_config": {"num_recent_events": -1}},
}


async def _refused(stage, setting):
    try:
        stage.ns.RunConfig(**setting)
        stage.note("taken")
    except ValueError as error:
        stage.note(type(error).__name__)


for _name, _setting_ in WRONG.items():
    add(Case(f"settings with {_name}", partial(_refused, setting=_setting_)))


# run_debug


async def _debug(stage, messages, **how):
    await stage.open(stage.agent("agent", call("look"), "One.", "Two.", tools=[look]))
    for _ in range(2):
        events = await stage.runner.run_debug(messages, quiet=True, **how)
        stage.note([[event.author, event.is_final_response()] for event in events])
    service = stage.runner.session_service
    where = {
        "app_name": "app",
        "user_id": how.get("user_id", "debug_user_id"),
        "session_id": how.get("session_id", "debug_session_id"),
    }
    session = await service.get_session(**where)
    stage.note([[event.author, event.invocation_id] for event in session.events])


add(Case("a session to debug with one message", partial(_debug, messages="a")))
add(Case("a session to debug with three messages", partial(_debug, messages=["a", "b", "c"])))
add(
    Case(
        "a session to debug of another user",
        partial(_debug, messages=["a"], user_id="u", session_id="s"),
    )
)


# Examples


def _examples(stage: Any) -> list[Any]:
    return [
        stage.ns.Example(
            input=stage.ns.content("How many?", "user"),
            output=[stage.ns.content("Case: three.")],
        ),
        stage.ns.Example(
            input=stage.ns.content("Look!", "user"),
            output=[
                types.Content(
                    role="model",
                    parts=[
                        types.Part(function_call=types.FunctionCall(name="look", args={"a": 1}))
                    ],
                ),
                types.Content(
                    role="user",
                    parts=[
                        types.Part(
                            function_response=types.FunctionResponse(
                                name="look", response={"result": "ok"}
                            )
                        )
                    ],
                ),
                stage.ns.content("It is ok."),
            ],
        ),
    ]


@case()
async def examples_are_told_to_the_model(stage):
    tool = stage.ns.ExampleTool(_examples(stage))
    await stage.open(stage.agent("agent", "Ok.", "Next.", tools=[tool], instruction="Case: own"))
    await stage.say()
    await stage.say("next")


@case()
async def a_provider_chooses_examples(stage):
    examples = _examples(stage)

    class Provider(stage.ns.BaseExampleProvider):
        def get_examples(self, query):
            stage.note(query)
            return examples[:1]

    await stage.open(stage.agent("agent", "Ok.", tools=[stage.ns.ExampleTool(Provider())]))
    await stage.say("how many")


# Memory


async def _memories(stage, *texts: str) -> None:
    service = stage.runner.memory_service
    session = await stage.runner.session_service.create_session(
        app_name="app", user_id="u", session_id="past"
    )
    for number, text in enumerate(texts):
        author = "agent" if number % 2 else "user"
        event = stage.ns.event(author, text, timestamp=1000.0 + number)
        await stage.runner.session_service.append_event(session, event)
    await service.add_session_to_memory(session)


@case()
async def a_memory_is_loaded_on_demand(stage):
    answers = call("load_memory", query="blue sky"), "It is blue.", "Next."
    await stage.open(stage.agent("agent", *answers, tools=[stage.ns.load_memory_tool]))
    await _memories(stage, "The sky is blue", "So it is", "Bread is good")
    await stage.say("What color?")
    await stage.say("next")


@case(differs=MARKED_LETTERS)
async def a_memory_is_loaded_by_a_word_with_marks(stage):
    answers = call("load_memory", query="मु"), "Ok."
    await stage.open(stage.agent("agent", *answers, tools=[stage.ns.load_memory_tool]))
    await _memories(stage, "मुझे हिन्दी पसंद है", "So it is", "कमल का फूल")
    await stage.say()


async def _preloaded(stage, question):
    tools = [stage.ns.preload_memory_tool, look]
    agent = stage.agent("agent", call("look"), "Ok.", "Next.", tools=tools)
    await stage.open(agent)
    await _memories(stage, "The sky is blue", "So is the sea", "Bread is good")
    await stage.say(question)
    await stage.say([types.Part(text="And"), types.Part(text="bread?")])


for _question in ("What color is the sky?", "Nothing known", "bread SEA"):
    add(Case(f"a memory is there before {_question}", partial(_preloaded, question=_question)))


# Artifacts

FILES = {
    "a text": types.Part(text="the note"),
    "a picture": types.Part(inline_data=types.Blob(data=b"\x89png", mime_type="image/png")),
    "a text as bytes": types.Part(inline_data=types.Blob(data=b"plain", mime_type="text/plain")),
    "a table": types.Part(inline_data=types.Blob(data=b"a,b\n1,2", mime_type="text/csv")),
    "a file of JSON": types.Part(
        inline_data=types.Blob(data=b'{"a": 1}', mime_type="application/json")
    ),
    "an archive": types.Part(
        inline_data=types.Blob(data=b"PK\x03\x04", mime_type="application/zip")
    ),
    "bytes of no kind": types.Part(
        inline_data=types.Blob(data=b"\x00\x01", mime_type="application/octet-stream")
    ),
}


async def _file(stage, part):
    async def save(tool_context) -> int:
        """Saves."""
        await tool_context.save_artifact("user:other", types.Part(text="other"))
        return await tool_context.save_artifact("file", part)

    load_step = Call("load_artifacts", {"artifact_names": ["file", "missing", "user:other"]})
    agent = stage.agent(
        "agent",
        call("save"),
        load_step,
        "Read.",
        "Next.",
        tools=[save, stage.ns.load_artifacts_tool],
    )
    await stage.open(agent)
    await stage.say()
    await stage.say("next")


for _name, _part in FILES.items():
    add(Case(f"a model loads {_name}", partial(_file, part=_part)))


@case()
async def a_model_loads_nothing(stage):
    answers = Call("load_artifacts", {"artifact_names": []}), Call("load_artifacts", {}), "Read."
    await stage.open(stage.agent("agent", *answers, tools=[stage.ns.load_artifacts_tool]))
    await stage.say()


# Choices and loop ends


@case()
async def a_choice_in_several_turns(stage):
    answers = (
        call("get_user_choice", options=["a", "b"]),
        "You took a.",
        [Say("Now:"), call("get_user_choice", options=["c"])],
        "You said something.",
        "Next.",
    )
    await stage.open(stage.agent("agent", *answers, tools=[stage.ns.get_user_choice_tool]))
    await stage.say("choose")
    await stage.say(stage.answer(stage.call("get_user_choice"), result="a"))
    await stage.say("again")
    await stage.say("neither")
    await stage.say(stage.answer(stage.call("get_user_choice"), result="c"))


@case()
async def a_choice_beside_a_tool(stage):
    answers = [call("look"), call("get_user_choice", options=["a"])], "You took a."
    await stage.open(stage.agent("agent", *answers, tools=[stage.ns.get_user_choice_tool, look]))
    await stage.say()
    await stage.say(stage.answer(stage.call("get_user_choice"), 1, result="a"))


async def _exit(stage, batch, nested):
    worker = stage.agent("worker", "Work.", "Work.", "Work.")
    checker = stage.agent("checker", "Go on.", batch, "Never.", tools=[stage.ns.exit_loop, look])
    loop = stage.ns.LoopAgent(name="loop", max_iterations=4, sub_agents=[worker, checker])
    root = loop
    if nested:
        after = stage.agent("after", "After.")
        root = stage.ns.SequentialAgent(name="seq", sub_agents=[loop, after])
    await stage.open(root)
    await stage.say()


for _nested in (False, True):
    _where = " within a sequence" if _nested else ""
    add(
        Case(
            f"a loop is left{_where}",
            partial(_exit, batch=[call("exit_loop")], nested=_nested),
        )
    )
    add(
        Case(
            f"a loop is left beside another call{_where}",
            partial(_exit, batch=[call("look"), call("exit_loop")], nested=_nested),
        )
    )
    add(
        Case(
            f"a loop is left with words{_where}",
            partial(_exit, batch=["Enough.", call("exit_loop")], nested=_nested),
        )
    )


@case()
async def exit_loop_outside_a_loop(stage):
    await stage.open(
        stage.agent("agent", call("exit_loop"), "Never.", "Next.", tools=[stage.ns.exit_loop])
    )
    await stage.say()
    await stage.say("next")


# What an agent with an input schema receives from the user


class Asked(BaseModel):
    """What the agent is asked."""

    country: str


MESSAGES_OF_USERS = Difference(
    "Messages of the user to an agent with an input schema",
    here="They are told to the agent as they are: the schema is for who calls it as a tool or gives"
    " it a task.",
    there="As root the agent is not asked; the run ends with ValidationError, unless the message is"
    " JSON that fits.",
    why="People write sentences; an agent that others call should be tried alone, too.",
)


async def _told(stage, message):
    await stage.open(stage.agent("agent", "Paris.", input_schema=Asked))
    await stage.say(message)


add(Case("a root with an input schema is told JSON", partial(_told, message='{"country": "F"}')))
add(
    Case(
        "a root with an input schema is told a sentence",
        partial(_told, message="What is the capital of France?"),
        MESSAGES_OF_USERS,
    )
)


@case()
async def http_options_of_a_run_and_of_its_agent(stage):
    of_agent = types.HttpOptions(headers={"x-a": "1", "x-b": "1"}, timeout=1)
    of_run = types.HttpOptions(
        base_url="http://r",
        headers={"x-b": "2"},
        timeout=2,
        extra_body={"x": 1},
        retry_options=types.HttpRetryOptions(attempts=2),
    )
    config = types.GenerateContentConfig(http_options=of_agent)
    await stage.open(stage.agent("agent", "Hi.", "Ho.", generate_content_config=config))
    await stage.say()
    await stage.say("again", run_config=stage.ns.RunConfig(http_options=of_run))


@case()
async def callbacks_note_what_no_event_tells(stage):
    """Events carry only the labels of the run, whatever callbacks add to them."""
    stage.words.add("noted")

    class Labeller(stage.ns.BasePlugin):
        async def on_user_message_callback(self, *, invocation_context, user_message):
            stage.note("labels", dict(stage.ns.CallbackContext(invocation_context).custom_metadata))

        async def on_event_callback(self, *, invocation_context, event):
            if event.is_final_response():
                return stage.ns.Event(author=event.author, custom_metadata={"plugin": 1})
            return None

    def noting(callback_context, llm_request):
        callback_context.custom_metadata.setdefault("noted", []).append(len(llm_request.contents))

    def seen(tool_context) -> str:
        """Tells."""
        return f"{tool_context.custom_metadata}"

    answers = call("seen"), "Done.", "Next."
    agent = stage.agent("agent", *answers, tools=[seen], before_model_callback=noting)
    await stage.open(agent, plugins=[Labeller(name="labeller")])
    await stage.say(run_config=stage.ns.RunConfig(custom_metadata={"job": 7}))
    await stage.say("next")
