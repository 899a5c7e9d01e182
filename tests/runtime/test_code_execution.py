"""Execution of code that a model writes, and the result that the model reads."""

import os
import subprocess
import sys
import time

import pytest
from google.genai import types
from pydantic import Field, ValidationError

from devui.runtime.agents import LlmAgent
from devui.runtime.code_executors import (
    BaseCodeExecutor,
    BuiltInCodeExecutor,
    CodeExecutionInput,
    CodeExecutionResult,
    CodeExecutorContext,
    File,
    UnsafeLocalCodeExecutor,
)
from devui.runtime.flows.llm_flows._code_execution import exploring_code
from devui.runtime.models import Rule, Say, ScriptedLlm
from tests.kit.conversation import STREAMED, Conversation, outline, said
from tests.kit.stages import WHERE, runner_of, stored
from tests.kit.stages import run as run_runner

CODE = "Let me see.\n```python\nprint(6 * 7)\n```\nThe answer is 41."


class Table(BaseCodeExecutor):
    """A code executor that answers from a table, without running anything."""

    answers: dict[str, CodeExecutionResult] = Field(default_factory=dict)
    inputs: list[CodeExecutionInput] = Field(default_factory=list)

    def execute_code(self, invocation_context, code_execution_input):
        self.inputs.append(code_execution_input)
        return self.answers.get(code_execution_input.code, CodeExecutionResult(stdout="42"))


def coder(executor, *rules, model="gemini-scripted"):
    rules = rules or (Rule(user="tool_output", then=Say("It is 42.")), Rule(then=Say(CODE)))
    llm = ScriptedLlm(model=model, rules=rules)
    return LlmAgent(name="coder", model=llm, code_executor=executor)


async def test_code_is_run_and_the_model_reads_the_result():
    agent = coder(UnsafeLocalCodeExecutor())

    code, result, answer = await Conversation(agent).say("6 * 7?")

    assert said(code) == "Let me see.\n"
    assert code.content.parts[-1].executable_code.code == "print(6 * 7)"
    assert result.content.parts[0].code_execution_result.output.strip().endswith("42")
    assert result.has_trailing_code_execution_result()
    assert not result.is_final_response()
    assert said(answer) == "It is 42."
    _, reply, output = outline(agent.model.requests[1].contents)
    assert reply == ("model", ["Let me see.\n", "```tool_code\nprint(6 * 7)\n```"])
    assert output[0] == "user"
    assert output[1][0].startswith("```tool_output\nCode execution result:\n42")


async def test_streamed_code_is_run_once():
    executor = Table()
    rules = (
        Rule(user="tool_output", then=Say("It is 42.")),
        Rule(then=Say(CODE, chunks=5)),
    )

    events = await Conversation(coder(executor, *rules)).say("6 * 7?", STREAMED)

    assert [each.code for each in executor.inputs] == ["print(6 * 7)"]
    assert said(events[-1]) == "It is 42."


async def test_code_is_no_longer_run_after_two_failures():
    failed = CodeExecutionResult(stderr="ZeroDivisionError")
    executor = Table(answers={"print(6 * 7)": failed})

    events = await Conversation(coder(executor, Rule(then=Say(CODE)))).say("6 * 7?")

    outcomes = [
        part.code_execution_result.outcome
        for event in events
        for part in event.content.parts
        if part.code_execution_result
    ]
    assert outcomes == [types.Outcome.OUTCOME_FAILED] * 2
    assert said(events[-1]) == CODE


async def test_files_of_the_code_become_artifacts():
    code_result = CodeExecutionResult(output_files=[File("plot.png", "cG5n", "image/png")])
    agent = coder(Table(answers={"print(6 * 7)": code_result}))
    conversation = Conversation(agent)

    _, result, _ = await conversation.say("plot")

    assert result.actions.artifact_delta == {"plot.png": 0}
    assert "`plot.png`" in result.content.parts[0].code_execution_result.output
    plot = await conversation.runner.artifact_service.load_artifact(
        app_name="app", user_id="user", session_id="s", filename="plot.png"
    )
    assert plot.inline_data.data == b"png"


async def test_the_error_for_files_without_an_artifact_service_names_it():
    code_result = CodeExecutionResult(output_files=[File("plot.png", b"png", "image/png")])
    conversation = Conversation(coder(Table(answers={"print(6 * 7)": code_result})))
    conversation.runner.artifact_service = None

    with pytest.raises(ValueError, match=r"plot\.png.*artifact_service"):
        await conversation.say("plot")


async def test_a_stateful_executor_gets_an_id_for_the_session():
    executor = Table(stateful=True)

    _, result, _ = await Conversation(coder(executor)).say("6 * 7?")

    assert executor.inputs[0].execution_id == "s"
    delta = result.actions.state_delta["_code_execution_context"]
    assert delta == {"execution_session_id": "s"}


async def test_built_in_code_execution_is_enabled_for_gemini():
    agent = coder(BuiltInCodeExecutor(), Rule(then=Say("42")))

    await Conversation(agent).say("6 * 7?")

    [tool] = agent.model.requests[0].config.tools
    assert tool.code_execution is not None


async def test_built_in_code_execution_is_refused_for_other_models():
    agent = coder(BuiltInCodeExecutor(), Rule(then=Say("42")), model="gpt-9")

    with pytest.raises(ValueError, match="'gpt-9' is not one"):
        await Conversation(agent).say("6 * 7?")


