"""The safetensors format: its header, and messages as tensors and text."""
