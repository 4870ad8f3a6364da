"""NetBox bulk-import files: sites, racks, device types, devices, interfaces, transceivers and cables.

Column names and choices are those of NetBox's own import forms (``netbox/dcim/forms/bulk_import.py`` and
``netbox/dcim/choices.py`` of releases 4.4, 4.6 and 4.7); docs/netbox.md says how a design is told in them.
"""

from fabopt.output.export.netbox.files import files_of, own_files

__all__ = ["files_of", "own_files"]
