"""Code written by a model: how it is found and run, and how its result is read."""

from functools import partial
from typing import Any

from google.genai import types

from tests.differential.case import Case, add, case
from tests.differential.differing import EMPTY_EVENTS, EXPLORED_FILES
from tests.differential.differing_files import MAIN
from tests.differential.script import Raw, Say, call

BLOCK = "Let me see.\n```python\nprint(6 * 7)\n```\nThe answer is 41."
ANSWERS = {
    "a block of Python": BLOCK,
    "a block of tool code": "```tool_code\nprint(1)\n```",
    "two blocks": "```python\none\n```\nand\n```python\ntwo\n```",
    "an empty block": "Nothing.\n```python\n\n```",
    "an unfinished block": "```python\nprint(1)",
    "a block of another language": "```bash\nls\n```",
    "no code": "Just words.",
}


def table(stage: Any, *results: dict[str, Any], **fields: Any) -> Any:
    """Return an executor that gives these results in order, and then always 42."""
    remaining = list(results)

    class Table(stage.ns.BaseCodeExecutor):
        def execute_code(self, invocation_context, code_execution_input):
            code_input = code_execution_input
            stage.note("run", code_input.code, len(code_input.input_files), code_input.execution_id)
            return stage.ns.CodeExecutionResult(
                **(remaining.pop(0) if remaining else {"stdout": "42"})
            )

    return Table(**fields)


async def _code(stage, answer, streamed):
    answer_step = Say(answer, chunks=4 if streamed else 1)
    agent = stage.agent("agent", answer_step, "Done.", "Next.", code_executor=table(stage))
    await stage.open(agent)
    await (stage.stream if streamed else stage.say)("go")
    await stage.say("next")


for _name, _answer in ANSWERS.items():
    for _streamed in (False, True):
        _how = ", streamed" if _streamed else ""
        add(Case(f"code in {_name}{_how}", partial(_code, answer=_answer, streamed=_streamed)))


def _raw(*parts: types.Part) -> Raw:
    return Raw({"content": types.Content(role="model", parts=list(parts))})


CODE_PART = types.Part(executable_code=types.ExecutableCode(code="print(1)", language="PYTHON"))
RESULT_PART = types.Part(
    code_execution_result=types.CodeExecutionResult(outcome="OUTCOME_OK", output="1")
)
PARTS = {
    "a part of its own": [types.Part(text="See:"), CODE_PART],
    "a part with its result": [CODE_PART, RESULT_PART, types.Part(text="It is 1.")],
    "a thought": [types.Part(text="```python\nx\n```", thought=True), types.Part(text="No code.")],
    "text beside a thought": [types.Part(text="Hm.", thought=True), types.Part(text=BLOCK)],
    "two text parts": [types.Part(text="```python\n"), types.Part(text="print(1)\n```")],
    "a result alone": [RESULT_PART],
}


async def _parts(stage, parts):
    executor = table(stage)
    await stage.open(stage.agent("agent", _raw(*parts), "Done.", "Next.", code_executor=executor))
    await stage.say("go")
    await stage.say("next")


for _name, _parts_ in PARTS.items():
    add(Case(f"code as {_name}", partial(_parts, parts=_parts_)))

RESULTS = {
    "output": [{"stdout": "42\n"}],
    "nothing": [{}],
    "an error": [{"stderr": "ZeroDivisionError"}],
    "output and an error": [{"stdout": "1", "stderr": "warning"}],
    "two errors": [{"stderr": "one"}, {"stderr": "two"}],
    "an error, a success and an error": [{"stderr": "one"}, {"stdout": "2"}, {"stderr": "three"}],
}


async def _results(stage, results):
    executor = table(stage, *results)
    answers = [BLOCK] * len(results)
    agent = stage.agent("agent", *answers, "Done.", BLOCK, "Again.", code_executor=executor)
    await stage.open(agent)
    await stage.say("go")
    await stage.say("once more")


for _name, _results_ in RESULTS.items():
    add(Case(f"code gives {_name}", partial(_results, results=_results_)))


async def _attempts(stage, attempts):
    failing = [{"stderr": f"error {i}"} for i in range(5)]
    executor = table(stage, *failing, error_retry_attempts=attempts)
    await stage.open(stage.agent("agent", *[BLOCK] * 6, code_executor=executor))
    await stage.say("go")


for _count in (0, 1, 3):
    add(Case(f"code may fail {_count} times", partial(_attempts, attempts=_count)))


@case()
async def code_makes_files(stage):
    files = [
        stage.ns.File(name="a.txt", content="YQ==", mime_type="text/plain"),
        stage.ns.File(name="b.png", content="Yg==", mime_type="image/png"),
    ]
    executor = table(stage, {"stdout": "ok", "output_files": files}, {"output_files": files[:1]})
    await stage.open(stage.agent("agent", BLOCK, BLOCK, "Done.", code_executor=executor))
    await stage.say("go")


@case()
async def executions_of_a_session_go_on_from_each_other(stage):
    executor = table(stage, stateful=True)
    await stage.open(stage.agent("agent", BLOCK, "Done.", BLOCK, "Done.", code_executor=executor))
    await stage.say("go")
    await stage.say("again")


@case()
async def code_has_marks_of_its_own(stage):
    marks = {
        "code_block_delimiters": [("<code>", "</code>")],
        "execution_result_delimiters": ("<out>", "</out>"),
    }
    answers = "Run <code>print(1)</code> now.", "Done.", "Next."
    await stage.open(stage.agent("agent", *answers, code_executor=table(stage, **marks)))
    await stage.say("go")
    await stage.say("next")


