"""One result in words and pictures: the summary, and the page of a run or of a forecast life."""
