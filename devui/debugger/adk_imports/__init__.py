"""Sessions that google-adk's services have stored, read as data (docs/guide/from-adk-web.md).

Each session becomes the lines of a bundle, which takes the way of every import.
"""
