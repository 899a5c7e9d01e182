"""Placeholders for missing results, such as those of pending jobs (adk-runtime 9.3, 9.4).

Services refuse a conversation in which a call has no result.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from google.genai import types

from devui.runtime.copying import copy_with

NO_RESULT = "There is no result: the call was not finished."
"""What the model gets as the result."""


def with_all_results(contents: Iterable[types.Content]) -> list[types.Content]:
    """Return the contents with a response for each call, right after the calls.

    Gemini doesn't look for responses anywhere else.
    """
    whole: list[types.Content] = []
    calls: list[types.FunctionCall] = []
    for is_models, turn in groupby(contents, lambda content: content.role == "model"):
        members = list(turn)
        whole += members if is_models else _completed(members, calls)
        calls = [call for each in members for call in _calls(each)] if is_models else []
    return whole + _completed([], calls)


def _calls(content: types.Content) -> list[types.FunctionCall]:
    return [part.function_call for part in content.parts or () if part.function_call]


def _responses(content: types.Content) -> list[types.FunctionResponse]:
    return [part.function_response for part in content.parts or () if part.function_response]


def _completed(
    contents: list[types.Content], calls: list[types.FunctionCall]
) -> list[types.Content]:
    """Add the missing responses to the contents that follow the calls."""
    counts = Counter(one.id or one.name for each in contents for one in _responses(each))
    missing = []
    for call in calls:
        key = call.id if counts[call.id] else call.name
        if counts[key]:
            counts[key] -= 1
        else:
            missing.append(_unfinished(call))
    if not missing:
        return contents
    place = next((i for i in reversed(range(len(contents))) if _responses(contents[i])), None)
    if place is None:
        return [types.Content(role="user", parts=missing), *contents]
    content = copy_with(contents[place], parts=[*(contents[place].parts or ()), *missing])
    return [*contents[:place], content, *contents[place + 1 :]]


def _unfinished(call: types.FunctionCall) -> types.Part:
    response = types.FunctionResponse(id=call.id, name=call.name, response={"error": NO_RESULT})
    return types.Part(function_response=response)
