"""Agents described by YAML files."""

import pytest

from devui.runtime.agents import SequentialAgent
from devui.runtime.agents.yaml_agents import agent_from_yaml


def write_files(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder / f"{next(iter(files))}.yaml"


def test_classes_and_tools_are_named_by_the_modules_that_lend_them(tmp_path):
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
    with pytest.raises(ValueError, match=r"two\.yaml, config_path: 'one\.yaml' leads back"):
        agent_from_yaml(file)
