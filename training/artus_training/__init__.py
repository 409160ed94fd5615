"""Training, evaluation and the command line."""

import artus_env  # noqa: F401  # before torch, as in `artus_agents`
