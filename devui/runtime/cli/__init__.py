"""The place of google-adk's server application; nothing in the runtime loads it."""
