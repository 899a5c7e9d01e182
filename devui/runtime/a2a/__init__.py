"""Agents of other servers, by the Agent2Agent protocol. Needs `pip install devui[a2a]`.

The client side: `devui.runtime.agents.remote_a2a_agent.RemoteA2aAgent` stands on these modules.
"""

try:
    import a2a.types.a2a_pb2  # noqa: F401  version 0.3 has the types, but not these
except ImportError as error:
    raise ImportError(
        "Agents of other servers need the package a2a-sdk, version 1 or newer: pip install"
        " 'devui[a2a]'."
    ) from error
