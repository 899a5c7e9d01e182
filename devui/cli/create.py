"""`devui create`: creates a small agent to start from, which runs without a key."""

import re
from pathlib import Path
from string import Template
from typing import Final

import click

from devui.cli.options import json_option, json_text
from devui.failures import BadRequestError, DevuiError

_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_FEW: Final = frozenset({"agent", "app", "tmp", "user"})
"""Names that have another meaning in ADK or its folder conventions."""

_INIT: Final = "from . import agent\n"
_IGNORE: Final = ".env\n.devui/\n"

_AGENT: Final = Template(
    '''"""A first agent: it knows the time in three cities. Edit it while devui runs."""

from datetime import datetime
from zoneinfo import ZoneInfo

$imports

ZONES = {"london": "Europe/London", "tokyo": "Asia/Tokyo", "new york": "America/New_York"}


def get_time(city: str, tool_context) -> str:
    """Returns the local time in a city.

    The model reads this docstring to decide when to call the tool.
    """
    zone = ZONES.get(city.strip().lower())
    if zone is None:
        return f"I only know {', '.join(ZONES)}."
    tool_context.state["city"] = city  # kept in the session, and shown under State
    return f"It is {datetime.now(ZoneInfo(zone)):%H:%M} in {city}."

$script
root_agent = Agent(
    name="$name",
    description="Tells the time in a city.",
    instruction="Answer questions about the time in a city with get_time.",
    model=$model,
    tools=[get_time],
)
'''
)
_SCRIPTED: Final = {
    "imports": "from devui.runtime.agents import Agent\n"
    "from devui.runtime.models import Call, Rule, Say, ScriptedLlm",
    "script": """
# Answers by rules, without a key or network. To use a real model, set `model` below to its name,
# such as "gemini-2.5-flash", and put GOOGLE_API_KEY=... into a .env file next to this one.
script = ScriptedLlm(
    rules=[
        Rule(after="get_time", then=Say("{result}")),
        Rule(user=r"time in (?P<city>[A-Za-z ]+)", then=Call("get_time", city="{city}")),
        Rule(then=Say("Ask me: what is the time in Tokyo?")),
    ]
)
""",
    "model": "script",
}
_IMPORTS: Final = "from google.adk.agents import Agent"
"""The import of an agent with a real model, which `adk run` can run, too."""


@click.command("create", short_help="Create a small agent to start from.")
@click.argument("name")
@click.option("--model", metavar="NAME", help="Model to use; without it, a scripted one.")
@click.option("--api-key", metavar="KEY", help="Google AI key, written to .env.")
@click.option("--project", metavar="ID", help="Google Cloud project, for models on Vertex AI.")
@click.option("--region", metavar="NAME", help="Google Cloud region of the project.")
@click.option("--type", "kind", type=click.Choice(["code", "config"]), hidden=True, default="code")
@json_option
def command(
    name: str,
    *,
    model: str | None,
    api_key: str | None,
    project: str | None,
    region: str | None,
    kind: str,
    as_json: bool,
) -> None:
    """Create the folder NAME with a small, commented agent.

    Without --model it answers by rules and needs no key. Existing files are never overwritten.
    """
    folder = Path(name)
    if not _NAME.fullmatch(folder.name) or folder.name in _FEW:
        raise BadRequestError(
            f"{folder.name!r} is not a valid agent name: use letters, digits and _, but none"
            f" of {', '.join(sorted(_FEW))}"
        )
    if (project is None) != (region is None):
        raise BadRequestError("--project and --region must be given together")
    if kind == "config":
        click.echo("note: --type config is not supported; creating agent.py instead.", err=True)
    real = model or ("gemini-2.5-flash" if api_key or project else None)
    parts = {"imports": _IMPORTS, "script": "", "model": _quoted(real)} if real else _SCRIPTED
    files = {
        "__init__.py": _INIT,
        "agent.py": _AGENT.substitute(parts, name=folder.name),
        ".gitignore": _IGNORE,
    }
    if variables := _variables(api_key, project, region):
        files[".env"] = "".join(f"{key}={value}\n" for key, value in variables.items())
    _write(folder, files)
    if as_json:
        click.echo(json_text({"folder": str(folder), "files": sorted(files)}))
        return
    click.echo(f"created {folder}: {', '.join(sorted(files))}")
    if real and not variables:
        click.echo(f"put GOOGLE_API_KEY=... into {folder / '.env'}, or the key of your model")
    click.echo(f'next: devui run {folder} "What is the time in Tokyo?"')
    click.echo(f"  or: devui {folder}")


def _variables(api_key: str | None, project: str | None, region: str | None) -> dict[str, str]:
    """Return the variables for `.env`, by ADK's names. Raises BadRequestError."""
    variables: dict[str, str] = {}
    if project is not None and region is not None:
        variables |= {
            "GOOGLE_GENAI_USE_VERTEXAI": "1",
            "GOOGLE_CLOUD_PROJECT": project,
            "GOOGLE_CLOUD_LOCATION": region,
        }
    if api_key is not None:
        variables["GOOGLE_API_KEY"] = api_key
    for key, value in variables.items():
        if not value or "\n" in value or "\r" in value:
            raise BadRequestError(f"{key} must be a single line of text")
    return variables


def _quoted(text: str) -> str:
    """Return the text as a Python string in double quotes. Raises BadRequestError."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    if not text.isprintable():
        raise BadRequestError(f"{text!r} is not a valid model name")
    return f'"{escaped}"'


def _write(folder: Path, files: dict[str, str]) -> None:
    """Write the files. Raises BadRequestError if one exists, DevuiError if writing fails."""
    there = [name for name in files if (folder / name).exists()]
    if there:
        raise BadRequestError(
            f"{str(folder)!r} already contains {', '.join(there)}; nothing was written. Choose"
            " another name"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            file = folder / name
            file.touch(mode=0o600 if name == ".env" else 0o644, exist_ok=False)
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DevuiError(
            f"cannot write {str(error.filename or folder)!r}: {error.strerror}"
        ) from error
