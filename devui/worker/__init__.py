"""The process that loads one app, drives its Runner, and asks the server to commit its events."""
