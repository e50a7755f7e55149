"""redFTL (Lee's dissertation, chapter 3): replicas of pages that are read often."""
