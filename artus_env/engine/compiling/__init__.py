"""All that knows Numba: compiling, compiled code on disk, verbs that compiled code calls, threads."""