async def test_images_from_built_in_code_execution_become_artifacts():
    image = types.Part.from_bytes(data=b"png", mime_type="image/png")

    def draw(callback_context, llm_response):
        llm_response.content = types.Content(role="model", parts=[types.Part(text="A"), image])

    agent = coder(BuiltInCodeExecutor(), Rule(then=Say("drawn")))
    agent.after_model_callback = draw

    image_event, answer = await Conversation(agent).say("draw")

    [name] = image_event.actions.artifact_delta
    assert said(answer) == f"ASaved as artifact: {name}. "
    assert name.endswith(".png")


def run(code, **fields):
    return UnsafeLocalCodeExecutor(**fields).execute_code(None, CodeExecutionInput(code))


def test_failing_code_reports_its_exception():
    result = run("print('so far')\nraise SystemError('broken')")

    assert result.stdout == "so far\n"
    assert result.stderr.endswith("SystemError: broken\n")
    assert result.exit_code == 1


def test_warnings_of_successful_code_are_not_a_failure():
    result = run("import sys; print('ñ', file=sys.stderr); print('ñ')")

    assert (result.stdout, result.stderr, result.exit_code) == ("ñ\n", "", 0)


def test_code_that_exits_silently_with_an_error_status_is_a_failure():
    assert run("import os; os._exit(3)").stderr == "The code ended with status 3."


def test_code_and_its_children_are_killed_on_timeout():
    start, seconds = time.monotonic(), 1
    code = (
        "import subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print('started', flush=True)\n"
        "time.sleep(600)"
    )

    while not (result := run(code, timeout_seconds=seconds)).stdout:
        seconds *= 4  # too short for the code to start

    assert f"ended after {seconds} seconds" in result.stderr
    assert result.stdout == "started\n"
    # The child holds the pipes open, so `run` returns only once the child is gone too.
    assert time.monotonic() - start < 500


OWNER = """
import sys
from devui.runtime.code_executors import CodeExecutionInput, UnsafeLocalCodeExecutor
code = f"pipe = open({sys.argv[1]!r}, 'w'); import time; time.sleep(600)"
UnsafeLocalCodeExecutor().execute_code(None, CodeExecutionInput(code))
"""


def test_code_does_not_outlive_the_process_that_runs_it(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(fifo)])
    with fifo.open() as pipe:  # waits until the code has opened the other end
        start = time.monotonic()
        owner.kill()
        owner.wait()

        assert pipe.read() == ""  # waits until the code is gone

    assert time.monotonic() - start < 500


def with_table(text: str) -> types.Content:
    table = types.Blob(data=b"city,rain\nRome,3\n", mime_type="text/csv")
    return types.Content(role="user", parts=[types.Part(text=text), types.Part(inline_data=table)])


async def test_data_files_are_explored_once_and_available_to_the_models_code():
    code = exploring_code(File("data_1_2.csv", "", "text/csv"))
    compile(code, "exploring", "exec")
    answers = {code: CodeExecutionResult(stdout="1 row")}
    executor = Table(optimize_data_file=True, answers=answers)
    agent = coder(executor, Rule(user="42", then=Say("It is 42.")), Rule(then=Say(CODE)))
    runner = runner_of(agent)

    first = [e async for e in runner.run_async(**WHERE, new_message=with_table("How much rain?"))]

    explored, output, _, _, answer = first
    assert explored.content.parts[1].executable_code.code == code
    assert "data_1_2 = pandas.read_csv('data_1_2.csv')" in code
    assert output.content.parts[0].code_execution_result.output.strip().endswith("1 row")
    assert said(answer) == "It is 42."
    [file] = executor.inputs[0].input_files
    assert (file.name, file.data()) == ("data_1_2.csv", b"city,rain\nRome,3\n")
    assert executor.inputs[1].input_files == [file]
    contents = outline(agent.model.requests[0].contents)
    assert "data_1_2.csv" in contents[0][1][1]
    assert agent.model.requests[0].contents[0].parts[1].inline_data is None
    session = await stored(runner)
    assert session.events[0].content.parts[1].inline_data.data == b"city,rain\nRome,3\n"
    assert session.state["_code_execution_context"] == {"processed_input_files": ["data_1_2.csv"]}

    second = await run_runner(runner, "And now?")
    assert [said(event) for event in second if said(event)][-1] == "It is 42."
    assert [each.code for each in executor.inputs].count(code) == 1


def test_the_code_executor_context_stores_its_values():
    state: dict = {}
    context = CodeExecutorContext(state)
    context.set_execution_id("x")
    context.add_input_files([File("a.csv", "YQ==", "text/csv")])
    context.add_processed_file_names(["a.csv"])
    for _ in range(2):
        context.increment_error_count("e-1")
    context.update_code_execution_result("e-1", "print(1)", "1", "")
    again = CodeExecutorContext({**state, **context.get_state_delta()})
    assert again.get_execution_id() == "x"
    assert again.get_processed_file_names() == ["a.csv"]
    assert [file.data() for file in again.get_input_files()] == [b"a"]
    assert again.get_error_count("e-1") == 2
    again.reset_error_count("e-1")
    assert again.get_error_count("e-1") == 0
    again.clear_input_files()
    assert (again.get_input_files(), again.get_processed_file_names()) == ([], [])


def test_a_traceback_shows_only_the_models_code():
    error = run("def f():\n    raise KeyError('k')\nf()").stderr

    assert error.count('File "<code>"') == error.count("File ") == 2


@pytest.mark.parametrize("field", ["stateful", "optimize_data_file"])
def test_unsupported_settings_of_the_local_executor_are_refused(field):
    with pytest.raises(ValidationError, match=field):
        UnsafeLocalCodeExecutor(**{field: True})
