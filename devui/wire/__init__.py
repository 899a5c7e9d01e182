"""The wire between the server and its workers: the messages and their encoding as bytes."""
