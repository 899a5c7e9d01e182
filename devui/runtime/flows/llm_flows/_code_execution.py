"""Applies the agent's code executor to requests and answers (adk-runtime 7.2, 10.5)."""

from __future__ import annotations

import base64
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from datetime import datetime
from itertools import compress, count, takewhile
from typing import TYPE_CHECKING, Any

from google.genai import types

from devui.runtime.agents.invocation_events import lost_code
from devui.runtime.calling import call
from devui.runtime.code_executors.built_in_code_executor import BuiltInCodeExecutor
from devui.runtime.code_executors.code_execution_utils import (
    CodeExecutionInput,
    CodeExecutionResult,
    File,
    as_plain_text,
    code_part,
    find_code,
    result_part,
)
from devui.runtime.code_executors.code_executor_context import CodeExecutorContext
from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions
from devui.runtime.flows.llm_flows._nl_planning import GrowingMap, reads_answers
from devui.runtime.flows.llm_flows.processors import RequestProcessor, ResponseProcessor, agent_of
from devui.runtime.mistakes import brief, place
from devui.runtime.platform.time import get_time
from devui.runtime.sessions.latest_sessions import LatestSessions

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.llm_agent_settings import LlmAgentSettings
    from devui.runtime.code_executors.base_code_executor import BaseCodeExecutor
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.models.llm_response import LlmResponse


# Data files in messages, set aside for code to read (adk-runtime 10.5).


_LOADERS = {"text/csv": (".csv", "pandas.read_csv")}
"""The media types of data files, with their extension and the function that reads them."""

_EXPLORE = """\
import pandas

{variable} = {loader}({name!r})
print(f"{{len({variable})}} rows, {{len({variable}.columns)}} columns")
with pandas.option_context("display.max_columns", None, "display.width", None):
    print(
        pandas.DataFrame(
            {{
                "type": {variable}.dtypes,
                "missing": {variable}.isna().sum(),
                "different": {variable}.nunique(),
                "examples": {variable}.apply(lambda column: str(list(column.unique()[:5]))[:64]),
            }}
        )
    )
"""


def how_to_run_code(executor: BaseCodeExecutor) -> str:
    """Return the instruction that keeps a model from calling a tool that its provider lacks."""
    begin, end = (executor.code_block_delimiters or [("```tool_code\n", "\n```")])[0]
    return (
        "You can run Python: the host runs the code that you write between these marks, and tells"
        f" you what it printed.\n\n{begin}print('hello'){end}\n\nThere is no other way to run"
        " code: do not call a tool for it."
    )


class DataFiles:
    """Finds the data files in a session's contents, and looks at each content once."""

    def __init__(self) -> None:
        self._has_files = GrowingMap[types.Content, bool]()

    def __len__(self) -> int:
        return len(self._has_files)

    def set_aside(self, llm_request: LlmRequest, context: CodeExecutorContext) -> list[File]:
        """Replace data files in the contents with their names; return all input files."""
        names = {file.name for file in context.get_input_files()}
        contents = llm_request.contents
        for index in compress(count(), self._has_files(_has_files, contents)):
            parts = list(contents[index].parts or [])
            for position, file in _files(index + 1, parts):
                # The content belongs to the history, so it is copied rather than changed.
                parts[position] = types.Part(text=f"\nThe file `{file.name}` is here.\n")
                if file.name not in names:
                    context.add_input_files([file])
            contents[index] = contents[index].model_copy(update={"parts": parts})
        return context.get_input_files()


def exploring_code(file: File) -> str:
    """Return code that reads the file into a data frame and prints an overview."""
    stem = re.sub(r"\W", "_", file.name.rpartition(".")[0], flags=re.ASCII) or "data"
    variable = f"_{stem}" if stem[0].isdigit() else stem
    loader = _LOADERS[file.mime_type][1]
    return _EXPLORE.format(variable=variable, loader=loader, name=file.name)


def _has_files(content: types.Content) -> bool:
    return content.role == "user" and any(map(_is_file, content.parts or ()))


