"""Serves agents that exist as objects of this process: `devui.serve`.

The server is a child process, and this process is the worker of all its apps. So both columns stay
apart as they do elsewhere, and neither a blocked agent nor an open pdb holds up the pages.
"""
