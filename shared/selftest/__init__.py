"""The self-test: checks of a lab, judged over recorded wires, outside the learner's processes.

This package imports nothing by itself: the command line starts its child processes first, so that
their imports go on while its own do. What a lab's checks need is in `shared.selftest.api`.
"""
