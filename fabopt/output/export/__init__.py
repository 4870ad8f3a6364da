"""Files for other programs: the design, the bill of materials, and the formats of ``fabopt export``."""

# A format's name is that of its module here, which has a function ``files_of`` (``fabopt.output.export.formats``).
# Those of the first tuple follow from the plan (``fabopt.operate``); ``WHOLE`` is for all stages at once; those of
# ``WORK`` say what is done at a stage, not how things are then.
PLANNED = (
    *("plan", "roce", "sonic", "frr", "eos", "opensm", "topo", "hosts", "slurm", "kubernetes"),
    *("monitoring", "containerlab", "hedgehog", "ansible", "astra-sim", "htsim", "simai", "launch-kit"),
)
# Codes of sheets of labels: those of the first two are written where none is named.
LABEL_SHEETS = ("L7651", "5167", "L7654", "5160")
WHOLE = "acceptance"
WORK = ("crew", "labels", "labour", "changes", "migration")
# In the place of every format.
ALL = "all"
FORMATS = (
    *("cables", *WORK, "ports", "racks", "trays", "air", "weight", "power", "drawing", "netbox"),
    *("channel-loss", "latency", "trunks", "panels"),
    *("dot", "graphml", "drawio", "acceptance", *PLANNED),
)
