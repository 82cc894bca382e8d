"""The few array operations a solver needs, on NumPy or PyTorch."""

from phcle.backends.protocol import Backend, choose_backend

__all__ = ["Backend", "choose_backend"]
