"""The royal card game, a race by taking tricks. `royal.definition.ROYAL` is what the engine plays by."""
