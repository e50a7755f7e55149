"""What any program needs.

Errors, units, arguments, progress, tables of text, JSON read with care, parallel work. Independent of drives.
"""
