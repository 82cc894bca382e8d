"""Data sets: what ships with the package, and loaders for what users have."""

from phcle.datasets.imagenet1k import ImageNet1K, load_imagenet1k

__all__ = ["ImageNet1K", "load_imagenet1k"]
