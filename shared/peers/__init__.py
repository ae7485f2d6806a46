"""Servers that the checks set beside the learner's: real processes, with ways of their own."""
