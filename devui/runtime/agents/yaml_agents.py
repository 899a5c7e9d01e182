"""Creates the agents that a `root_agent.yaml` describes (adk-web 2.2).

The keys of the file are the keyword arguments of the agent's class. Tools, callbacks, schemas,
models, agents and custom classes are named by their dotted paths. As in google-adk, nothing of the
standard library may be named: much of it runs whatever it is given. Other files are named by a path
below the folder of the file that refers to them.
"""

import collections.abc
import importlib
import inspect
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import UnionType
from typing import Any, Final, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ValidationError

from devui.runtime import agents as built_in_agents
from devui.runtime import tools as built_in_tools
from devui.runtime import workflow as built_in_nodes
from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.examples import BaseExampleProvider
from devui.runtime.left_out import ROOT, LeftOut, topic_of
from devui.runtime.mistakes import brief, message_of, near, refusals
from devui.runtime.tools.agent_tool import AgentTool
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.base_toolset import BaseToolset
from devui.runtime.tools.example_tool import ExampleTool
from devui.runtime.tools.tool_configs import ToolArgsConfig, ToolConfig
from devui.runtime.yaml_text import line_of, parse_yaml

logger = logging.getLogger(__name__)

T = TypeVar("T")
_Path = tuple[str | int, ...]
"""The keys and indexes that lead to a value in a file."""

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
"""Packages that a file may not name, in addition to the standard library: its former parts, its
tests, and YAML readers that create any object."""
_CODE: Final = "_code"
_CALLBACK: Final = "_callback"
_SCHEMAS: Final = frozenset({"input_schema", "output_schema"})
_POINTERS: Final = frozenset({"agent", "app", "entrypoint", "module", "root_agent"})
"""Keys with which people try to point to an agent in Python; ADK reads none of them."""
_UNKNOWN_TO_ADK: Final = frozenset({"mode", "parent_agent"})
"""Fields that google-adk's reader refuses; they aren't suggested for a misspelled key."""
_STRICT: Final = (AgentTool, ExampleTool, BaseToolset)
"""Tools whose unknown arguments google-adk's reader refuses; it ignores those of other tools."""

_BY_PARAMETERS: Final = [vars(kind)["from_config"].__func__ for kind in (BaseTool, BaseToolset)]
"""The `from_config` of classes that don't define their own."""


class _Mistake(NamedTuple):
    file: Path
    line: int | None
    message: str


class AgentFileError(SyntaxError, ValueError):
    """Raised if a file, or one that it refers to, doesn't describe an agent.

    The message has a line for each mistake, with file, line and key. Since this is a SyntaxError,
    it has a location: that of the first mistake.
    """

    def __init__(self, *mistakes: _Mistake) -> None:
        """Report these mistakes."""
        super().__init__("\n".join(each.message for each in mistakes))
        self.mistakes = mistakes
        self.filename, self.lineno = str(mistakes[0].file), mistakes[0].line

    def __str__(self) -> str:
        """Return the message alone, since it names the places."""
        return self.msg


def agent_from_yaml(file: Path) -> BaseAgent:
    """Create the agent that the file describes, with all agents below it.

    Raises:
        AgentFileError: the file contains mistakes.
        ImportError: pyyaml is not installed.
        Exception: whatever the code that the file names raises.
    """
    return _File(file).read()


def tool_from_config(kind: type[T], config: ToolArgsConfig, config_abs_path: str) -> T:
    """Create a tool or toolset of the class with the arguments that the file at that path gives.

    Raises:
        AgentFileError: the class has no such argument, or something it names doesn't exist.
    """
    return _File(Path(config_abs_path)).make(kind, config, ())


