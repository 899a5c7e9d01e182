"""Agents described by YAML files."""

import sys

import pytest

from devui.runtime.agents import SequentialAgent
from devui.runtime.agents.yaml_agents import AgentFileError, agent_from_yaml
from devui.runtime.tools import AgentTool, BaseTool, LongRunningFunctionTool
from devui.runtime.tools.tool_configs import ToolArgsConfig
from devui.runtime.yaml_parser import lines_of_text

AGENT = "name: root\ninstruction: i\n"
CODE = '''
from devui.runtime.examples import BaseExampleProvider
from devui.runtime.tools import BaseTool
from devui.runtime.tools.tool_configs import BaseToolConfig


def ask(question: str) -> str:
    """Asks."""
    return question


def make(args):
    def answer() -> str:
        """Answers."""
        return args.word

    return answer


class Examples(BaseExampleProvider):
    def get_examples(self, query):
        return []


class Limit(BaseToolConfig):
    most: int


class Plain(BaseTool):
    def __init__(self, limit: Limit):
        super().__init__(name="plain", description="Plain.")
        self.limit = limit


class Static(BaseTool):
    @staticmethod
    def from_config(config, config_abs_path):
        return BaseTool(name=config.title, description="")


class Own(BaseTool):
    @classmethod
    def from_config(cls, config, config_abs_path):
        return cls(name=config.title, description=config_abs_path)


examples = Examples()
'''


def write_files(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder / f"{next(iter(files))}.yaml"


def test_classes_and_tools_can_be_named_by_the_modules_that_reexport_them(tmp_path):
    file = write_files(
        tmp_path,
        root="agent_class: devui.runtime.agents.SequentialAgent\nname: root\n"
        "sub_agents: [{config_path: one.yaml}]\n",
        one="name: one\nmodel: m\ninstruction: i\ntools: [{name: devui.runtime.tools.exit_loop}]\n",
    )
    agent = agent_from_yaml(file)
    assert isinstance(agent, SequentialAgent)
    assert [each.name for each in agent.sub_agents] == ["one"]


def test_files_that_refer_to_each_other_in_a_circle_are_refused(tmp_path):
    refers = "name: {0}\nagent_class: SequentialAgent\nsub_agents: [{{config_path: {1}.yaml}}]\n"
    file = write_files(tmp_path, one=refers.format("one", "two"), two=refers.format("two", "one"))
    with pytest.raises(
        ValueError, match=r"two\.yaml:3, sub_agents\[0\]\.config_path: 'one\.yaml' refers back"
    ):
        agent_from_yaml(file)


@pytest.fixture
def tools_of(tmp_path, monkeypatch):
    """A function that makes the tools of an agent file from entries, beside a module of code."""
    (tmp_path / "yaml_code.py").write_text(CODE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))

    def read(*entries):
        lines = [f"  - {entry}\n" for entry in entries]
        file = write_files(tmp_path, root=f"{AGENT}tools:\n{''.join(lines)}")
        return agent_from_yaml(file).tools

    yield read
    sys.modules.pop("yaml_code", None)


def test_arguments_that_name_code_are_resolved_to_it(tools_of):
    [ask, shown] = tools_of(
        "{name: LongRunningFunctionTool, args: {func: yaml_code.ask}}",
        "{name: ExampleTool, args: {examples: yaml_code.examples}}",
    )
    assert isinstance(ask, LongRunningFunctionTool)
    assert (ask.name, ask.func("why")) == ("ask", "why")
    assert shown.examples is sys.modules["yaml_code"].examples


def test_code_of_the_standard_library_is_refused_as_an_argument(tools_of):
    with pytest.raises(ValueError, match=r"tools\[0\]\.args\.func: 'os\.system' is not"):
        tools_of("{name: LongRunningFunctionTool, args: {func: os.system}}")


def test_arguments_are_converted_to_the_models_that_a_class_declares(tools_of):
    [plain] = tools_of("{name: yaml_code.Plain, args: {limit: {most: 3}}}")
    assert plain.limit.most == 3
    with pytest.raises(ValueError, match=r"tools\[0\]\.args\.limit: Limit has no `mots`;"):
        tools_of("{name: yaml_code.Plain, args: {limit: {mots: 3}}}")


def test_a_class_may_create_its_tool_itself(tools_of, tmp_path):
    [own] = tools_of("{name: yaml_code.Own, args: {title: mine}}")
    assert (own.name, own.description) == ("mine", str(tmp_path / "root.yaml"))
    [static] = tools_of("{name: yaml_code.Static, args: {title: mine}}")
    assert static.name == "mine"


def test_a_function_gets_its_arguments_as_attributes(tools_of):
    [answer] = tools_of("{name: yaml_code.make, args: {word: hello}}")
    assert answer() == "hello"


def test_an_unknown_tool_argument_is_ignored_with_a_warning_as_in_google_adk(tools_of, caplog):
    [ask] = tools_of("{name: LongRunningFunctionTool, args: {func: yaml_code.ask, nmae: x}}")
    assert ask.name == "ask"
    assert "LongRunningFunctionTool has no `nmae`" in caplog.text
    with pytest.raises(ValueError, match=r"tools\[0\]\.args\.nmae: ExampleTool has no `nmae`"):
        tools_of("{name: ExampleTool, args: {examples: [], nmae: x}}")


