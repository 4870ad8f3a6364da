"""``make quick``: style, types, and the tests that a change needs, in less than a minute on two cores.

    python -m tests.quick [BASE]

What has changed is what differs from where the branch left BASE (``main``), committed or not. Tests of a room are those
in the folder of ``tests`` with its name.
"""
