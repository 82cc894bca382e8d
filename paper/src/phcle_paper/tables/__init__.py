"""The experiments: one file per table or figure."""
