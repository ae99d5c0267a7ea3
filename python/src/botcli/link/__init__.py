"""The link between a guest and its host, as docs/link-protocol.md tells it."""
