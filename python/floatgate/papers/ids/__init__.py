"""IDS (Ha's dissertation, chapter 6): program contexts and the update history of pages together."""
