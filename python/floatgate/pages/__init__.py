"""Pages and pictures of any subject: chart specifications, the renderer, HTML. Knows no result."""
