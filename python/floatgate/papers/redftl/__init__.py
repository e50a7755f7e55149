"""redFTL: replicas of pages that are read often.

Source: dissertation on cross-layer optimization of NAND flash storage, chapter 3.
"""
