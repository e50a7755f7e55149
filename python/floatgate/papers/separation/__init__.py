"""All separators of this project on the shipped traces: no paper's experiment, but one that reviewers would request."""
