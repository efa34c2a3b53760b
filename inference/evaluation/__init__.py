"""The evaluation: strategies run on workspace files, scored against the problems that are hidden in them."""
