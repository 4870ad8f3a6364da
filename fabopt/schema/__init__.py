"""What users write and fabopt writes, as strict, frozen types.

Annotations are evaluated as they stand, once a class: of postponed ones pydantic compiles the text of each again for
every class that inherits it, at every start.
"""
