"""redFTL+ (Lee's dissertation, chapter 4): read-resistant blocks and pages."""
