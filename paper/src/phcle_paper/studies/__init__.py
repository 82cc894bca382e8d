"""Studies beside the tables of the paper, each in a module of its own."""
