"""Gemini's context cache, which holds what requests have in common (adk-runtime 9.6).

For an app with a `context_cache_config`, Google keeps the instruction, the tools and the first
contents, and requests contain only the rest. All that is known of a cache is recorded in the
agent's latest answer, so the cache is found again after a restart.
"""

import hashlib
import json
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any

from google.genai import Client, types
from google.genai.errors import ClientError
from pydantic_core import to_json

from devui.runtime.agents.context_cache_config import ContextCacheConfig
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.models.llm_response import CacheMetadata, LlmResponse
from devui.runtime.platform.time import get_time

Arguments = dict[str, Any]
"""The arguments of a call to google-genai: `model`, `contents` and `config`."""

_SMALLEST = {"gemini-2.5-": 2048, "gemini-3": 4096}
"""The fewest tokens that Gemini caches, by the prefix of the model's name."""
_LOST = (403, 404)
"""The statuses for a missing cache; Google doesn't reveal whether it ever existed."""
logger = logging.getLogger(__name__)


async def answers_with_cache(
    client: Client,
    ask: Callable[[Arguments], AsyncGenerator[LlmResponse, None]],
    llm_request: LlmRequest,
    arguments: Arguments,
) -> AsyncGenerator[LlmResponse, None]:
    """Yield the responses, with the cache's metadata in complete ones.

    If Gemini has lost the cache, or it was created with another key, the whole request is sent
    instead, and the next request creates another cache.

    Raises:
        google.genai.errors.APIError: the service refused the request, or failed.
    """
    short, cache = await _with_cache(client, llm_request, arguments)
    is_answered = False
    try:
        async with aclosing(ask(short)) as responses:
            async for response in responses:
                is_answered = True
                yield _with_cache_metadata(response, cache)
    except ClientError as error:
        if is_answered or cache is None or short is arguments or error.code not in _LOST:
            raise
        name = cache.cache_name
        logger.warning("Gemini no longer has cache %r; sending the whole request: %s", name, error)
    else:
        return
    noted = _noted(client, arguments, cache.contents_count)
    async with aclosing(ask(arguments)) as responses:
        async for response in responses:
            yield _with_cache_metadata(response, noted)


def _with_cache_metadata(response: LlmResponse, cache: CacheMetadata | None) -> LlmResponse:
    if cache is not None and not response.partial:
        response.cache_metadata = cache
    return response


async def _with_cache(
    client: Client, llm_request: LlmRequest, arguments: Arguments
) -> tuple[Arguments, CacheMetadata | None]:
    """Replace what a cache holds with its name; return the arguments and the answer's metadata.

    A cache is created if the second request begins like the first. If it can't be created, the
    whole request is sent, and a warning says why. The metadata is None if caching is off.
    """
    config, metadata = llm_request.cache_config, llm_request.cache_metadata
    if config is None:
        return arguments, None
    before_user = _before_last_user(arguments["contents"])
    if metadata is None:
        return arguments, _noted(client, arguments, before_user)
    is_same = _fingerprint(client, arguments, metadata.contents_count) == metadata.fingerprint
    if is_same and _is_usable(metadata, config):
        return _beside(metadata, arguments), metadata
    if metadata.cache_name is not None:
        await _delete(client, metadata.cache_name)
    if not is_same:
        return arguments, _noted(client, arguments, before_user)
    noted = _noted(client, arguments, max(metadata.contents_count, before_user))
    if not _is_large_enough(llm_request, arguments, noted.contents_count):
        return arguments, noted
    cache = await _create(client, config, arguments, noted)
    return (arguments, noted) if cache is None else (_beside(cache, arguments), cache)


def _before_last_user(contents: Sequence[types.Content]) -> int:
    """Count the contents before the user's latest ones."""
    count = len(contents)
    while count and contents[count - 1].role == "user":
        count -= 1
    return count


def _noted(client: Client, arguments: Arguments, count: int) -> CacheMetadata:
    """Return metadata of what could be cached, for the next request to compare with."""
    return CacheMetadata(fingerprint=_fingerprint(client, arguments, count), contents_count=count)


