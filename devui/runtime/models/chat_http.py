"""Answers of chat completions as they come over HTTP (adk-runtime 9.5)."""

import json
import random
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

from devui.runtime.http_client import httpx
from devui.runtime.models.chat_dialect import Json

# When a request for a chat completion is sent once more, as OpenAI's own client does it.
#
# Source: adk-runtime 9.5.
#
# Only what has not been answered yet is sent again: of an answer that breaks off, parts may have
# been shown already.


NOT_ANSWERED = (httpx.NetworkError, httpx.RemoteProtocolError, httpx.ConnectTimeout)
"""What goes wrong with connections in passing."""

_PASSING = frozenset({408, 409, 429})
_FIRST_SECONDS, _LONGEST_SECONDS = 0.5, 8.0
_LONGEST_TOLD_SECONDS = 60.0


def may_pass(status: int) -> bool:
    """Whether an HTTP status tells of something that may be over soon."""
    return status in _PASSING or status >= httpx.codes.INTERNAL_SERVER_ERROR


def pause(attempt: int, headers: Mapping[str, str] | None = None) -> float:
    """Seconds to wait after a failed attempt, counted from 0.

    Args:
        attempt: How many failed before it.
        headers: Those of the answer: a service may say how long to wait.
    """
    try:
        seconds = float((headers or {}).get("retry-after", ""))
    except ValueError:  # none, or a date
        seconds = -1.0
    if 0 <= seconds <= _LONGEST_TOLD_SECONDS:
        return seconds
    # Not all at once: who is refused together would come back together.
    longest: float = min(_FIRST_SECONDS * 2**attempt, _LONGEST_SECONDS)
    return longest * random.uniform(0.75, 1.0)  # noqa: S311  no secret


_LINE_END = re.compile(rb"[\r\n]")
_BODY_LENGTH = 500
"""Characters of a body to show."""


class ChatCompletionError(Exception):
    """The service refused the request, failed, or answered otherwise than in this protocol."""

    def __init__(self, status: int, message: str) -> None:
        self.status_code = status
        """The HTTP status; 0 if the failure came within a stream."""
        super().__init__(message)


def completion(response: Any, body: bytes, url: str) -> Json:
    """The whole answer that a response has as its body.

    Raises ChatCompletionError if it has none: some services tell their errors with HTTP 200, and
    a wrong address may lead to a page.
    """
    answer = _parse(body, url, response.status_code)
    if error := answer.get("error"):
        raise ChatCompletionError(
            response.status_code, f"{url} answered with an error: {_reason(error)}"
        )
    if not answer.get("choices"):
        raise ChatCompletionError(
            response.status_code, f"{url} gave no answer: {_start(body)}. Is base_url right?"
        )
    return answer


async def chunks(response: Any, url: str) -> AsyncIterator[Json]:
    """The chunks of a stream of server-sent events, up to its end mark.

    Raises ChatCompletionError if the stream tells an error or holds no answer, or ends without
    its mark and before the service has said why the answer ends: half of an answer must not pass
    for the whole.
    """
    began = ended = False
    async with aclosing(_data(response)) as pieces:
        async for data in pieces:
            if data == b"[DONE]":
                ended = ended or began
                break
            chunk = _parse(data, url, 0)
            if error := chunk.get("error"):
                raise ChatCompletionError(0, f"The service broke off its answer: {_reason(error)}")
            began = began or bool(chunk.get("choices"))
            ended = ended or has_ended(chunk)
            yield chunk
    if not ended:
        media = response.headers.get("content-type", "of no type")
        raise broken_off(f"{url} ended its answer ({media})")


async def _data(response: Any) -> AsyncGenerator[bytes, None]:
    """What the events of a stream hold, which is a line of each.

    The client's own lines end at characters of Unicode too, which may stand in an answer.
    """
    rest = b""
    async for piece in response.aiter_bytes():
        *lines, rest = _LINE_END.split(rest + piece)
        for line in lines:
            if data := _data_of(line):
                yield data
    if data := _data_of(rest):
        yield data


def _data_of(line: bytes) -> bytes:
    """What follows `data:`; nothing for a comment, another field, or the end of an event."""
    field, _, value = line.partition(b":")
    return value.strip() if field == b"data" else b""


def has_ended(chunk: Json) -> bool:
    """Whether a chunk says why the answer ends."""
    return any(choice.get("finish_reason") for choice in chunk.get("choices") or [])


def broken_off(what: str) -> ChatCompletionError:
    """The error of a stream that ends too early."""
    return ChatCompletionError(
        0,
        f"{what} before the answer was complete. Ask again; if it stays so, does base_url lead to"
        " a service that streams chat completions?",
    )


def failure(status: int, body: bytes, url: str) -> ChatCompletionError:
    """What a response with an HTTP error says, and what to do."""
    try:
        reason = _reason(json.loads(body).get("error"))
    except (ValueError, AttributeError):
        reason = _start(body)
    advice = {
        401: " Set OPENAI_API_KEY in the environment or in the .env file beside the agent.",
        404: " Are the model's name and base_url right?",
        429: " Wait a little, or use another model or key.",
    }
    message = f"{url} answered with HTTP {status}: {reason.rstrip('.')}.{advice.get(status, '')}"
    return ChatCompletionError(status, message)


def _parse(body: bytes, url: str, status: int) -> Json:
    try:
        value = json.loads(body)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    raise ChatCompletionError(
        status, f"{url} gave no answer, but sent: {_start(body)}. Is base_url right?"
    )


def _start(body: bytes) -> str:
    return body.decode(errors="replace")[:_BODY_LENGTH]


def _reason(error: Any) -> str:
    return str(error.get("message") or error) if isinstance(error, dict) else str(error)
