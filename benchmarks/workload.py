"""The measured work: an agent with a scripted model, for any runtime with ADK's names.

Only the standard library and the runtime under test are imported, so that the same file runs in an
environment where devui is not installed.
"""

import asyncio
import importlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any

REPLY = "Mild and cloudy in the morning, a light wind from the west; warm enough by noon. " * 2
QUESTION = "What will the weather be like tomorrow, and should I take a jacket?"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One kind of turn."""

    tools: int = 0
    """Tool calls before the answer, one after another."""
    chunks: int = 0
    """Fragments of the answer; 0 if it isn't streamed."""
    pause: float = 0.0
    """Seconds between two fragments."""

    @property
    def events(self) -> int:
        """The number of events that a caller of `run_async` sees."""
        return 2 * self.tools + self.chunks + 1


SCENARIOS = {
    "text": Scenario(),
    "tool1": Scenario(tools=1),
    "tool10": Scenario(tools=10),
    "stream200": Scenario(chunks=200),
    "stream50": Scenario(chunks=50, pause=0.02),
}


def get_weather(city: str, day: str) -> dict[str, Any]:
    """Get the forecast for a city.

    Args:
        city: Name of the city.
        day: Which day.
    """
    return {"city": city, "day": day, "summary": "mild, some clouds", "high": 17, "low": 9}


class Runtime:
    """A package with ADK's class names in ADK's modules, such as `devui.runtime`."""

    def __init__(self, package: str) -> None:
        def module(name: str) -> Any:
            return importlib.import_module(f"{package}.{name}")

        self.module = module
        self.types = importlib.import_module("google.genai.types")
        self.agent: Callable[..., Any] = module("agents").LlmAgent
        self.runner: Callable[..., Any] = module("runners").InMemoryRunner
        self.base_llm: type[Any] = module("models").BaseLlm
        self.response: Callable[..., Any] = module("models.llm_response").LlmResponse
        self.usage = self.types.GenerateContentResponseUsageMetadata(
            prompt_token_count=120, candidates_token_count=40, total_token_count=160
        )
        config = module("agents.run_config")
        self.streamed = config.RunConfig(streaming_mode=config.StreamingMode.SSE)
        self.whole = config.RunConfig(streaming_mode=config.StreamingMode.NONE)

    def content(self, **part: Any) -> Any:
        """Return a content of the model with one part."""
        return self.types.Content(role="model", parts=[self.types.Part(**part)])

    def question(self) -> Any:
        """Return the user's message."""
        return self.types.Content(role="user", parts=[self.types.Part(text=QUESTION)])

    def bench_agent(self, name: str) -> Any:
        """Return the agent of a scenario, with a model that answers at once."""
        scenario = SCENARIOS[name]
        return self.agent(
            name=f"bench_{name}",
            model=_model(self, scenario)(model=f"scripted-{name}"),
            instruction="You are a weather assistant. Answer in short sentences.",
            tools=[get_weather] if scenario.tools else [],
        )


def _model(runtime: Runtime, scenario: Scenario) -> type[Any]:
    async def generate(
        self: Any, llm_request: Any, stream: bool = False
    ) -> AsyncGenerator[Any, None]:
        await asyncio.sleep(0)  # other tasks run, as during a request to a real model
        done = _count_results(llm_request.contents)
        if done < scenario.tools:
            args = {"city": f"City {done}", "day": "tomorrow"}
            call = runtime.types.FunctionCall(name="get_weather", args=args)
            content = runtime.content(function_call=call)
            yield runtime.response(content=content, usage_metadata=runtime.usage)
            return
        words = [f"word{number:03d} " for number in range(scenario.chunks)] if stream else []
        for word in words:
            yield runtime.response(content=runtime.content(text=word), partial=True)
            await asyncio.sleep(scenario.pause)
        content = runtime.content(text="".join(words) or REPLY)
        yield runtime.response(content=content, usage_metadata=runtime.usage)

    return type("BenchLlm", (runtime.base_llm,), {"generate_content_async": generate})


def _count_results(contents: list[Any]) -> int:
    """Return the number of tool results at the end of a request."""
    done = 0
    for content in reversed(contents):
        results = sum(1 for part in content.parts or [] if part.function_response)
        if content.role == "user" and not results:
            break
        done += results
    return done
