"""All code that depends on Numba: compiling, compiled code on disk, verbs in compiled code, threads."""
