"""What a request tells a model that uses its provider's cache."""

import time

from google.genai import types

from tests.differential.case import case

CACHE = {"cache_intervals": 5, "ttl_seconds": 60, "min_tokens": 10}


def _told(stage):
    """Return a callback that notes what the request says about the cache."""

    def look(callback_context, llm_request):
        config, metadata = llm_request.cache_config, llm_request.cache_metadata
        stage.note("config", config and config.model_dump(mode="json"))
        stage.note("metadata", metadata and metadata.model_dump(mode="json"))
        stage.note("tokens", llm_request.cacheable_contents_token_count)
        stage.note("interaction", llm_request.previous_interaction_id)

    return look


def _answers(stage, name, *, counted=True):
    """Return a model whose answers name a cache, or only a fingerprint."""

    class Caching(stage.ns.BaseLlm):
        async def generate_content_async(self, llm_request, stream=False):
            used = llm_request.cache_metadata
            metadata = {"fingerprint": "f", "contents_count": len(llm_request.contents)}
            if name:
                uses = used.invocations_used if used else 1
                metadata |= {"cache_name": name, "invocations_used": uses, "expire_time": 9e9}
            size = types.GenerateContentResponseUsageMetadata(prompt_token_count=7)
            yield stage.ns.LlmResponse(
                content=types.Content(role="model", parts=[types.Part(text="Hello.")]),
                cache_metadata=stage.ns.CacheMetadata(**metadata),
                usage_metadata=size if counted else None,
            )

    return Caching(model="caching")


async def _play(stage, model, cache):
    agent = stage.agent("agent", model=model, before_model_callback=_told(stage))
    await stage.open(agent, cache=cache)
    for _ in range(3):
        await stage.say()


@case()
async def a_cache_is_told_to_the_next_request(stage):
    await _play(stage, _answers(stage, "caches/1"), CACHE)


@case()
async def a_fingerprint_is_told_to_the_next_request(stage):
    await _play(stage, _answers(stage, None, counted=False), CACHE)


@case()
async def no_cache_is_told_of_without_a_config(stage):
    await _play(stage, _answers(stage, "caches/1"), None)


@case()
async def each_agent_has_a_cache_of_its_own(stage):
    first = stage.agent("first", model=_answers(stage, "caches/1"))
    second = stage.agent(
        "second", model=_answers(stage, "caches/2"), before_model_callback=_told(stage)
    )
    pair = stage.ns.SequentialAgent(name="pair", sub_agents=[first, second])
    await stage.open(pair, cache=CACHE)
    await stage.say()
    await stage.say()


@case()
async def an_output_schema_by_its_older_name(stage):
    request = stage.ns.LlmRequest()
    request.set_output_schema(base_model={"type": "STRING"})
    stage.note("config", request.config.model_dump(mode="json", exclude_none=True))
    try:
        request.set_output_schema()
    except ValueError:
        stage.note("refused", "no schema")


@case()
async def a_cache_that_ends_soon(stage):
    for seconds in (None, -10, 60, 600):
        fields = {"fingerprint": "f" * 16, "contents_count": 1}
        if seconds is not None:
            fields |= {
                "cache_name": "c",
                "expire_time": time.time() + seconds,
                "invocations_used": 1,
            }
        stage.note(seconds, stage.ns.CacheMetadata(**fields).expire_soon)
