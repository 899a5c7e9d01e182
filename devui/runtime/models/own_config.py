"""Settings of a request to be changed, while those they were made of stay (adk-runtime 7.2)."""

import copy

from google.genai import types

_DATA = frozenset({"timeout", "retry_options", "extra_body", "headers"})
"""HTTP options that are data; the others may hold a client or a context of TLS."""


def own_config(config: types.GenerateContentConfig) -> types.GenerateContentConfig:
    """A deep copy of the settings; what no copy can be made of in the HTTP options is shared."""
    options = config.http_options
    if options is None:
        return config.model_copy(deep=True)
    copied = config.model_copy(update={"http_options": None}).model_copy(deep=True)
    copied.http_options = own_http_options(types.HttpOptions.model_validate(options))
    return copied


def own_http_options(options: types.HttpOptions) -> types.HttpOptions:
    """A copy with data of its own, which shares clients and contexts of TLS."""
    data = {name: copy.deepcopy(value) for name, value in options if name in _DATA}
    return options.model_copy(update=data)
