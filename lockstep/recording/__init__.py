"""Recordings of a cluster: the recorder, the file format, the timeline."""
