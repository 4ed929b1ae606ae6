"""Stacks driven through Pulumi: demo, matrix and the live view."""