def _fingerprint(client: Client, arguments: Arguments, count: int) -> str:
    """Hash what a cache of `count` contents would hold, and where, ignoring the order of tools."""
    config: types.GenerateContentConfig = arguments["config"]
    content = {
        "vertex": bool(client.vertexai),
        "model": arguments["model"],
        "instruction": config.system_instruction,
        "tools": sorted(map(_text, config.tools or [])),
        "tool_config": config.tool_config,
        "contents": arguments["contents"][:count],
    }
    return hashlib.sha256(_text(content).encode()).hexdigest()[:16]


def _text(value: Any) -> str:
    json_text = to_json(value, exclude_none=True, serialize_unknown=True)
    return json.dumps(json.loads(json_text), sort_keys=True)


def _is_usable(cache: CacheMetadata, config: ContextCacheConfig) -> bool:
    """Return whether the cache exists, hasn't expired and isn't due for renewal."""
    return (
        cache.cache_name is not None
        and cache.expire_time is not None
        and get_time() < cache.expire_time
        and cache.invocations_used is not None
        and cache.invocations_used <= config.cache_intervals
    )


def _is_large_enough(llm_request: LlmRequest, arguments: Arguments, count: int) -> bool:
    """Return whether the first `count` contents have enough tokens to be cached.

    Their number is estimated from the tokens of the latest request and their share of this one.
    """
    config, tokens = llm_request.cache_config, llm_request.cacheable_contents_token_count
    if config is None or tokens is None or tokens < config.min_tokens:
        return False
    name = str(arguments["model"]).rpartition("/")[2]
    smallest = next((least for start, least in _SMALLEST.items() if name.startswith(start)), 0)
    whole = _characters(arguments, len(arguments["contents"]))
    return not whole or tokens * _characters(arguments, count) / whole >= smallest


def _characters(arguments: Arguments, count: int) -> int:
    config: types.GenerateContentConfig = arguments["config"]
    parts = [part for each in arguments["contents"][:count] for part in each.parts or []]
    settings = [each for each in (config.system_instruction, config.tools) if each]
    return sum(map(len, map(_text, settings))) + sum(len(part.text or "") for part in parts)


async def _create(
    client: Client, config: ContextCacheConfig, arguments: Arguments, noted: CacheMetadata
) -> CacheMetadata | None:
    """Create a cache of what `noted` covers; return None if Gemini doesn't."""
    request_config: types.GenerateContentConfig = arguments["config"]
    now = get_time()
    try:
        cache = await client.aio.caches.create(
            model=arguments["model"],
            config=types.CreateCachedContentConfig(
                contents=arguments["contents"][: noted.contents_count] or None,
                system_instruction=request_config.system_instruction,
                tools=request_config.tools,
                tool_config=request_config.tool_config,
                ttl=config.ttl_string,
                display_name=f"devui-{int(now)}-{noted.contents_count}",
                http_options=config.create_http_options,
            ),
        )
    except Exception as error:  # noqa: BLE001  the answer doesn't depend on the cache
        logger.warning("Gemini couldn't create a cache; sending the whole request: %s", error)
        return None
    if not cache.name:
        logger.warning("Gemini created a cache without a name; sending the whole request.")
        return None
    ends = cache.expire_time.timestamp() if cache.expire_time else now + config.ttl_seconds
    return noted.model_copy(
        update={
            "cache_name": cache.name,
            "expire_time": ends,
            "created_at": now,
            "invocations_used": 1,
        }
    )


async def _delete(client: Client, name: str) -> None:
    try:
        await client.aio.caches.delete(name=name)
    except Exception as error:  # noqa: BLE001  the cache expires anyway
        logger.info("Gemini's cache %r was not deleted; it will expire on its own: %s", name, error)


def _beside(cache: CacheMetadata, arguments: Arguments) -> Arguments:
    """Return the arguments without what the cache holds; the last content is always sent."""
    contents = arguments["contents"]
    update = {
        "cached_content": cache.cache_name,
        "system_instruction": None,
        "tools": None,
        "tool_config": None,
    }
    return {
        **arguments,
        "contents": contents[min(cache.contents_count, max(len(contents) - 1, 0)) :],
        "config": arguments["config"].model_copy(update=update),
    }
