"""redFTL+: read-resistant blocks and pages.

Source: dissertation on cross-layer optimization of NAND flash storage, chapter 4.
"""
