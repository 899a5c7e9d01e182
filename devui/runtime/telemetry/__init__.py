"""OpenTelemetry for runs: google-adk's spans, metrics and log records (adk-runtime 13).

devui doesn't load OpenTelemetry until a provider has been set up (see `switch`).
"""

from devui.runtime.exports import lazy

__all__ = ["ContentCapturingMode", "TelemetryConfig"]

__getattr__ = lazy(__name__, {"ContentCapturingMode": "context", "TelemetryConfig": "context"})
