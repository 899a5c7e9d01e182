"""An agent that runs without devui and exports its traces; run by an interpreter with google-adk.

python -m tests.kit.traced_agent [ROOT]
"""

import asyncio
import sys

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from tests.differential.script import call
from tests.differential.spans import _city, counted
from tests.differential.stage import Stage


async def main() -> None:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    stage = Stage(sys.argv[1] if len(sys.argv) > 1 else "google.adk")
    answers = [call("_city", city="Rome"), counted("It is fine in Rome.")]
    agent = stage.agent("weather", *answers, tools=[_city], instruction="Be brief.")
    await stage.open(agent)
    await stage.say("How is the weather in Rome?")
    provider.shutdown()


asyncio.run(main())
