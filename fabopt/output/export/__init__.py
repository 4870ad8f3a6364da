"""Files for other programs: the design, the bill of materials, and the formats of ``fabopt export``."""

# A format's name is that of its module here, which has a ``write`` function (``fabopt.output.export.formats``).
# Those of the first tuple follow from the plan (``fabopt.operate``); ``WHOLE`` is for all stages at once.
PLANNED = (
    *("plan", "roce", "sonic", "frr", "eos", "opensm", "topo", "hosts", "slurm", "kubernetes"),
    *("monitoring", "containerlab", "hedgehog", "ansible", "astra-sim", "htsim", "simai"),
)
WHOLE = "acceptance"
FORMATS = ("cables", "ports", "racks", "netbox", "dot", "graphml", "drawio", "acceptance", *PLANNED)
