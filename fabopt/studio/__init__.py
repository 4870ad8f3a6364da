"""The studio: a page on this machine that asks, shows, pins, breaks and hands over designs (extra ``studio``).

The server answers the page and keeps what a tab asks for; processes of its own do all work with cases and designs.
"""
