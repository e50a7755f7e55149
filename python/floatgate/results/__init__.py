"""Results as they are kept: the table of metrics, views of a result, flat rows, run folders, means over seeds."""
