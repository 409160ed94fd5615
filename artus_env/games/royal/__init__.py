"""The royal card game, a race by taking tricks. `royal.definition.ROYAL` defines it for the engine."""
