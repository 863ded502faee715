"""The synchronous half of the SDK."""
