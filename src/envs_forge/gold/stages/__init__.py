"""The stages of gold verification, one module each: a function from an `Inspection` to a `StageResult`."""
