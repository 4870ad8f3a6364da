"""Audits of designs made by hand: reading their files, checking rules of the field, and comparing costs."""
