"""Data files in messages, set aside for code to read (adk-runtime 10.5)."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from itertools import compress, count
from typing import TYPE_CHECKING

from google.genai import types

from devui.runtime.code_executors.code_execution_utils import File
from devui.runtime.flows.llm_flows.growing_map import GrowingMap

if TYPE_CHECKING:
    from devui.runtime.code_executors.base_code_executor import BaseCodeExecutor
    from devui.runtime.code_executors.code_executor_context import CodeExecutorContext
    from devui.runtime.models.llm_request import LlmRequest

_LOADERS = {"text/csv": (".csv", "pandas.read_csv")}
"""Kinds of files that are set aside, with their ending and what reads them."""

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
    """What a model is told, so that it does not call for a tool that its provider has not."""
    begin, end = (executor.code_block_delimiters or [("```tool_code\n", "\n```")])[0]
    return (
        "You can run Python: the host runs the code that you write between these marks, and tells"
        f" you what it printed.\n\n{begin}print('hello'){end}\n\nThere is no other way to run"
        " code: do not call a tool for it."
    )


class DataFiles:
    """Finds the data files of a session's contents, of which it looks at each once."""

    def __init__(self) -> None:
        self._has_files = GrowingMap[types.Content, bool]()

    def __len__(self) -> int:
        return len(self._has_files)

    def set_aside(self, llm_request: LlmRequest, context: CodeExecutorContext) -> list[File]:
        """Put the names of data files in the place of their contents; all files there are."""
        known = {file.name for file in context.get_input_files()}
        contents = llm_request.contents
        for index in compress(count(), self._has_files(_has_files, contents)):
            parts = list(contents[index].parts or [])
            for place, file in _files(index + 1, parts):
                # Contents belong to the history, so a changed one is a new one.
                parts[place] = types.Part(text=f"\nThe file `{file.name}` is here.\n")
                if file.name not in known:
                    context.add_input_files([file])
            contents[index] = contents[index].model_copy(update={"parts": parts})
        return context.get_input_files()


def exploring_code(file: File) -> str:
    """Code that reads the file into a data frame and prints what is in it."""
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
    for place, part in enumerate(parts):
        blob = part.inline_data
        if blob is None or blob.mime_type not in _LOADERS or blob.data is None:
            continue
        name = f"data_{number}_{place + 1}{_LOADERS[blob.mime_type][0]}"
        yield place, File(name, base64.b64encode(blob.data).decode(), blob.mime_type)
