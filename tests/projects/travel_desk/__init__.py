from .agent import root_agent as root_agent
