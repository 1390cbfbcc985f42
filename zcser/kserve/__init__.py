"""KServe's Open Inference Protocol with Triton's binary tensor data: the body, and how a message stands in it."""
