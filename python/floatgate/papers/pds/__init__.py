"""PDS: data separation by program context.

Source: dissertation on cross-layer optimization of NAND flash storage, chapter 5.
"""
