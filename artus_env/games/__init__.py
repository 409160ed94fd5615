"""The games that come along, a folder each; what runs them is in `artus_env.engine`."""
