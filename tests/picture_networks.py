"""Small networks with random weights, saved as the transformers library does."""

from __future__ import annotations

import pytest


def save_network(folder, *, seed=0, kind="convolution"):
    """Write a network of 16 features (convolution) or 12 (patches) to a folder."""
    transformers = pytest.importorskip("transformers", reason="extra vision is missing")
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.manual_seed(seed)
    if kind == "patches":
        model = transformers.ViTModel(
            transformers.ViTConfig(
                hidden_size=12,
                num_hidden_layers=1,
                num_attention_heads=2,
                intermediate_size=8,
                image_size=32,
                patch_size=8,
            )
        )
    else:
        model = transformers.ResNetModel(
            transformers.ResNetConfig(
                embedding_size=8,
                hidden_sizes=[8, 16],
                depths=[1, 1],
                layer_type="basic",
            )
        )
    model.save_pretrained(folder)
    ViTImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(folder)
    return folder
