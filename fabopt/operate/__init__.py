"""The operation of a design: one plan of names, ports, addresses and queues, from which every file for a system
follows.
"""
