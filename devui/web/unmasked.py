"""What comes back from somebody who saw it without its secrets, with the secrets in place again."""

import json
from typing import Any

from devui.debugger.secrets.redaction import MARK, restored
from devui.web.services import Services


async def unmasked(services: Services, value: Any, *originals: Any) -> Any:
    """The value; texts of it that are still as they were shown become those of an original."""
    if MARK not in json.dumps(value):
        return value
    redactor = services.view.hiding()
    for original in originals:
        value = restored(value, original, redactor)
    return value


async def unmasked_hold(services: Services, run: str, value: Any) -> Any:
    """The same for what is put in the place of something that is held."""
    position, live = await services.runs.position(run), services.runs.under_way(run)
    last = [hold.last_result for hold in live.stepper.holds if hold.last_result] if live else []
    return await unmasked(services, value, *(hold["held"] for hold in position["holds"]), *last)
