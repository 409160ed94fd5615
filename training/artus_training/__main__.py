"""`python -m artus_training` is `artus`."""

import sys

from artus_training.cli import main

sys.exit(main())
