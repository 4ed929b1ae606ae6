"""What is specific to LeaderWorkerSet."""
