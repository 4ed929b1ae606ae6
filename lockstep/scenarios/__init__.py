"""What Lockstep can deploy and judge: every scenario as plain data, and the names of verdicts."""
