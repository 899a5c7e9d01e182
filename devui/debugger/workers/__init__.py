"""Workers: the child processes that run apps, and calls of single tools and models in them."""
