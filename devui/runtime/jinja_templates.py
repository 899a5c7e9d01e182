"""Templates in Jinja, which are given nothing but data (adk-runtime 6.3)."""

from collections.abc import Mapping
from typing import Any

try:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment
except ImportError as error:
    raise ImportError(
        "Instructions in Jinja need the package jinja2: pip install jinja2."
    ) from error

_environment = SandboxedEnvironment(enable_async=True, undefined=StrictUndefined)


async def render(template: str, values: Mapping[str, Any]) -> str:
    """The template with these values, functions of which may be async.

    Raises:
        jinja2.TemplateError: the template has a mistake, names what there is not, or reaches for
            what the sandbox keeps from it.
    """
    return await _environment.from_string(template).render_async(values)
