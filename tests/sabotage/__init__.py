"""A seeded campaign that sabotages deployments and checks that no verdict is fooled."""