def _is_file(part: types.Part) -> bool:
    blob = part.inline_data
    return blob is not None and blob.mime_type in _LOADERS and blob.data is not None


def _files(number: int, parts: list[types.Part]) -> Iterator[tuple[int, File]]:
    for position, part in enumerate(parts):
        blob = part.inline_data
        if blob is None or blob.mime_type not in _LOADERS or blob.data is None:
            continue
        name = f"data_{number}_{position + 1}{_LOADERS[blob.mime_type][0]}"
        yield position, File(name, base64.b64encode(blob.data).decode(), blob.mime_type)


class CodeExecution:
    """Applies executors to requests, and caches the contents made for them."""

    def __init__(self) -> None:
        self._sessions = LatestSessions()

    async def run(
        self, ctx: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Run code that is due, and show the model code and results as text."""
        name, executor = agent_of(ctx).name, agent_of(ctx).code_executor
        if executor is None:
            return
        if isinstance(executor, BuiltInCodeExecutor):
            executor.process_llm_request(llm_request)
        else:
            if executor.optimize_data_file:
                files = self._sessions.of(ctx.session, name, DataFiles)
                async with aclosing(_explore(ctx, executor, llm_request, files)) as events:
                    async for event in events:
                        yield event
            if result_event := await _run_lost(ctx, executor):
                yield result_event
                llm_request.contents.append(result_event.content or types.Content())
        blocks, result = executor.code_block_delimiters, executor.execution_result_delimiters
        plain = self._sessions.of(
            ctx.session, agent_of(ctx).name, GrowingMap[types.Content, types.Content]
        )
        llm_request.contents = plain(
            as_plain_text, llm_request.contents, blocks[0] if blocks else ("", ""), result
        )


async def _run_lost(ctx: InvocationContext, executor: BaseCodeExecutor) -> Event | None:
    """Run code that an interrupted run had not started or not finished (resume seed)."""
    code = lost_code(ctx, agent_of(ctx).name)
    if code is None:
        return None
    context = CodeExecutorContext(ctx.session.state)
    return await _executed(
        ctx, executor, context, CodeExecutionInput(code, context.get_input_files())
    )


async def _explore(
    ctx: InvocationContext,
    executor: BaseCodeExecutor,
    llm_request: LlmRequest,
    files: DataFiles,
) -> AsyncGenerator[Event, None]:
    """Examine new data files; the model reads the findings as if it had made them itself."""
    llm_request.append_instructions([how_to_run_code(executor)])
    if _failures(ctx) >= executor.error_retry_attempts:
        return
    context = CodeExecutorContext(ctx.session.state)
    for file in files.set_aside(llm_request, context):
        if file.name in context.get_processed_file_names():
            continue
        introduction = types.Part(text=f"I look at the file `{file.name}` first.")
        code = exploring_code(file)
        content = types.Content(role="model", parts=[introduction, code_part(code)])
        llm_request.contents.append(content)
        yield _event(ctx, content, EventActions())
        context.add_processed_file_names([file.name])
        result_event = await _executed(ctx, executor, context, CodeExecutionInput(code, [file]))
        yield result_event
        if result_event.content is not None:
            llm_request.contents.append(result_event.content)


def _has_executor(agent: LlmAgentSettings) -> bool:
    return agent.code_executor is not None


async def _process(ctx: InvocationContext, response: LlmResponse) -> AsyncGenerator[Event, None]:
    """Run the code in a whole answer; the events of code and result then replace the answer."""
    agent = agent_of(ctx)
    executor = agent.code_executor
    if executor is None or response.partial or response.content is None:
        return
    if isinstance(executor, BuiltInCodeExecutor):
        actions = await _save_images(ctx, response)
        if actions.artifact_delta:
            yield _event(ctx, None, actions)
        return
    if _failures(ctx) >= executor.error_retry_attempts:
        return
    match = find_code(
        response.content, executor.code_block_delimiters, is_planned=reads_answers(agent)
    )
    if match is None:
        return
    response.content = None
    yield _event(ctx, match.content, EventActions())
    context = CodeExecutorContext(ctx.session.state)
    yield await _executed(
        ctx, executor, context, CodeExecutionInput(match.code, context.get_input_files())
    )


async def _executed(
    ctx: InvocationContext,
    executor: BaseCodeExecutor,
    context: CodeExecutorContext,
    code_input: CodeExecutionInput,
) -> Event:
    """Run code and return the event of its result."""
    if executor.stateful:
        code_input.execution_id = context.get_execution_id() or ctx.session.id
        context.set_execution_id(code_input.execution_id)
    result: Any = await call(executor.execute_code, ctx, code_input)
    if not isinstance(result, CodeExecutionResult):
        raise TypeError(
            f"{place(executor.execute_code)} returned {brief(result)}; it must"
            " return a CodeExecutionResult, such as CodeExecutionResult(stdout=...)."
        )
    actions = EventActions(state_delta=context.get_state_delta())
    for file in result.output_files:
        blob = types.Blob(data=file.data(), mime_type=file.mime_type)
        await _save(ctx, file.name, blob, actions)
    return _event(ctx, types.Content(role="model", parts=[result_part(result)]), actions)


def _failures(ctx: InvocationContext) -> int:
    """Return how many times in a row the agent's code last failed in this invocation."""
    name, invocation_id = agent_of(ctx).name, ctx.invocation_id
    recent = takewhile(lambda e: e.invocation_id == invocation_id, reversed(ctx.session.events))
    outcomes = (
        part.code_execution_result.outcome
        for event in recent
        if event.author == name and event.branch == ctx.branch and event.content
        for part in event.content.parts or []
        if part.code_execution_result
    )
    failed = types.Outcome.OUTCOME_FAILED
    return sum(1 for _ in takewhile(lambda outcome: outcome == failed, outcomes))


async def _save_images(ctx: InvocationContext, response: LlmResponse) -> EventActions:
    """Save the images of an answer as artifacts, and replace them with notes."""
    actions = EventActions()
    content = response.content
    parts = []
    for number, part in enumerate((content.parts if content else None) or []):
        blob = part.inline_data
        if blob is None or not (blob.mime_type or "").startswith("image/"):
            parts.append(part)
            continue
        name = blob.display_name or _image_name(blob, number)
        await _save(ctx, name, blob, actions)
        parts.append(types.Part(text=f"Saved as artifact: {name}. "))
    if content is not None and actions.artifact_delta:
        response.content = content.model_copy(update={"parts": parts})
    return actions


def _image_name(blob: types.Blob, number: int) -> str:
    timestamp = datetime.fromtimestamp(get_time()).strftime("%Y%m%d_%H%M%S")
    return f"{timestamp}_{number}.{(blob.mime_type or '').partition('/')[2]}"


async def _save(ctx: InvocationContext, name: str, blob: types.Blob, actions: EventActions) -> None:
    if ctx.artifact_service is None:
        raise ValueError(
            f"The code of agent {agent_of(ctx).name!r} created the file {name!r}, but the Runner"
            " has no artifact_service to store it. Pass artifact_service=... to the Runner."
        )
    actions.artifact_delta[name] = await ctx.artifact_service.save_artifact(
        app_name=ctx.app_name,
        user_id=ctx.user_id,
        session_id=ctx.session.id,
        filename=name,
        artifact=types.Part(inline_data=types.Blob(data=blob.data, mime_type=blob.mime_type)),
    )


def _event(ctx: InvocationContext, content: types.Content | None, actions: EventActions) -> Event:
    return Event(
        invocation_id=ctx.invocation_id,
        author=agent_of(ctx).name,
        branch=ctx.branch,
        content=content,
        actions=actions,
    )


def code_execution() -> RequestProcessor:
    """Create the code execution processor of one flow."""
    return RequestProcessor(
        "code_execution",
        run=CodeExecution().run,
        applies=lambda ctx: agent_of(ctx).code_executor is not None,
    )


request_processor = code_execution()
"""For custom flows, which may share it."""
code_execution_response = ResponseProcessor("code_execution", applies=_has_executor, run=_process)
response_processor = code_execution_response
