"""One drive with all techniques: none, each alone, each left out, pairs and all of them."""
