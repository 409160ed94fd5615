#!/usr/bin/env python3
"""A bot for Artus that needs nothing but Python: takes the most points, draws among equals (docs/protocol.md)."""

import json
import random
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"type": "hello", "protocol": 1}
    else:
        most = max(message["points"])
        best = [move for move, points in zip(message["moves"], message["points"], strict=True) if points == most]
        answer = {"type": "move", "move": random.Random(message["seed"]).choice(best)}
    print(json.dumps(answer), flush=True)
