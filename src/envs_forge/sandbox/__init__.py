"""Where a bundle runs: images, engines, verification. Start reading at `engine.py`; callers use `runtime.py`."""
