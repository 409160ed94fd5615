"""See `fuzz.run`, a module of its own so that the processes that it starts find it by name."""

import sys

from fuzz.run import main

sys.exit(main())
