"""All separators of this project on the shipped traces: no paper's experiment, but what a reviewer would ask for."""