@case()
async def code_and_tools_and_callbacks(stage):
    def look() -> str:
        """Looks."""
        return "ok"

    def after(callback_context, llm_response):
        stage.note("after", len(llm_response.content.parts))

    agent = stage.agent(
        "agent",
        call("look"),
        BLOCK,
        "Done.",
        tools=[look],
        code_executor=table(stage),
        after_model_callback=after,
        output_key="said",
    )
    await stage.open(agent)
    await stage.say("go")


@case()
async def code_of_an_agent_with_a_planner(stage):
    answers = f"/*PLANNING*/ First.\n{BLOCK}", "/*FINAL_ANSWER*/ 42."
    planner = stage.ns.PlanReActPlanner()
    await stage.open(stage.agent("agent", *answers, planner=planner, code_executor=table(stage)))
    await stage.say("go")


@case()
async def code_of_a_sub_agent(stage):
    child = stage.agent("child", BLOCK, "Done.", "Next.", code_executor=table(stage))
    root = stage.agent("root", call("transfer_to_agent", agent_name="child"), sub_agents=[child])
    await stage.open(root)
    await stage.say("go")
    await stage.say("next")


@case()
async def code_runs_on_this_machine(stage):
    executor = stage.ns.UnsafeLocalCodeExecutor()
    await stage.open(stage.agent("agent", BLOCK, "Done.", code_executor=executor))
    await stage.say("go")


@case(differs=MAIN)
async def code_asks_for_its_name(stage):
    executor = stage.ns.UnsafeLocalCodeExecutor()
    code = "```python\nprint(__name__)\n```"
    await stage.open(stage.agent("agent", code, "Done.", code_executor=executor))
    await stage.say("go")


@case()
async def an_executor_raises(stage):
    class Broken(stage.ns.BaseCodeExecutor):
        def execute_code(self, invocation_context, code_execution_input):
            raise RuntimeError("boom")

    await stage.open(stage.agent("agent", BLOCK, "Done.", code_executor=Broken()))
    await stage.say("go")


async def _built_in(stage, image):
    model = stage.model(
        _raw(CODE_PART, RESULT_PART, *([image] if image else []), types.Part(text="There.")), "Ok."
    )
    model.model = "gemini-scripted"
    executor = stage.ns.BuiltInCodeExecutor()
    await stage.open(stage.ns.LlmAgent(name="agent", model=model, code_executor=executor))
    await stage.say("go")
    await stage.say("next")


PICTURE = types.Part(
    inline_data=types.Blob(data=b"png", mime_type="image/png", display_name="plot.png")
)
add(Case("a model runs its code itself", partial(_built_in, image=None), EMPTY_EVENTS))
add(
    Case(
        "a model runs its code itself and draws",
        partial(_built_in, image=PICTURE),
        EMPTY_EVENTS,
    )
)


@case()
async def a_model_that_cannot_run_code_itself(stage):
    executor = stage.ns.BuiltInCodeExecutor()
    await stage.open(stage.agent("agent", "Never.", code_executor=executor))
    await stage.say("go")


@case(differs=EXPLORED_FILES)
async def data_files_are_looked_at_by_code(stage):
    class Reader(stage.ns.BaseCodeExecutor):
        def execute_code(self, invocation_context, code_execution_input):
            code_input = code_execution_input
            stage.note(
                "run", [file.name for file in code_input.input_files], code_input.execution_id
            )
            return stage.ns.CodeExecutionResult(stdout="2 rows")

    executor = Reader(optimize_data_file=True, stateful=True)
    await stage.open(stage.agent("agent", BLOCK, "Two.", "Still two.", code_executor=executor))
    table = types.Blob(data=b"a,b\n1,2\n3,4\n", mime_type="text/csv")
    await stage.say([types.Part(text="How many?"), types.Part(inline_data=table)])
    await stage.say("Sure?")


CONTENTS = {
    "a block": [types.Part(text=BLOCK)],
    "two texts": [types.Part(text="One"), types.Part(text="```python\none\n```\ntwo")],
    "a thought": [types.Part(text=BLOCK, thought=True), types.Part(text="So be it.")],
    "code": [types.Part.from_executable_code(code="one", language="PYTHON"), types.Part(text="x")],
    "code and its result": [
        types.Part.from_executable_code(code="one", language="PYTHON"),
        types.Part.from_code_execution_result(outcome="OUTCOME_OK", output="1"),
    ],
    "a result": [types.Part.from_code_execution_result(outcome="OUTCOME_OK", output="1")],
    "nothing": None,
}


@case("what an executor of one's own is helped by")
async def _utils(stage):
    utils = stage.ns.CodeExecutionUtils
    for data in (b"words", b"d29yZHM=", b""):
        stage.note("encoded", utils.get_encoded_file_content(data).decode())
    for name, parts in CONTENTS.items():
        content = types.Content(role="model", parts=parts and [*parts])
        code = utils.extract_code_and_truncate_content(content, [("```python\n", "\n```")])
        converted = types.Content(role="model", parts=parts and [*parts])
        utils.convert_code_execution_parts(converted, ("<code>", "</code>"), ("<out>", "</out>"))
        stage.note(
            name, code, *(each.model_dump_json(exclude_none=True) for each in (content, converted))
        )
    files = [stage.ns.File(name="a.csv", content="YQ==")]
    for fields in ({"stdout": "1"}, {"stderr": "no"}, {"output_files": files}, {}):
        result = utils.build_code_execution_result_part(stage.ns.CodeExecutionResult(**fields))
        stage.note("result", result.model_dump_json(exclude_none=True))
    stage.note("code", utils.build_executable_code_part("1").model_dump_json(exclude_none=True))
