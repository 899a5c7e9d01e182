"""Options that several commands share, and ADK's options.

Each of ADK's options either works as in ADK, or prints what to do instead.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any, Final, Literal, get_args

import click

from devui.adk_options import INSTEAD, folder_beside, is_in_memory
from devui.interpreter import WORKER_PYTHON
from devui.wire.engines import EngineChoice

SERVED_BY: Final = "DEVUI_SERVED_BY"
"""The variable that tells a server who runs its apps: a file descriptor and a process id."""

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, one value per line."
)
engine_option = click.option(
    "--engine",
    type=click.Choice(get_args(EngineChoice)),
    default="auto",
    show_default=True,
    envvar="DEVUI_ENGINE",
    help="Engine to run the apps on; auto uses google-adk for apps that import it, if installed.",
)
python_option = click.option(
    "--python",
    type=click.Path(path_type=Path),
    envvar=WORKER_PYTHON,
    help="Interpreter or virtual environment to run agents in; it doesn't need devui.",
)


def json_text(value: Any) -> str:
    """Return a value as a line of JSON, as printed by all commands with `--json`."""
    return json.dumps(value, ensure_ascii=False)


Kind = Literal["flag", "switch", "text", "texts", "number"]
"""The form of an option: a flag, a flag with a `--no_` counterpart, or an option with a value."""


@dataclass(slots=True)
class Effects:
    """The effects of ADK's options, in devui's terms."""

    environment: dict[str, str] = field(default_factory=dict)
    """Environment variables for the agents' processes."""
    in_memory: bool = False
    data_dir: Path | None = None
    verbose: bool = False
    create_sessions: bool = False
    """Whether `/run` creates the session that it names."""
    advice: list[str] = field(default_factory=list)
    """A sentence for each option that has no effect."""


Effect = Callable[[Effects, Any], object]


@dataclass(frozen=True, slots=True)
class AdkOption:
    """An option of `adk`; if it has no effect, `INSTEAD` says what to do."""

    name: str
    kind: Kind
    effect: Effect | None = None
    short: str = ""

    @property
    def flags(self) -> tuple[str, ...]:
        """The declarations for click, with a parameter name that none of our options has."""
        off = self.name.replace("--", "--no_", 1) if self.kind == "switch" else ""
        both = f"{self.name}/{off}" if off else self.name
        return (*([self.short] if self.short else []), both, f"adk_{self.key}")

    @property
    def key(self) -> str:
        """The option's name as a keyword argument."""
        return self.name.removeprefix("--").replace("-", "_")


def _holds(effects: Effects, value: Any) -> None:
    """Do nothing: devui always behaves this way."""


def _verbose(effects: Effects, value: bool) -> None:
    effects.verbose = value


def _features(prefix: str) -> Effect:
    def effect(effects: Effects, value: Iterable[str]) -> None:
        names = (name.strip() for each in value for name in each.split(","))
        effects.environment |= {f"{prefix}{name}": "1" for name in names if name}

    return effect


def _variable(name: str) -> Effect:
    def effect(effects: Effects, value: Any) -> None:
        effects.environment[name] = str(value)

    return effect


def _reload(effects: Effects, value: bool) -> None:
    if not value:
        effects.advice.append("--no-reload has no effect: devui always reloads changed code")


def _local_storage(effects: Effects, value: bool) -> None:
    effects.in_memory = effects.in_memory or not value


def _sessions(effects: Effects, value: str) -> None:
    effects.in_memory = effects.in_memory or is_in_memory(value)
    effects.data_dir = folder_beside(value)
    if effects.data_dir is None and not is_in_memory(value):
        effects.advice.append(_sentence("--session_service_uri", "session_service_uri"))


def _artifacts(effects: Effects, value: str) -> None:
    if not is_in_memory(value):
        effects.advice.append(_sentence("--artifact_service_uri", "artifact_service_uri"))


def _plugins(effects: Effects, value: Iterable[str]) -> None:
    effects.environment["DEVUI_EXTRA_PLUGINS"] = ",".join(value)


def _create_sessions(effects: Effects, value: bool) -> None:
    effects.create_sessions = value


def _sentence(option: str, key: str) -> str:
    return f"{option} has no effect: {INSTEAD[key]}"


_COMMON: Final = (
    AdkOption("--enable_features", "texts", _features("ADK_ENABLE_")),
    AdkOption("--disable_features", "texts", _features("ADK_DISABLE_")),
    AdkOption("--session_service_uri", "text", _sessions),
    AdkOption("--artifact_service_uri", "text", _artifacts),
    AdkOption("--memory_service_uri", "text", _variable("DEVUI_MEMORY_SERVICE_URI")),
    AdkOption("--use_local_storage", "switch", _local_storage),
    AdkOption("--default_llm_model", "text", _variable("DEVUI_DEFAULT_MODEL")),
    AdkOption("--verbose", "flag", _verbose, short="-v"),
)
_SERVER: Final = (
    *_COMMON,
    AdkOption("--reload", "switch", _reload),
    AdkOption("--reload_agents", "flag", _holds),
    AdkOption("--max_llm_calls", "number", _variable("ADK_MAX_LLM_CALLS")),
    AdkOption("--with_ui", "flag", _holds),
    AdkOption("--auto_create_session", "flag", _create_sessions),
    AdkOption("--a2a", "flag"),
    AdkOption("--avatar_config", "text"),
    AdkOption("--eval_storage_uri", "text"),
    AdkOption("--express_mode", "flag"),
    AdkOption("--extra_plugins", "texts", _plugins),
    AdkOption("--gemini_enterprise_app_name", "text"),
    AdkOption("--logo-image-url", "text"),
    AdkOption("--logo-text", "text"),
    AdkOption("--otel_to_cloud", "flag"),
    AdkOption("--trace_to_cloud", "flag"),
    AdkOption("--trigger_oidc_audience", "text"),
    AdkOption("--trigger_oidc_service_accounts", "text"),
    AdkOption("--trigger_sources", "text"),
    AdkOption("--url_prefix", "text"),
)
ADK_OPTIONS: Final[Mapping[str, tuple[AdkOption, ...]]] = {"web": _SERVER, "run": _COMMON}
"""ADK's options by our command, without those that the command has itself."""


def adk_options(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add ADK's options to a command, which gets their `Effects` as `adk`.

    Advice is printed to standard error. Variables are set in this process, for its children to
    inherit.
    """
    options = ADK_OPTIONS[name]

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def wrapped(**values: Any) -> None:
            effects = Effects()
            for option in options:
                value = values.pop(f"adk_{option.key}")
                if value is not None and value != ():
                    _apply(option, value, effects)
            # With --in-process, the server gets the host's arguments, and the host printed this.
            for sentence in () if SERVED_BY in os.environ else effects.advice:
                click.secho(f"note: {sentence}.", fg="yellow", err=True)
            os.environ.update(effects.environment)
            function(adk=effects, **values)

        command: Callable[..., None] = wrapped
        for option in reversed(options):
            command = click.option(*option.flags, **_manner(option.kind))(command)
        return command

    return decorate


def _apply(option: AdkOption, value: Any, effects: Effects) -> None:
    if option.effect is not None:
        option.effect(effects, value)
    elif value is not False:
        effects.advice.append(_sentence(option.name, option.key))


def _manner(kind: Kind) -> dict[str, Any]:
    manners: dict[Kind, dict[str, Any]] = {
        "flag": {"is_flag": True},
        "texts": {"multiple": True},
        "number": {"type": int},
    }
    return {"default": None, "hidden": True, **manners.get(kind, {})}
