"""``python -m fabopt``."""

import sys

from fabopt.cli import main

sys.exit(main())
