"""OpenTelemetry providers with exporters, as `adk web` sets them up; loaded by `telemetry`."""

import contextlib
import logging
from collections.abc import Callable, Collection
from importlib import import_module

from opentelemetry import _logs, metrics, trace
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

logger = logging.getLogger(__name__)

_MILLISECONDS_TO_SEND = 2000


def set_up(app: str, signals: Collection[str], *, instrumented: bool) -> Callable[[], None]:
    """Export these signals under the app's name, or under `OTEL_SERVICE_NAME` if it is set.

    Return a function that flushes the exporters, for the end of the process.
    """
    resource = Resource({SERVICE_NAME: app}).merge(OTELResourceDetector().detect())
    sends: list[Callable[[int], object]] = []
    if "TRACES" in signals and "Proxy" in type(trace.get_tracer_provider()).__name__:
        tracing = TracerProvider(resource=resource)
        tracing.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        trace.set_tracer_provider(tracing)
        sends.append(tracing.force_flush)
    if "METRICS" in signals and "Proxy" in type(metrics.get_meter_provider()).__name__:
        reader = PeriodicExportingMetricReader(OTLPMetricExporter())
        meters = MeterProvider([reader], resource, shutdown_on_exit=False)
        metrics.set_meter_provider(meters)
        sends.append(meters.force_flush)
    if "LOGS" in signals and "Proxy" in type(_logs.get_logger_provider()).__name__:
        logs = LoggerProvider(resource=resource)
        logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
        _logs.set_logger_provider(logs)
        sends.append(logs.force_flush)
    if instrumented:
        _instrument()

    def send_rest() -> None:
        for send in sends:
            with contextlib.suppress(Exception):  # nobody is left to act on an error
                send(_MILLISECONDS_TO_SEND)

    return send_rest


def _instrument() -> None:
    """Trace google-genai's calls, as `adk web` does, if `google-adk[otel]` is installed."""
    try:
        module = import_module("opentelemetry.instrumentation.google_genai")
        module.GoogleGenAiSdkInstrumentor().instrument()
    except ModuleNotFoundError:
        return
    except Exception:
        logger.warning("google-genai could not be instrumented.", exc_info=True)
