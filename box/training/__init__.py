"""What makes the demo's checkpoints. Runs inside the guest image, without a network; the host imports nothing of it."""
