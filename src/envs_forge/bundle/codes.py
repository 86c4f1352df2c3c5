"""Every code that the schema check can give."""

SCHEMA_CODES = frozenset(
    {
        "byte-order-mark",
        "compose-unreadable",
        "crlf",
        "empty-directory",
        "empty-file",
        "encoding",
        "encoding-utf16",
        "file-name",
        "image-missing",
        "instruction-missing",
        "link-dangling",
        "link-escapes",
        "link-loop",
        "link-target",
        "nul-byte",
        "solution-missing",
        "special-file",
        "tests-missing",
        "toml-missing",
        "toml-schema",
        "toml-syntax",
        "too-large",
        "too-many-files",
        "unreadable",
        "yaml-schema",
        "yaml-syntax",
    }
)
