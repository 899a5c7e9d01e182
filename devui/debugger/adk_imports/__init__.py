"""Reads sessions stored by google-adk's services, as data (docs/guide/from-adk-web.md).

Each session becomes the lines of a bundle, which is then imported like any other.
"""
