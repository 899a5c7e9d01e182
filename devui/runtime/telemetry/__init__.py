"""OpenTelemetry for runs: google-adk's spans, metrics and log records (adk-runtime 13).

Nothing of OpenTelemetry is loaded before somebody has set up a provider (`switch`).
"""

from devui.runtime.exports import lazy

__all__ = ["ContentCapturingMode", "TelemetryConfig"]

__getattr__ = lazy(__name__, {"ContentCapturingMode": "context", "TelemetryConfig": "context"})
