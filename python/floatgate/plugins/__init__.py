"""Policies from outside: classes in Python, which become rows of their slots when they are declared.

>>> import floatgate
>>> @floatgate.victim_policy(order="closing")
... class Oldest:
...     '''The block that was closed first.'''
...     def pick(blocks, p):
...         return blocks.first
"""