class _File:
    """One file, and the objects that its keys stand for."""

    def __init__(self, file: Path, above: tuple[Path, ...] = ()) -> None:
        """Prepare to read a file; the last one of `above` refers to it."""
        self._file = file
        self._files = (*above, file)
        self._text = ""
        self._mistakes: list[_Mistake] = []

    def read(self) -> BaseAgent:
        """Read the file and create the agent that it describes."""
        try:
            self._text = self._file.read_text(encoding="utf-8")
            data = parse_yaml(self._text)
        except OSError as error:
            raise self._wrong((), f"the file can't be read: {error.strerror}.") from error
        except ValueError as error:
            problem: Any = error.__cause__  # the parser's, unless it is about the encoding
            mark = vars(problem).get("problem_mark") if problem else None
            what = f"{problem.context or ''} {problem.problem}".strip() if mark else error
            raise AgentFileError(
                self._mistake(f"this isn't valid YAML: {what}.", mark and mark.line + 1)
            ) from None
        if not isinstance(data, dict):
            state = "is empty" if data is None else "has no keys"
            raise self._wrong((), f"the file {state}. It needs at least `name` and `instruction`.")
        return self._agent(data)

    def _agent(self, data: Mapping[str, Any]) -> BaseAgent:
        kind = self._class(data.get("agent_class") or "LlmAgent")
        arguments = {}
        for key, value in data.items():
            if key != "agent_class":
                with self._noting():
                    field = self._field(kind, str(key), value)
                    arguments[field] = self._value(str(key), field, value)
        agent: BaseAgent | None = None
        try:
            with self._noting(), self._refusals(()):
                agent = kind(**arguments)
        except Exception:
            if not self._mistakes:  # otherwise it may be a consequence of them
                raise
        if issubclass(kind, LlmAgent) and "instruction" not in data:  # as in google-adk
            self._mistakes.append(self._mistake(f"{kind.__name__} needs `instruction`."))
        if agent is None or self._mistakes:
            raise AgentFileError(*self._mistakes)
        return agent

    def _class(self, name: Any) -> type[BaseAgent]:
        path = ("agent_class",)
        if not isinstance(name, str):
            raise self._wrong(path, f"{name!r} is not the name of a class")
        if "." in name:
            kind = self._code(path, name)
        else:
            names = vars(built_in_agents)
            kind = names.get(name) or getattr(built_in_agents, name, None)
        if isinstance(kind, type) and issubclass(kind, BaseAgent):
            return kind
        if name in built_in_nodes.__all__:
            raise self._wrong(
                path,
                f"the engine devui can't read a {name} from YAML. Create it in agent.py,"
                " or choose the engine google-adk.",
            )
        guess = near(name, built_in_agents.__all__)
        raise self._wrong(path, f"{name!r} is not an agent class{guess}")

    def _field(self, kind: type[BaseAgent], key: str, value: Any) -> str:
        """Return the keyword argument that a key stands for."""
        fields = kind.model_fields
        singular = key.removesuffix("s") if key.endswith(f"{_CALLBACK}s") else key
        for name in (key, key.removesuffix(_CODE), singular):
            if name in fields:
                return name
        if key in _POINTERS and isinstance(value, str):
            raise self._wrong(
                (key,),
                "this file can't point to an agent in Python. Export it as `root_agent` in"
                " agent.py instead.",
            )
        keys = [f"{name}s" if name.endswith(_CALLBACK) else name for name in fields]
        guess = near(key, [name for name in keys if name not in _UNKNOWN_TO_ADK])
        line = self._line((key,))
        raise AgentFileError(self._mistake(f"{kind.__name__} has no `{key}`{guess}", line))

    def _value(self, key: str, field: str, value: Any) -> Any:
        path = (key,)
        if key != field and key.endswith(_CODE):
            return self._code(path, value)
        if field.endswith(_CALLBACK):
            entries = value if isinstance(value, list) else [value]
            return self._each(path, entries, self._code)
        if field == "sub_agents":
            return self._each(path, value, self._reference)
        if field == "tools":
            return self._each(path, value, self._tool)
        if field in _SCHEMAS and (isinstance(value, str) or _is_reference(value)):
            return self._code(path, value)
        return value

    def _each(self, path: _Path, value: Any, read: Callable[[_Path, Any], Any]) -> list[Any]:
        if not isinstance(value, list):
            raise self._wrong(path, "must be a list.")
        results = []
        for index, entry in enumerate(value):
            with self._noting():
                results.append(read((*path, index), entry))
        return results

    def _reference(self, path: _Path, value: Any) -> BaseAgent:
        """Return another agent: from another file, or one that code has created."""
        entry = value if isinstance(value, dict) else {"config_path": value}
        name, code = entry.get("config_path"), entry.get("code")
        where = (*path, "config_path") if isinstance(value, dict) else path
        if isinstance(name, str) and code is None:
            file = self._file.parent / name
            if not file.resolve().is_relative_to(self._file.parent.resolve()):
                raise self._wrong(where, f"{name!r} is outside the folder of this file.")
            if file.resolve() in {each.resolve() for each in self._files}:
                raise self._wrong(where, f"{name!r} refers back to this file.")
            if not file.is_file():
                raise self._wrong(where, f"the file {name!r} doesn't exist.")
            return _File(file, self._files).read()
        where = (*path, "code")
        agent = self._code(where, code)
        if not isinstance(agent, BaseAgent):
            raise self._wrong(where, f"{code!r} is {brief(agent)}, not an agent.")
        return agent

    def _tool(self, path: _Path, value: Any) -> Any:
        """Return a tool, toolset or function; with `args`, what its class or function returns."""
        entry = {"name": value} if isinstance(value, str) else value
        with self._refusals(path):
            config = ToolConfig.model_validate(entry)
        tool = (self._code if "." in config.name else self._built_in)(path, config.name)
        if isinstance(tool, BaseTool | BaseToolset):
            return tool
        if inspect.isclass(tool) and issubclass(tool, BaseTool | BaseToolset):
            return self._instance(path, tool, config.args or ToolArgsConfig())
        if not callable(tool):
            raise self._wrong(path, f"{config.name!r} is {brief(tool)}, not a tool.")
        return tool if config.args is None else tool(config.args)

    def _built_in(self, path: _Path, name: str) -> Any:
        try:
            return getattr(built_in_tools, name)
        except AttributeError:
            if topic := topic_of(f"tools.{name}"):
                raise self._wrong(path, _left_out(name, topic)) from None
            guess = near(name, [*built_in_tools.__all__, "McpToolset"])
            raise self._wrong(path, f"there is no built-in tool {name!r}{guess}") from None
        except ImportError as error:  # of a package that an extra installs
            raise self._wrong(path, str(error)) from error

    def _instance(self, path: _Path, kind: Any, config: ToolArgsConfig) -> Any:
        try:
            with self._refusals(path):
                method = kind.from_config
                if not (inspect.ismethod(method) and method.__func__ in _BY_PARAMETERS):
                    return method(config, str(self._file.absolute()))
                return self.make(kind, config, path)
        except (ValueError, TypeError) as error:
            if isinstance(error, AgentFileError) or not kind.__module__.startswith(f"{ROOT}."):
                raise
            raise self._wrong(path, message_of(error)) from None

    def make(self, kind: type[T], config: ToolArgsConfig, path: _Path) -> T:
        """Create an instance with the arguments; some of them name code or agents."""
        parameters = dict(inspect.signature(kind).parameters)
        is_open = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
        hints: dict[str, Any] = {}
        with suppress(NameError, TypeError):  # if types can't be resolved, values stay as they are
            hints = get_type_hints(kind.__init__)
        values = {}
        for name, value in config:
            if name in parameters or is_open:
                where = (*path, "args", name)
                values[name] = self._argument(where, hints.get(name, Any), value)
                continue
            unknown = f"{kind.__name__} has no `{name}`{near(name, parameters)}"
            if issubclass(kind, _STRICT):
                raise self._wrong((*path, "args", name), unknown)
            logger.warning("%s: %s It is ignored.", self._place((*path, "args", name)), unknown)
        return kind(**values)

    def _argument(self, path: _Path, hint: Any, value: Any) -> Any:
        """Convert a value to what the type of its parameter calls for."""
        options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        classes = [each for each in options if inspect.isclass(each)]
        if isinstance(value, list):
            items = [get_args(each)[0] for each in options if get_origin(each) and get_args(each)]
            item = items[0] if items else Any
            return [self._argument((*path, i), item, each) for i, each in enumerate(value)]
        if isinstance(value, str | dict) and any(issubclass(each, BaseAgent) for each in classes):
            return self._reference(path, value)
        if isinstance(value, str) and str not in options and any(map(_is_code, options)):
            return self._code(path, value)
        models = [each for each in classes if issubclass(each, BaseModel)]
        if isinstance(value, dict) and models:
            with self._refusals(path):
                return models[0].model_validate(value)
        return value

    def _code(self, path: _Path, value: Any) -> Any:
        """Return what a dotted path names; a leading dot stands for the agent's own package."""
        dotted = value.get("name") if _is_reference(value) else value
        if isinstance(dotted, str) and dotted.startswith("."):
            dotted = f"{self._file.parent.name}{dotted}"
        module, _, name = dotted.rpartition(".") if isinstance(dotted, str) else ("", "", "")
        if not module:
            raise self._wrong(path, f"{value!r} is not a path such as my_agent.tools.look_up.")
        top = module.partition(".")[0]
        if top in REFUSED or top in sys.stdlib_module_names or top in sys.builtin_module_names:
            raise self._wrong(
                path,
                f"{dotted!r} is not allowed here: much of {top!r} would let a file run any code."
                " Name a function of your agent's own package that calls it.",
            )
        home = self._module(path, module)
        try:
            return getattr(home, name)
        except AttributeError:
            if topic := topic_of(_in_runtime(dotted)):
                raise self._wrong(path, _left_out(name, topic)) from None
            guess = near(name, [each for each in vars(home) if not each.startswith("_")])
            raise self._wrong(path, f"the module {module} has no {name}{guess}") from None

    def _module(self, path: _Path, name: str) -> Any:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if _in_runtime(name):
                raise self._wrong(path, str(error)) from None
            if error.name and f"{name}.".startswith(f"{error.name}."):
                raise self._wrong(path, f"there is no module {error.name}.") from None
            raise  # a module that exists imports one that doesn't

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """Collect mistakes, and continue with the rest of the file."""
        try:
            yield
        except AgentFileError as error:
            self._mistakes += error.mistakes

    @contextmanager
    def _refusals(self, path: _Path) -> Iterator[None]:
        """Turn pydantic's refusals into mistakes with places in the file."""
        try:
            yield
        except ValidationError as error:
            raise AgentFileError(
                *(
                    self._mistake(text, self._line((*path, *where)), path)
                    for where, text in refusals(error)
                )
            ) from None

    def _wrong(self, path: _Path, what: str) -> AgentFileError:
        return AgentFileError(self._mistake(what, self._line(path), path))

    def _mistake(self, what: str, line: int | None = None, path: _Path = ()) -> _Mistake:
        return _Mistake(self._file, line, f"{self._place(path, line)}: {what}")

    def _line(self, path: _Path) -> int | None:
        return line_of(self._text, path) if self._text else None

    def _place(self, path: _Path, line: int | None = None) -> str:
        """Return a place such as `root_agent.yaml:12, tools[0]`."""
        name = os.path.relpath(self._file, self._files[0].parent)
        key = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in path)
        return f"{name}{f':{line}' if line else ''}{f', {key[1:]}' if key else ''}"


def _is_reference(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str)


def _is_code(hint: Any) -> bool:
    """Return whether a string given for this type is the path of code."""
    if inspect.isclass(hint) and issubclass(hint, BaseExampleProvider):
        return True
    return collections.abc.Callable in (hint, get_origin(hint))


def _in_runtime(dotted: str) -> str:
    """Return the rest of a path below google-adk's or devui's root; empty for other paths."""
    for root in ("google.adk.", f"{ROOT}."):
        if dotted.startswith(root):
            return dotted.removeprefix(root)
    return ""


def _left_out(name: str, topic: LeftOut) -> str:
    return (
        f"the engine devui has no {name} ({topic.topic}). {topic.why} Choose the engine google-adk,"
        f" or do without it. {topic.instead}"
    )
