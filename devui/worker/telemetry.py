"""Starts a worker's telemetry, controlled by the variables that `adk web` uses."""

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
    """Set up exporters if a variable names an endpoint; return a function that flushes them.

    A provider that the app's own code has set up stays, as do its exporters. If packages are
    missing, the app's output says so.
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
    """Flush nothing."""
