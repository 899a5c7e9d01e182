"""Restores the secrets in values that come back from a reader who saw them redacted."""

import json
from typing import Any

from devui.debugger.secrets.redaction import MARK, restored
from devui.web.services import Services


async def restore_secrets(services: Services, value: Any, *originals: Any) -> Any:
    """Return the value with each text that is still as it was shown replaced by the original."""
    if MARK not in json.dumps(value):
        return value
    redactor = services.view.hiding()
    for original in originals:
        value = restored(value, original, redactor)
    return value


async def restore_held_secrets(services: Services, run: str, value: Any) -> Any:
    """Restore the secrets of a value that replaces something held in a run."""
    position, live = await services.runs.position(run), services.runs.under_way(run)
    last = [hold.last_result for hold in live.stepper.holds if hold.last_result] if live else []
    return await restore_secrets(
        services, value, *(hold["held"] for hold in position["holds"]), *last
    )
