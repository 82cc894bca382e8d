"""The few array operations that a solver needs, on NumPy, Numba or PyTorch.

`protocol` says what a back end offers, and `protocol.choose_backend` picks one of
`numpy_backend`, `numba_backend` and `torch_backend`. The other modules are parts of
them; `kernels` has compiled code, `distributed` and `torchrun` use several processes.

Importing this package loads no library, so that the command line can call
`torchrun.is_shared_run` fast. Modules here import `errors` only.
"""
