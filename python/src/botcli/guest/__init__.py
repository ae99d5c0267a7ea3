"""The process that runs one Python bot for one session."""
