"""The wire between the server and its workers: messages and how they become bytes."""
