"""The process that runs one app's agent: loads it, drives its Runner, asks the server to commit."""
