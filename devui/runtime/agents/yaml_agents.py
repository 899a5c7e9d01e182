"""Agents that a `root_agent.yaml` describes (adk-web 2.2).

The keys of the file are the keywords of the agent's class. Code is named by its dotted path: tools,
callbacks, schemas, models, agents and classes of one's own, but nothing of the standard library, as
with google-adk: much of it runs whatever it is given. Other files are named by a path below
the file that refers to them.
"""

import difflib
import importlib
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from devui.runtime import agents as built_in_agents
from devui.runtime import tools as built_in_tools
from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.tools.agent_tool import AgentTool
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.base_toolset import BaseToolset
from devui.runtime.yaml_text import parse_yaml

REFUSED: Final = frozenset(
    {
        "_testcapi",
        "_testinternalcapi",
        "asynchat",
        "asyncore",
        "cgi",
        "commands",
        "crypt",
        "distutils",
        "imp",
        "mailcap",
        "nntplib",
        "pipes",
        "ruamel",
        "smtpd",
        "telnetlib",
        "test",
        "uu",
        "yaml",
    }
)
"""Packages that a file may not name besides the standard library: former parts of it, its tests,
and readers of YAML that make any object."""
_CODE: Final = "_code"
_CALLBACKS: Final = "_callbacks"
_SCHEMAS: Final = frozenset({"input_schema", "output_schema"})


def agent_from_yaml(file: Path) -> BaseAgent:
    """The agent that the file describes, with all agents below it.

    Raises:
        ValueError: the file says something that cannot be understood; the message names the key.
        ImportError: pyyaml is not installed, or code that is named does not import.
    """
    return _read(file, frozenset())


def _read(file: Path, above: frozenset[Path]) -> BaseAgent:
    """The agent of a file that those `above` refer to."""
    try:
        data = parse_yaml(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error
    if not isinstance(data, dict):
        what = "it needs keys such as name and instruction"
        raise ValueError(f"{file} describes no agent: {what}")  # noqa: TRY004 - of a text, too
    return _File(file, above).agent(data)


class _File:
    """One file, and what its keys stand for."""

    def __init__(self, file: Path, above: frozenset[Path]) -> None:
        self._file = file
        self._above = above | {file.resolve()}

    def agent(self, data: Mapping[str, Any]) -> BaseAgent:
        """The agent that the keys describe."""
        kind = self._class(data.get("agent_class") or "LlmAgent")
        arguments = {}
        for key, value in data.items():
            if key != "agent_class":
                field = self._field(kind, str(key))
                arguments[field] = self._value(str(key), field, value)
        agent: BaseAgent = kind(**arguments)
        return agent

    def _class(self, name: Any) -> type[BaseAgent]:
        kind = (
            vars(built_in_agents).get(name) or getattr(built_in_agents, str(name), None)
            if "." not in str(name)
            else self._code("agent_class", name)
        )
        if not (isinstance(kind, type) and issubclass(kind, BaseAgent)):
            raise self._wrong("agent_class", f"{name!r} is not a class of agents")
        return kind

    def _field(self, kind: type[BaseAgent], key: str) -> str:
        """The keyword that a key stands for."""
        fields = kind.model_fields
        singular = key.removesuffix("s") if key.endswith(_CALLBACKS) else key
        for name in (key, key.removesuffix(_CODE), singular):
            if name in fields:
                return name
        near = difflib.get_close_matches(key, fields, 1)
        advice = f". Did you mean {near[0]}?" if near else ""
        raise self._wrong(key, f"{kind.__name__} has no such setting{advice}")

    def _value(self, key: str, field: str, value: Any) -> Any:
        if key != field and key.endswith(_CODE):
            return self._code(key, value)
        if field.endswith("_callback"):
            entries = value if isinstance(value, list) else [value]
            return [self._code(key, each) for each in entries]
        if field == "sub_agents":
            return [self._reference(each) for each in self._list(key, value)]
        if field == "tools":
            return [self._tool(each) for each in self._list(key, value)]
        if field in _SCHEMAS and (isinstance(value, str) or _is_reference(value)):
            return self._code(key, value)
        return value

    def _reference(self, value: Any) -> BaseAgent:
        """Another agent: of another file, or one that code has made."""
        value = {"config_path": value} if isinstance(value, str) else value
        path = value.get("config_path") if isinstance(value, dict) else None
        code = value.get("code") if isinstance(value, dict) else None
        if isinstance(path, str) and code is None:
            file = (self._file.parent / path).resolve()
            if not file.is_relative_to(self._file.parent.resolve()):
                raise self._wrong("config_path", f"{path!r} leads out of the folder of this file")
            if file in self._above:
                raise self._wrong("config_path", f"{path!r} leads back to this file")
            return _read(file, self._above)
        agent = self._code("code", code)
        if not isinstance(agent, BaseAgent):
            raise self._wrong("code", f"{code!r} is not an agent, but {type(agent).__name__}")
        return agent

    def _tool(self, value: Any) -> Any:
        """A tool, a toolset or a function; with `args` what a class or a function makes of them."""
        value = {"name": value} if isinstance(value, str) else value
        name = value.get("name") if isinstance(value, dict) else None
        if not isinstance(name, str):
            raise self._wrong("tools", "each tool has a name")
        args = value.get("args")
        if "." in name:
            tool = self._code("tools", name)
        else:
            tool = getattr(built_in_tools, name, None)
            if tool is None:
                raise self._wrong("tools", f"there is no built-in tool {name!r}")
        if inspect.isclass(tool) and issubclass(tool, BaseTool | BaseToolset):
            return self._instance(tool, args or {})
        return tool if args is None else tool(args)

    def _instance(self, kind: type[Any], args: Mapping[str, Any]) -> Any:
        arguments = dict(args)
        if issubclass(kind, AgentTool) and "agent" in arguments:
            arguments["agent"] = self._reference(arguments["agent"])
        return kind(**arguments)

    def _code(self, key: str, value: Any) -> Any:
        """What a dotted path names; one that begins with a dot is of the agent's own package."""
        path = value.get("name") if _is_reference(value) else value
        if isinstance(path, str) and path.startswith("."):
            path = f"{self._file.parent.name}{path}"
        module, _, name = path.rpartition(".") if isinstance(path, str) else ("", "", "")
        if not module:
            raise self._wrong(key, f"{value!r} is not a path such as my_agent.tools.look_up")
        top = module.partition(".")[0]
        if top in REFUSED or top in sys.stdlib_module_names or top in sys.builtin_module_names:
            raise self._wrong(
                key,
                f"{path!r} may not be named here: with much of {top!r} a file could run any code."
                " Name a function of your agent's own package that calls it",
            )
        try:
            return getattr(importlib.import_module(module), name)
        except AttributeError as error:
            raise self._wrong(key, f"the module {module} has no {name}") from error

    def _list(self, key: str, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise self._wrong(key, "a list is needed")
        return value

    def _wrong(self, key: str, what: str) -> ValueError:
        return ValueError(f"{self._file}, {key}: {what}")


def _is_reference(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str)
