"""Windows that the tests open stay in memory."""

import os

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
