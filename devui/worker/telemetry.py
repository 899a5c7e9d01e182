"""Whether a worker exports telemetry: by the variables that `adk web` goes by."""

import logging
import os
from collections.abc import Callable
from importlib import import_module

from devui.worker.engines.kit import Kit

logger = logging.getLogger(__name__)

_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_OF_SIGNAL = "OTEL_EXPORTER_OTLP_{}_ENDPOINT"
_SIGNALS = ("TRACES", "METRICS", "LOGS")


def start_exporting(app: str, kit: Kit) -> Callable[[], None]:
    """Set up exporters where a variable names an endpoint; returns what sends the rest.

    A provider that the app's own code has set up stays, and so do its exporters. An environment
    without the packages for it is told so in the app's output.
    """
    signals = [each for each in _SIGNALS if _is_wanted(each)]
    if not signals:
        return _nothing
    try:
        exporters = import_module("devui.worker.telemetry_exporters")
    except ImportError as error:
        logger.warning(
            "%s is set, but nothing is exported: %s. Install"
            " opentelemetry-exporter-otlp-proto-http into the agents' environment.",
            _ENDPOINT,
            error,
        )
        return _nothing
    set_up: Callable[..., Callable[[], None]] = exporters.set_up
    return set_up(app, signals, instrumented=kit.name == "google-adk")


def _is_wanted(signal: str) -> bool:
    return bool(os.environ.get(_ENDPOINT) or os.environ.get(_OF_SIGNAL.format(signal)))


def _nothing() -> None:
    """There is nothing to send."""