def test_tools_can_be_created_from_configurations_in_code(tmp_path):
    write_files(tmp_path, one=AGENT)
    config = ToolArgsConfig.model_validate({"agent": {"config_path": "one.yaml"}})
    tool = AgentTool.from_config(config, str(tmp_path / "root.yaml"))
    assert isinstance(tool, BaseTool)
    assert tool.agent.name == "root"


def test_an_mcp_server_is_given_by_its_parameters(tools_of):
    pytest.importorskip("mcp")
    [sse, http] = tools_of(
        "{name: McpToolset, args: {sse_connection_params: {url: 'http://a/sse'}}}",
        "{name: McpToolset, args: {streamable_http_connection_params: {url: 'http://b'},"
        " tool_filter: [look_up], tool_name_prefix: b}}",
    )
    kinds = [type(each.connection_params).__name__ for each in (sse, http)]
    assert kinds == ["SseConnectionParams", "StreamableHTTPConnectionParams"]
    assert (http.tool_filter, http.tool_name_prefix) == (["look_up"], "b")


def test_a_command_as_mcp_server_must_be_allowed_by_the_environment(tools_of, monkeypatch):
    pytest.importorskip("mcp")
    entry = "{name: McpToolset, args: {stdio_server_params: {command: ls}}}"
    with pytest.raises(ValueError, match=r"root\.yaml:4, tools\[0\]: McpToolset may not start"):
        tools_of(entry)
    monkeypatch.setenv("ADK_ALLOW_CONFIG_STDIO_MCP_SERVERS", "1")
    assert tools_of(entry)[0].connection_params.command == "ls"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ("{}", "needs exactly one of stdio_server_params,"),
        ("{sse_connection_param: {url: x}}", "did you mean `sse_connection_params`?"),
        ("{sse_connection_params: {url: x}, stdio_server_params: {command: ls}}", "exactly one of"),
    ],
)
def test_anything_but_exactly_one_mcp_server_is_refused(tools_of, args, words):
    pytest.importorskip("mcp")
    with pytest.raises(ValueError, match=r"root\.yaml:4, tools\[0\]: ") as refused:
        tools_of(f"{{name: McpToolset, args: {args}}}")
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("VertexAiSearchTool", "the engine devui has no VertexAiSearchTool (Google Cloud)."),
        ("devui.runtime.tools.VertexAiSearchTool", "Choose the engine google-adk, or do without"),
        ("google_serch", "there is no built-in tool 'google_serch'; did you mean `google_search`?"),
        ("yaml_code.aks", "the module yaml_code has no aks; did you mean `ask`?"),
        ("no_such_module.ask", "there is no module no_such_module."),
        ("yaml_code.CODE", "the module yaml_code has no CODE."),
        ("{name: yaml_code.ask, arg: {}}", "ToolConfig has no `arg`; did you mean `args`?"),
        ("yaml_code.__name__", "'yaml_code.__name__' is 'yaml_code' (str), not a tool."),
    ],
)
def test_the_error_for_an_unknown_tool_has_its_place(tools_of, entry, words):
    with pytest.raises(ValueError, match=r"root\.yaml:4, tools\[0\]: ") as refused:
        tools_of(entry)
    assert words in str(refused.value)


def test_all_mistakes_of_all_files_are_reported_at_once(tmp_path):
    file = write_files(
        tmp_path,
        root="modle: m\ntools:\n- nope\n- no_such_module.ask\n"
        "sub_agents:\n- one.yaml\n- gone.yaml\ninclude_contents: some\n",
        one="name: one\ninstruction: i\noutput_kee: x\n",
    )
    with pytest.raises(AgentFileError) as refused:
        agent_from_yaml(file)
    assert str(refused.value).splitlines() == [
        "root.yaml:1: LlmAgent has no `modle`; did you mean `model`?",
        "root.yaml:3, tools[0]: there is no built-in tool 'nope'.",
        "root.yaml:4, tools[1]: there is no module no_such_module.",
        "one.yaml:3: LlmAgent has no `output_kee`; did you mean `output_key`?",
        "root.yaml:7, sub_agents[1]: the file 'gone.yaml' doesn't exist.",
        "root.yaml: LlmAgent needs `name`.",
        (
            "root.yaml:8: LlmAgent.include_contents: Input should be 'default' or 'none'"
            " (given: 'some')"
        ),
        "root.yaml: LlmAgent needs `instruction`.",
    ]
    assert (refused.value.filename, refused.value.lineno) == (str(file), 1)


@pytest.mark.parametrize("key", ["agent", "module", "entrypoint"])
def test_a_file_that_points_to_python_is_refused_with_advice(tmp_path, key):
    file = write_files(tmp_path, root=f"{AGENT}{key}: agent:root_agent\n")
    with pytest.raises(
        ValueError, match=f"root.yaml:3, {key}: .* `root_agent` in agent.py"
    ) as error:
        agent_from_yaml(file)
    assert "Did you mean" not in str(error.value)


def test_agent_class_must_be_a_name(tmp_path):
    file = write_files(tmp_path, root=f"{AGENT}agent_class: [LlmAgent]\n")
    with pytest.raises(ValueError, match=r"agent_class: \['LlmAgent'\] is not the name of a class"):
        agent_from_yaml(file)


def test_lines_are_found_in_a_document_that_contains_itself():
    assert lines_of_text("a: &a [*a, x]\nb: x\n", "x") == [2, 1]
