"""Language models behind OpenAI-compatible endpoints: one client for policies and generators. See README.md."""
