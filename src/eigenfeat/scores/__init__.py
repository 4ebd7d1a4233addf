"""Score functions learned without labels, cross-moment tensors with them, and their decomposition."""
