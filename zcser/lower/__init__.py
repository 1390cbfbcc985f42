"""Codecs for schemas that no codec carries as they are: a conversion around the codec of the wire schema."""
