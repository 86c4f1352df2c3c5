"""The `docker` engine: sandboxes through the Docker Engine API, on any machine that Docker reaches."""
