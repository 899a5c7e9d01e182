"""Plays turns under OpenTelemetry on one runtime and writes the exported data as JSON.

python -m tests.differential.spans google.adk
"""

import asyncio
import json
import logging
import os
import re
import sys
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from google.genai import types
from opentelemetry import _logs, metrics, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

try:
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter
except ImportError:
    from opentelemetry.sdk._logs.export import InMemoryLogExporter as InMemoryLogRecordExporter

from tests.differential.script import Boom, Raise, Raw, Say, call, transfer
from tests.differential.stage import Stage

SETTINGS: dict[str, dict[str, str]] = {
    "as it comes": {},
    "content in spans": {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "span_and_event"},
    "content in logs": {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"},
    "schema 1": {"ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN": "1"},
    "schema 1 without content": {
        "ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN": "1",
        "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS": "false",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true",
    },
    "schema 1 with the latest conventions": {
        "ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN": "1",
        "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
    },
}

_ID = re.compile(r"(?:adk-|e-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIMES = {"gen_ai.compaction.start_timestamp", "gen_ai.compaction.end_timestamp"}
_EVENT = "gcp.vertex.agent.event_id"
_LEFT_OUT = {
    "gen_ai.compaction.prompt_chars_saved",  # devui doesn't record it
    "gen_ai.tool.description",  # each runtime words those of built-in tools differently
}
_OWN_WORDS = re.compile(r"You are an agent|BEGIN_QUOTED|^For (context|your info)|no tool|name:\n")
"""Texts that each runtime words differently for models."""

Play = Callable[[Stage], Awaitable[Any]]


def counted(text: str, **more: Any) -> Raw:
    """Return an answer with token counts."""
    usage = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=11,
        candidates_token_count=5,
        thoughts_token_count=2,
        cached_content_token_count=3,
    )
    content = types.Content(role="model", parts=[types.Part(text=text)])
    fields = {"content": content, "finish_reason": types.FinishReason.STOP} | more
    return Raw({"usage_metadata": usage, **fields})


async def text(stage: Stage) -> None:
    """An answer with token counts, to a request with settings."""
    config = types.GenerateContentConfig(top_p=0.5, max_output_tokens=64)
    about = {
        "instruction": "Be short.",
        "description": "Answers.",
        "generate_content_config": config,
    }
    agent = stage.agent("agent", counted("Hello.", model_version="scripted-001"), **about)
    await stage.open(agent)
    await stage.say("hi")


async def streamed(stage: Stage) -> None:
    """An answer streamed in fragments."""
    await stage.open(stage.agent("agent", Say("Hello there.", chunks=3)))
    await stage.stream("hi")


def _city(city: str) -> dict[str, Any]:
    """Say what the weather is."""
    return {"city": city, "weather": "fine"}


def _slow(city: str) -> str:
    """Say something else."""
    return f"{city}?"


async def tool(stage: Stage) -> None:
    """A tool call and the answer after it."""
    agent = stage.agent("agent", call("_city", city="Rome"), counted("Fine."), tools=[_city])
    await stage.open(agent)
    await stage.say("weather?")


async def tools_at_once(stage: Stage) -> None:
    """Two tool calls in one answer."""
    answers = [[call("_city", city="Rome"), call("_slow", city="Oslo")], "Fine."]
    await stage.open(stage.agent("agent", *answers, tools=[_city, _slow]))
    await stage.say("weather?")


async def failing_tool(stage: Stage) -> None:
    """A tool that raises ends the run."""

    def breaks(city: str) -> str:
        """Break."""
        raise Boom(city)

    await stage.open(stage.agent("agent", call("breaks", city="Rome"), tools=[breaks]))
    await stage.say("weather?")


async def failing_model(stage: Stage) -> None:
    """A model that raises ends the run."""
    await stage.open(stage.agent("agent", Raise("no model")))
    await stage.say("weather?")


async def recovered_model(stage: Stage) -> None:
    """A callback replaces the model's error with an answer."""

    async def recover(callback_context, llm_request, error):
        content = types.Content(role="model", parts=[types.Part(text="Sorry.")])
        return stage.ns.LlmResponse(content=content)

    await stage.open(stage.agent("agent", Raise("no model"), on_model_error_callback=recover))
    await stage.say("weather?")


async def answering_callback(stage: Stage) -> None:
    """A callback answers in place of the model."""

    def before(callback_context, llm_request):
        content = types.Content(role="model", parts=[types.Part(text="Never mind.")])
        return stage.ns.LlmResponse(content=content)

    await stage.open(stage.agent("agent", "unused", before_model_callback=before))
    await stage.say("weather?")


async def unknown_tool(stage: Stage) -> None:
    """The model calls an unknown tool."""
    await stage.open(stage.agent("agent", call("nothing"), "Well.", tools=[_city]))
    await stage.say("weather?")


async def transferred(stage: Stage) -> None:
    """An agent transfers to another."""
    second = stage.agent("second", "I am the second.", description="The other.")
    await stage.open(stage.agent("first", transfer("second"), sub_agents=[second]))
    await stage.say("go")


async def sequence(stage: Stage) -> None:
    """Agents run one after the other."""
    agents = [stage.agent(name, f"{name} speaks") for name in ("one", "two")]
    await stage.open(stage.ns.SequentialAgent(name="root", sub_agents=agents))
    await stage.say("go")


async def parallel(stage: Stage) -> None:
    """Agents run in parallel."""
    agents = [stage.agent(name, f"{name} speaks") for name in ("one", "two")]
    await stage.open(stage.ns.ParallelAgent(name="root", sub_agents=agents))
    await stage.say("go")


async def agent_as_tool(stage: Stage) -> None:
    """A model calls an agent as a tool."""
    expert = stage.agent("expert", "Yes.", description="Knows.")
    tools = [stage.ns.AgentTool(agent=expert)]
    await stage.open(stage.agent("agent", call("expert", request="so?"), "Yes.", tools=tools))
    await stage.say("go")


async def graph(stage: Stage) -> None:
    """A workflow of a function, a nested workflow and an agent."""
    ns = stage.ns

    def first(node_input: Any) -> str:
        return "one"

    def inner(node_input: Any) -> str:
        return "two"

    below = ns.Workflow(name="below", edges=[(ns.START, inner)])
    last = stage.agent("last", "Done.")
    await stage.open(ns.Workflow(name="graph", edges=[(ns.START, first, below, last)]))
    await stage.say("go")


async def failing_graph(stage: Stage) -> None:
    """A node raises."""
    ns = stage.ns

    def breaks(node_input: Any) -> str:
        raise Boom("node")

    await stage.open(ns.Workflow(name="graph", edges=[(ns.START, breaks)]))
    await stage.say("go")


async def left_early(stage: Stage) -> None:
    """The caller leaves after the first event."""
    agents = [stage.agent(name, f"{name} speaks") for name in ("one", "two")]
    await stage.open(stage.ns.SequentialAgent(name="root", sub_agents=agents))
    await stage.say("go", leave=1)


async def own_spans(stage: Stage) -> None:
    """Spans of the author's own code are nested where they are opened."""
    tracer = trace.get_tracer("mine")

    def measured(city: str) -> str:
        """Say something, in a span."""
        with tracer.start_as_current_span("mine in a tool"):
            return city

    async def body(ctx):
        with tracer.start_as_current_span("mine in an agent"):
            yield stage.ns.event("custom", "one", invocation_id=ctx.invocation_id)
            with tracer.start_as_current_span("mine behind a yield"):
                pass

    asks = stage.agent("asks", call("measured", city="Rome"), "Fine.", tools=[measured])
    agents = [stage.custom("custom", body), asks]
    await stage.open(stage.ns.SequentialAgent(name="root", sub_agents=agents))
    with tracer.start_as_current_span("mine around all"):
        await stage.say("go")


async def compacted(stage: Stage) -> None:
    """Old events are compacted."""
    agent = stage.agent("agent", "one", "two")
    summarizer = stage.ns.LlmEventSummarizer(llm=stage.model("In short."))
    compaction = {"compaction_interval": 1, "overlap_size": 0, "summarizer": summarizer}
    await stage.open(agent, compaction=compaction)
    await stage.say("go " * 200)


PLAYS: tuple[Play, ...] = (
    text,
    streamed,
    tool,
    tools_at_once,
    failing_tool,
    failing_model,
    recovered_model,
    answering_callback,
    unknown_tool,
    transferred,
    sequence,
    parallel,
    agent_as_tool,
    graph,
    failing_graph,
    left_early,
    own_spans,
    compacted,
)


class Exported:
    """Collects everything exported in this process."""

    def __init__(self) -> None:
        self.spans = InMemorySpanExporter()
        self.logs = InMemoryLogRecordExporter()
        self.reader = InMemoryMetricReader()
        tracing, logging_ = TracerProvider(), LoggerProvider()
        tracing.add_span_processor(SimpleSpanProcessor(self.spans))
        logging_.add_log_record_processor(SimpleLogRecordProcessor(self.logs))
        trace.set_tracer_provider(tracing)
        metrics.set_meter_provider(MeterProvider([self.reader]))
        _logs.set_logger_provider(logging_)
        self._counts: dict[str, Any] = {}

    def take(self, events: Iterable[Any]) -> dict[str, Any]:
        """Return what was exported since the last call, with normalized ids and times."""
        name = _names(events)
        spans = sorted(self.spans.get_finished_spans(), key=lambda span: span.start_time)
        logs = [_log(each.log_record, name) for each in self.logs.get_finished_logs()]
        self.spans.clear()
        self.logs.clear()
        return {"spans": _tree(spans, name), "logs": logs, "metrics": self._metrics()}

    def _metrics(self) -> list[Any]:
        """Return each metric with its count and, unless it measures time, its sum since last time.

        Metrics that google-adk calls experimental are off by default; devui has none of them.
        """
        data = self.reader.get_metrics_data()
        rows = []
        for scope in data.resource_metrics[0].scope_metrics if data else ():
            for metric in scope.metrics:
                for point in metric.data.data_points:
                    about = dict(sorted(point.attributes.items()))
                    key = json.dumps([metric.name, about])
                    count, total = self._counts.get(key, (0, 0))
                    self._counts[key] = (point.count, point.sum)
                    if point.count == count or metric.name.startswith("adk.experimental"):
                        continue
                    grown = None if metric.unit == "s" else point.sum - total
                    how = [scope.scope.name, metric.unit, metric.description]
                    bounds = [round(each, 3) for each in point.explicit_bounds]
                    rows.append([metric.name, about, point.count - count, grown, *how, bounds])
        return sorted(rows, key=json.dumps)


def _names(events: Iterable[Any]) -> Callable[[Any], Any]:
    """Return a function that replaces ids by numbers of events, of calls or of other ids."""
    event_list = list(events)
    places = {event.id: f"event {n}" for n, event in enumerate(event_list)}
    calls = [call.id for event in event_list for call in event.get_function_calls()]
    places |= {call: f"call {n}" for n, call in enumerate(calls)}

    def name(value: Any) -> Any:
        if isinstance(value, str):
            return _ID.sub(lambda m: places.setdefault(m[0], f"id {len(places)}"), value)
        if isinstance(value, dict):
            return {key: name(each) for key, each in value.items()}
        return [name(each) for each in value] if isinstance(value, list | tuple) else value

    return name


def _tree(spans: list[ReadableSpan], name: Callable[[Any], Any]) -> list[Any]:
    ids = {span.context.span_id for span in spans}

    def below(parent: int | None) -> list[Any]:
        return [
            _span(span, name) | {"below": below(span.context.span_id)}
            for span in spans
            if (span.parent.span_id if span.parent and span.parent.span_id in ids else None)
            == parent
        ]

    return below(None)


def _span(span: ReadableSpan, name: Callable[[Any], Any]) -> dict[str, Any]:
    attributes = {
        key: "time" if key in _TIMES else name(_text(value))
        for key, value in sorted(span.attributes.items())
        if key not in _LEFT_OUT
    }
    if any(suffix in span.name for suffix in ("_city", "_slow")):
        attributes.pop(
            _EVENT, None
        )  # for several calls, google-adk records the id of an event that isn't in the session
    scope = span.instrumentation_scope
    errors = {  # google-adk records the exception of a tool twice
        (event.name, event.attributes["exception.type"], event.attributes["exception.message"])
        for event in span.events
    }
    return {
        "name": span.name,
        "kind": span.kind.name,
        "scope": [scope.name, scope.version, scope.schema_url],
        "status": [span.status.status_code.name, span.status.description],
        "raised": sorted(errors),
        "attributes": attributes,
    }


def _text(value: Any) -> Any:
    """Parse JSON texts, whose fields have no order."""
    if isinstance(value, str) and value[:1] in {"{", "["}:
        return _settled(json.loads(value))
    return value


def _settled(value: Any) -> Any:
    """Drop nulls, which depend on the version of google-genai, and descriptions and own wording."""
    if isinstance(value, dict):
        fields = {key: each for key, each in value.items() if each is not None}
        return {key: _settled(each) for key, each in fields.items() if key != "description"}
    if isinstance(value, str) and _OWN_WORDS.search(value):
        return "own words"
    return [_settled(each) for each in value] if isinstance(value, list) else value


def _log(record: Any, name: Callable[[Any], Any]) -> Any:
    plain = json.loads(json.dumps([record.body, dict(record.attributes or {})], default=str))
    return [record.event_name, *name(_settled(plain)), bool(record.span_id)]


async def played(root: str, exported: Exported, play: Play) -> Any:
    """Return what a turn exports."""
    stage = Stage(root)
    async with asyncio.timeout(60):
        await play(stage)
    where = {"app_name": "app", "user_id": "u", "session_id": "s"}
    session = await stage.runner.session_service.get_session(**where)
    return exported.take(session.events)


def main() -> None:
    """Play all turns with all settings."""
    logging.disable()
    root, exported = sys.argv[1], Exported()
    records: dict[str, Any] = {}
    for setting, variables in SETTINGS.items():
        for name in {name for each in SETTINGS.values() for name in each}:
            os.environ.pop(name, None)
        os.environ.update(variables)
        for play in PLAYS:
            case = f"{play.__name__.replace('_', ' ')}, {setting}"
            records[case] = asyncio.run(played(root, exported, play))
    json.dump(records, sys.stdout)


if __name__ == "__main__":
    main()
