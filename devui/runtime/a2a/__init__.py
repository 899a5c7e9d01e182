"""Agents on other servers, called by the Agent2Agent protocol. Needs `pip install devui[a2a]`.

This is the client side; `devui.runtime.agents.remote_a2a_agent.RemoteA2aAgent` is based on it.
"""

try:
    import a2a.types.a2a_pb2  # noqa: F401  version 0.3 has other types, but not these
except ImportError as error:
    raise ImportError(
        "Agents on other servers need the package a2a-sdk, version 1 or newer: pip install"
        " 'devui[a2a]'."
    ) from error
