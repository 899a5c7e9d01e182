"""Workers: the child processes that run apps, and the Python that they use."""
