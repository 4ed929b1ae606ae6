"""`make faults`: kill processes and updates at random moments, and check that all comes back."""
