"""PDS (Ha's dissertation, chapter 5): data separation by program context."""
