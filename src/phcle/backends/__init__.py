"""The few array operations that a solver needs, on NumPy, Numba or PyTorch.

`protocol.choose_backend` picks one. Importing this package loads no library, so that
the command line can ask `torchrun.is_shared_run` quickly.
"""
