"""What a case can ask for, as records: each has its name, key and words here, and nowhere else.

Search, program and verifier keep functions of their own for a record, in rooms that do not import each other. Levers,
rows, notes and screens read the record.
"""
