"""The asyncio half of the SDK. `dock_sdk/_sync` is generated from these files by `script/generate-python-sdk`."""
