"""IDS: program contexts and the update history of pages together.

Source: dissertation on cross-layer optimization of NAND flash storage, chapter 6.
"""
