"""Serves agents that are objects of this process: `devui.serve`.

The server is a child process, and this process is the worker of all its apps. Server and worker
thus stay separate, as elsewhere, and neither a blocked agent nor an open pdb blocks the pages.
"""
