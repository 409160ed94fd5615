"""Runs `fuzz.run`, which is a separate module so that the processes that it starts can import it by name."""

import sys

from fuzz.run import main

sys.exit(main())
