"""Providers whose models litellm reaches by the name `provider/model` (adk-runtime 9.2)."""

PROVIDERS = (
    "openai",
    "azure",
    "azure_ai",
    "groq",
    "anthropic",
    "bedrock",
    "ollama",
    "ollama_chat",
    "together_ai",
    "vertex_ai",
    "mistral",
    "deepseek",
    "fireworks_ai",
    "cohere",
    "databricks",
    "ai21",
)
