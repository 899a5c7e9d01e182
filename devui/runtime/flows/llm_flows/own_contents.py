"""Contents for code of others, which may change them in place (adk-runtime 7.3).

A request has the contents of the session's events themselves: to copy a whole conversation for each
request would take longer than all else. Only where code runs that may change them, it gets copies.
"""

from collections.abc import Sequence

from google.genai import types

from devui.runtime.copying import altered, json_copy


def own_contents(contents: Sequence[types.Content]) -> list[types.Content]:
    """Copies, down to the arguments of calls; files are shared, and what is no Content stays."""
    return [_own(each) if isinstance(each, types.Content) else each for each in contents]


def _own(content: types.Content) -> types.Content:
    if content.parts is None:
        return altered(content)
    return altered(content, parts=[_own_part(part) for part in content.parts])


def _own_part(part: types.Part) -> types.Part:
    call, response = part.function_call, part.function_response
    if call is not None:
        return altered(part, function_call=altered(call, args=json_copy(call.args)))
    if response is not None:
        own = altered(response, response=json_copy(response.response))
        return altered(part, function_response=own)
    return altered(part)
