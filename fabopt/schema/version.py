"""The version of the package. Files name it, and the rules that a file is judged by."""

VERSION = "0.3.0"
