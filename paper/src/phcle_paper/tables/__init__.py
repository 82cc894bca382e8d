"""Tables 1 to 3 of the paper: settings, prepared data, evaluation and layout."""
